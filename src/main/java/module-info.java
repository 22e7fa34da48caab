/**
 * An off-heap allocator for inference servers. Agrona's buffers need {@code --add-opens
 * java.base/jdk.internal.misc=org.agrona} where they are used; nothing else does. The libraries of
 * the adapters, and Jackson, which plans in files need, are optional: a module that uses one
 * requires it.
 */
@SuppressWarnings("module") // that of the command line is built after this one
module io.prmalloc {
  requires java.management;
  requires static jdk.jfr;
  requires jdk.management;
  // Agrona and JNA look for sun.misc.Unsafe.
  requires jdk.unsupported;
  requires transitive org.agrona;
  requires com.sun.jna;
  requires static ai.djl.api;
  requires static com.google.protobuf;
  requires static com.microsoft.onnxruntime;
  requires static io.netty.buffer;
  requires static io.netty.common;
  requires static io.netty.transport;
  requires static lettuce.core;
  requires static micrometer.core;
  requires static org.apache.arrow.memory.core;
  requires static com.fasterxml.jackson.core;
  requires static org.checkerframework.checker.qual;
  requires static org.immutables.value.annotations;

  exports io.prmalloc;
  exports io.prmalloc.arrow;
  exports io.prmalloc.djl;
  exports io.prmalloc.element;
  exports io.prmalloc.kept;
  exports io.prmalloc.lifetime;
  exports io.prmalloc.micrometer;
  exports io.prmalloc.netty;
  exports io.prmalloc.onnxruntime;
  exports io.prmalloc.plan;
  exports io.prmalloc.plan.arena;
  exports io.prmalloc.plan.exact;
  exports io.prmalloc.plan.heuristic;
  exports io.prmalloc.pool;
  exports io.prmalloc.recording;
  exports io.prmalloc.redis;
  exports io.prmalloc.tensor;
  exports io.prmalloc.tensor.wire;
  exports io.prmalloc.tensor.wire.proto;

  // Everything else is in io.prmalloc.internal, for the command line at most.
  exports io.prmalloc.internal.block to
      io.prmalloc.cli;
  exports io.prmalloc.internal.os to
      io.prmalloc.cli;

  opens io.prmalloc.onnxruntime to
      com.sun.jna;

  uses io.prmalloc.AllocatorFactory;

  provides io.prmalloc.AllocatorFactory with
      io.prmalloc.CpuAllocatorFactory,
      io.prmalloc.pool.TensorPoolFactory;
}
