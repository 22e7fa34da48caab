/**
 * The command line of PRMalloc, and what it consists of: readers of traces and models, replays,
 * simulations, and pages that show what came out. It exports nothing: programs call the library.
 */
module io.prmalloc.cli {
  requires io.prmalloc;
  requires java.management;
  requires jdk.management;
  requires HdrHistogram;
  requires com.fasterxml.jackson.core;
  requires com.fasterxml.jackson.databind;
  requires com.google.protobuf;
  requires flatbuffers.java;
  requires info.picocli;
  requires io.netty.buffer;
  requires io.netty.common;
  requires me.tongfei.progressbar;

  opens io.prmalloc.cli to
      info.picocli;
}
