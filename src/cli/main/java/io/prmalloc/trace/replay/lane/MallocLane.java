package io.prmalloc.trace.replay.lane;

import io.prmalloc.trace.replay.ReplayFailure;
import org.agrona.UnsafeApi;

/**
 * The C library's malloc as the JVM's internal Unsafe calls it.
 *
 * <p>Threading: one thread at a time.
 */
public final class MallocLane extends AddressLane {

  public MallocLane(int tensors) {
    super(tensors);
  }

  @Override
  public long take(int tensor, long bytes) {
    try {
      // Unsafe answers no bytes with no address.
      return UnsafeApi.allocateMemory(Math.max(1, bytes));
    } catch (OutOfMemoryError notToBeHad) {
      throw new ReplayFailure("malloc of " + bytes + " bytes failed", notToBeHad);
    }
  }

  @Override
  public void giveBack(int tensor, long address) {
    UnsafeApi.freeMemory(address);
  }
}
