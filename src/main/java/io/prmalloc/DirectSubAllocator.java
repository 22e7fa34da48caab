package io.prmalloc;

import io.prmalloc.os.DirectRegion;
import io.prmalloc.os.MemoryRegion;

/**
 * Memory from direct byte buffers: zeroed, no JVM flag needed, within {@code MaxDirectMemorySize}.
 *
 * <p>Threading: any thread.
 */
final class DirectSubAllocator extends LimitedSubAllocator {

  DirectSubAllocator(long limitBytes) {
    super(limitBytes);
  }

  @Override
  long regionBytes(long alignment, long bytes) {
    return bytes;
  }

  @Override
  public boolean isResident() {
    return true;
  }

  @Override
  long bytesToTake() {
    return DirectRegion.bytesAvailable();
  }

  @Override
  MemoryRegion take(long alignment, long bytes) {
    return DirectRegion.allocate(alignment, bytes);
  }
}
