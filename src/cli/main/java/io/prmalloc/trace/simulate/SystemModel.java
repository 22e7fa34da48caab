package io.prmalloc.trace.simulate;

import java.util.Arrays;

/**
 * Memory straight from the system: what is alive is held, sizes as they are.
 *
 * <p>Threading: one thread at a time.
 */
final class SystemModel implements MemoryModel {

  private static final long ABSENT = -1;

  private final long[] sizesBytes;
  private long heldBytes;
  private long peakBytes;

  SystemModel(int tensors) {
    sizesBytes = new long[tensors];
    Arrays.fill(sizesBytes, ABSENT);
  }

  @Override
  public void allocate(int tensor, long bytes) {
    if (sizesBytes[tensor] != ABSENT) {
      throw new IllegalStateException("tensor " + tensor + " is there already");
    }
    sizesBytes[tensor] = bytes;
    heldBytes += bytes;
    peakBytes = Math.max(peakBytes, heldBytes);
  }

  @Override
  public void free(int tensor) {
    if (sizesBytes[tensor] == ABSENT) {
      throw new IllegalStateException("tensor " + tensor + " is not there");
    }
    heldBytes -= sizesBytes[tensor];
    sizesBytes[tensor] = ABSENT;
  }

  @Override
  public long heldBytes() {
    return heldBytes;
  }

  @Override
  public long peakBytes() {
    return peakBytes;
  }
}
