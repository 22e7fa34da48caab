package io.prmalloc.djl;

import ai.djl.engine.Engine;

/**
 * DJL's engine for ONNX Runtime. A process has one environment of ONNX Runtime. The engine makes
 * it, and fails if it exists already, so all tests that use ONNX Runtime in this process load the
 * engine first.
 */
public final class OrtEngine {

  private OrtEngine() {}

  /** Loads the engine, unless it is loaded. */
  public static Engine load() {
    return Engine.getEngine("OnnxRuntime");
  }
}
