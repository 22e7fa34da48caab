package io.prmalloc.example;

/** Where the tensors between a model's operators lie. */
public enum EngineMemory {
  /** In an arena of ONNX Runtime's for each session, as it is without any setting. */
  OWN,
  /** In one arena of ONNX Runtime's for all sessions, which grows by what is asked for. */
  SHARED,
  /** In our pool. */
  POOL
}
