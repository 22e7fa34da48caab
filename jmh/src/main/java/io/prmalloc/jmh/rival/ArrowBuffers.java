package io.prmalloc.jmh.rival;

import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.DefaultAllocationManagerOption;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.memory.netty.NettyAllocationManager;
import org.apache.arrow.memory.unsafe.UnsafeAllocationManager;

/**
 * Buffers of Arrow's {@code RootAllocator}.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class ArrowBuffers extends HandleStrategy<ArrowBuf> {

  static {
    // Arrow looks for memory of one of the two kinds when its allocator's class is loaded. If that
    // is because one of them is asked for, it finds it half made.
    System.setProperty(
        DefaultAllocationManagerOption.ALLOCATION_MANAGER_TYPE_PROPERTY_NAME, "Unsafe");
    RootAllocator.defaultConfig();
  }

  private final RootAllocator allocator;

  private ArrowBuffers(AllocationManager.Factory memory) {
    allocator =
        new RootAllocator(
            RootAllocator.configBuilder()
                .allocationManagerFactory(memory)
                .maxAllocation(Long.MAX_VALUE)
                .build());
  }

  static ArrowBuffers onUnsafe() {
    return new ArrowBuffers(UnsafeAllocationManager.FACTORY);
  }

  static ArrowBuffers onNetty() {
    // Arrow takes Netty's buffers for those that work through Unsafe, which Netty no longer does by
    // itself from JDK 24 on. In a fork of its own Netty is not loaded yet.
    System.setProperty("io.netty.noUnsafe", "false");
    return new ArrowBuffers(NettyAllocationManager.FACTORY);
  }

  @Override
  ArrowBuf take(long bytes) {
    return allocator.buffer(bytes);
  }

  @Override
  long touch(ArrowBuf buffer, long value) {
    buffer.setLong(0, value);
    return buffer.getLong(0);
  }

  @Override
  long address(ArrowBuf buffer) {
    return buffer.memoryAddress();
  }

  @Override
  void giveBack(ArrowBuf buffer) {
    buffer.close();
  }

  @Override
  public void close() {
    allocator.close();
  }
}
