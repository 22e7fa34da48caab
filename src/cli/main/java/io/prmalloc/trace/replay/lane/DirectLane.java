package io.prmalloc.trace.replay.lane;

import io.prmalloc.trace.replay.ReplayFailure;
import java.nio.ByteBuffer;
import org.agrona.BufferUtil;

/**
 * The memory of a Java program without this library: a direct byte buffer for each tensor, freed at
 * once rather than by the collector.
 *
 * <p>Threading: one thread at a time.
 */
public final class DirectLane extends AddressLane {

  private final ByteBuffer[] buffers;

  public DirectLane(int tensors) {
    super(tensors);
    this.buffers = new ByteBuffer[tensors];
  }

  @Override
  public long take(int tensor, long bytes) {
    try {
      ByteBuffer buffer = ByteBuffer.allocateDirect((int) bytes);
      buffers[tensor] = buffer;
      return BufferUtil.address(buffer);
    } catch (OutOfMemoryError limitReached) {
      // The JVM's own limit for direct memory; the heap is untouched.
      throw new ReplayFailure(limitReached.getMessage(), limitReached);
    }
  }

  @Override
  public void giveBack(int tensor, long address) {
    ByteBuffer buffer = buffers[tensor];
    buffers[tensor] = null;
    BufferUtil.free(buffer);
  }
}
