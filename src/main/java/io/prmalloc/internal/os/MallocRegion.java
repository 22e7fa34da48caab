package io.prmalloc.internal.os;

import io.prmalloc.MemoryRegion;
import java.nio.ByteBuffer;

/**
 * A region that a {@link MallocHeap} gave. It is outside the JVM's {@code MaxDirectMemorySize}, and
 * its bytes are not zeroed: they hold what the last user left. A region that is dropped without
 * {@link #free} is never given back.
 *
 * <p>Threading: as {@link MemoryRegion} says.
 */
public final class MallocRegion extends SystemRegion {

  private final MallocCalls malloc;
  private final long address;

  MallocRegion(MallocCalls malloc, long address, ByteBuffer view) {
    super(view);
    this.malloc = malloc;
    this.address = address;
  }

  @Override
  public long address() {
    return address;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if the region was freed
   */
  @Override
  public long usableBytes() {
    if (isFreed()) {
      throw new IllegalStateException("region of " + sizeBytes() + " bytes was freed before");
    }
    return Math.max(sizeBytes(), malloc.mallocUsableSize(address));
  }

  @Override
  void release() {
    malloc.free(address);
  }
}
