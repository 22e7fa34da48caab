/**
 * The command line of PRMalloc, and what it consists of: readers of traces and models, replays,
 * simulations, and pages that show what came out. Programs may use those that are exported.
 */
module io.prmalloc.cli {
  requires transitive io.prmalloc;
  requires java.management;
  requires jdk.management;
  requires HdrHistogram;
  requires transitive com.fasterxml.jackson.core;
  requires com.fasterxml.jackson.databind;
  requires com.google.protobuf;
  requires flatbuffers.java;
  requires info.picocli;
  requires io.netty.buffer;
  requires io.netty.common;
  requires me.tongfei.progressbar;

  exports io.prmalloc.model;
  exports io.prmalloc.onnx;
  exports io.prmalloc.tflite;
  exports io.prmalloc.trace;
  exports io.prmalloc.trace.learning;
  exports io.prmalloc.trace.planning;
  exports io.prmalloc.trace.replay;
  exports io.prmalloc.trace.simulate;
  exports io.prmalloc.trace.swap;

  opens io.prmalloc.cli to
      info.picocli;
}
