package io.prmalloc;

import java.util.OptionalLong;

/** A sub-allocator that counts how often it refuses a request. */
public final class CountingSource implements SubAllocator {

  private final SubAllocator source;
  private int refused;

  public CountingSource(SubAllocator source) {
    this.source = source;
  }

  public synchronized int refused() {
    return refused;
  }

  public synchronized void awaitRefused(int count) throws InterruptedException {
    while (refused < count) {
      wait();
    }
  }

  private synchronized void countRefusal() {
    refused++;
    notifyAll();
  }

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    try {
      return source.alloc(alignment, bytes);
    } catch (OutOfNativeMemoryException e) {
      countRefusal();
      throw e;
    }
  }

  @Override
  public void free(MemoryRegion region) {
    source.free(region);
  }

  @Override
  public long bytesReserved() {
    return source.bytesReserved();
  }

  @Override
  public OptionalLong bytesLimit() {
    return source.bytesLimit();
  }
}
