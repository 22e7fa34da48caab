package io.prmalloc.trace.replay;

import java.nio.ByteBuffer;
import org.agrona.BufferUtil;

/**
 * What a Java program has without us: a direct byte buffer for each tensor, freed at once rather
 * than by the collector.
 *
 * <p>Threading: one thread at a time.
 */
final class DirectLane extends AddressLane {

  private final ByteBuffer[] buffers;

  DirectLane(int tensors) {
    super(tensors);
    this.buffers = new ByteBuffer[tensors];
  }

  @Override
  long take(int tensor, long bytes) {
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
  void giveBack(int tensor, long address) {
    ByteBuffer buffer = buffers[tensor];
    buffers[tensor] = null;
    BufferUtil.free(buffer);
  }
}
