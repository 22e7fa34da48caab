package io.prmalloc.djl;

import ai.djl.engine.Engine;

/**
 * DJL's engine for ONNX Runtime. It makes ONNX Runtime's environment, of which a process has one,
 * and refuses one that is there; so all tests that use ONNX Runtime in this process load it first.
 */
public final class OrtEngine {

  private OrtEngine() {}

  /** Loads the engine, unless it is loaded. */
  public static Engine load() {
    return Engine.getEngine("OnnxRuntime");
  }
}
