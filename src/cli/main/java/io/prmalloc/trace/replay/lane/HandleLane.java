package io.prmalloc.trace.replay.lane;

import io.prmalloc.Allocation;
import io.prmalloc.trace.replay.Pattern;
import java.nio.ByteBuffer;
import java.util.function.LongFunction;

/**
 * Handles of one of our allocators. Works without any JVM flag.
 *
 * <p>Threading: one thread at a time.
 */
class HandleLane implements Lane {

  private final LongFunction<Allocation> allocator;
  private final Allocation[] handles;

  HandleLane(LongFunction<Allocation> allocator, int tensors) {
    this.allocator = allocator;
    this.handles = new Allocation[tensors];
  }

  @Override
  public void openStep() {}

  @Override
  public void closeStep() {}

  @Override
  public final void allocate(int tensor, long bytes) {
    handles[tensor] = allocator.apply(bytes);
  }

  @Override
  public final void release(int tensor) {
    Allocation handle = handles[tensor];
    handles[tensor] = null;
    handle.close();
  }

  @Override
  public final void write(int tensor, long bytes, long stride, long value) {
    ByteBuffer buffer = handles[tensor].byteBuffer();
    if (bytes < Long.BYTES) {
      for (int offset = 0; offset < bytes; offset++) {
        buffer.put(offset, (byte) value);
      }
      return;
    }
    long last = bytes - Long.BYTES;
    for (long offset = 0; offset <= last; offset += stride) {
      buffer.putLong((int) offset, value);
    }
  }

  @Override
  public final void fill(int tensor, long bytes, long seed) {
    Pattern.fill(handles[tensor].byteBuffer(), seed);
  }

  @Override
  public final long mismatch(int tensor, long bytes, long seed) {
    return Pattern.mismatch(handles[tensor].byteBuffer(), seed);
  }

  @Override
  public final byte byteAt(int tensor, long offset) {
    return handles[tensor].byteBuffer().get((int) offset);
  }

  @Override
  public final void abandon() {
    for (int tensor = 0; tensor < handles.length; tensor++) {
      if (handles[tensor] != null) {
        release(tensor);
      }
    }
  }
}
