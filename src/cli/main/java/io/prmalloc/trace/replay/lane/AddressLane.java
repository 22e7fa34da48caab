package io.prmalloc.trace.replay.lane;

import io.prmalloc.trace.replay.Pattern;
import io.prmalloc.trace.replay.ReplayFailure;
import org.agrona.UnsafeApi;

/**
 * A lane that holds addresses.
 *
 * <p>Threading: one thread at a time.
 */
public abstract class AddressLane implements Lane {

  /** Where each tensor lies; 0 for one that is not out. */
  private final long[] addresses;

  public AddressLane(int tensors) {
    this.addresses = new long[tensors];
  }

  /** The address of at least so many bytes, from 0 up; 0 if they are not available. */
  public abstract long take(int tensor, long bytes);

  public abstract void giveBack(int tensor, long address);

  @Override
  public void openStep() {}

  @Override
  public void closeStep() {}

  @Override
  public final void allocate(int tensor, long bytes) {
    long address = take(tensor, bytes);
    if (address == 0) {
      throw new ReplayFailure("memory of " + bytes + " bytes is not available");
    }
    addresses[tensor] = address;
  }

  @Override
  public final void release(int tensor) {
    long address = addresses[tensor];
    addresses[tensor] = 0;
    giveBack(tensor, address);
  }

  @Override
  public final void write(int tensor, long bytes, long stride, long value) {
    long address = addresses[tensor];
    if (bytes < Long.BYTES) {
      for (long offset = 0; offset < bytes; offset++) {
        UnsafeApi.putByte(address + offset, (byte) value);
      }
      return;
    }
    long last = bytes - Long.BYTES;
    for (long offset = 0; offset <= last; offset += stride) {
      UnsafeApi.putLong(address + offset, value);
    }
  }

  @Override
  public final void fill(int tensor, long bytes, long seed) {
    Pattern.fill(addresses[tensor], bytes, seed);
  }

  @Override
  public final long mismatch(int tensor, long bytes, long seed) {
    return Pattern.mismatch(addresses[tensor], bytes, seed);
  }

  @Override
  public final byte byteAt(int tensor, long offset) {
    return UnsafeApi.getByte(addresses[tensor] + offset);
  }

  @Override
  public final void abandon() {
    for (int tensor = 0; tensor < addresses.length; tensor++) {
      if (addresses[tensor] != 0) {
        release(tensor);
      }
    }
  }
}
