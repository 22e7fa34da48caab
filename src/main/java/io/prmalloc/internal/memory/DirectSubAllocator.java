package io.prmalloc.internal.memory;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.OutOfNativeMemoryException.Limit;
import io.prmalloc.internal.os.DirectRegion;

/**
 * Memory from direct byte buffers: zeroed, no JVM flag needed, within {@code MaxDirectMemorySize}.
 *
 * <p>Threading: any thread.
 */
public final class DirectSubAllocator extends LimitedSubAllocator {

  public DirectSubAllocator(long limitBytes) {
    super(limitBytes);
  }

  @Override
  long regionBytes(long alignment, long bytes) {
    return bytes;
  }

  /** {@inheritDoc} Here: finds out how this JVM gives direct buffers back. */
  @Override
  public void checkUsable() {
    DirectRegion.bytesAvailable();
  }

  @Override
  public boolean isResident() {
    return true;
  }

  @Override
  OutOfNativeMemoryException refusal(
      long bytes, long reserved, long limit, OutOfMemoryError refused) {
    return DirectRegion.isLimitReached(refused)
        ? new OutOfNativeMemoryException(
            bytes, reserved, DirectRegion.limitBytes(), Limit.DIRECT_MEMORY, refused)
        : super.refusal(bytes, reserved, limit, refused);
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
