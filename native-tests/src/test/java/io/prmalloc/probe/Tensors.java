package io.prmalloc.probe;

import com.sun.jna.Pointer;
import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import java.nio.ByteBuffer;
import org.agrona.BufferUtil;

/**
 * A way to get memory for the tensors of a {@link Step}, which are known by their numbers. Makes no
 * garbage of its own.
 *
 * <p>Threading: one thread at a time.
 */
abstract class Tensors {

  /** Takes memory for a tensor that has none. */
  abstract void take(int tensor, long bytes, long alignment);

  /** Gives a tensor's memory back. */
  abstract void giveBack(int tensor);

  /** Where a native library is told to find the tensor. */
  abstract long address(int tensor);

  /** The tensor as Java sees it, position 0 to limit. */
  abstract ByteBuffer view(int tensor);

  /** How many tensors there can be. */
  static final int CAPACITY = 4096;

  /** By checked handles. */
  static final class Handles extends Tensors {
    private final Allocator allocator;
    private final Allocation[] open = new Allocation[CAPACITY];

    Handles(Allocator allocator) {
      this.allocator = allocator;
    }

    @Override
    void take(int tensor, long bytes, long alignment) {
      open[tensor] = allocator.allocate(bytes, alignment);
    }

    @Override
    void giveBack(int tensor) {
      open[tensor].close();
      open[tensor] = null;
    }

    @Override
    long address(int tensor) {
      return open[tensor].address();
    }

    @Override
    ByteBuffer view(int tensor) {
      return open[tensor].byteBuffer();
    }

    Allocation handle(int tensor) {
      return open[tensor];
    }
  }

  /** By raw addresses. */
  static final class Raw extends Tensors {
    private final Allocator allocator;
    private final long[] addresses = new long[CAPACITY];
    private final long[] sizes = new long[CAPACITY];

    Raw(Allocator allocator) {
      this.allocator = allocator;
    }

    @Override
    void take(int tensor, long bytes, long alignment) {
      addresses[tensor] = allocator.allocateRaw(alignment, bytes);
      sizes[tensor] = bytes;
    }

    @Override
    void giveBack(int tensor) {
      allocator.deallocateRaw(addresses[tensor]);
      addresses[tensor] = 0;
    }

    @Override
    long address(int tensor) {
      return addresses[tensor];
    }

    @Override
    ByteBuffer view(int tensor) {
      return new Pointer(addresses[tensor]).getByteBuffer(0, sizes[tensor]);
    }
  }

  /** What a server does that has no allocator: direct buffers, given back at once. */
  static final class PlainBuffers extends Tensors {
    private final ByteBuffer[] buffers = new ByteBuffer[CAPACITY];

    @Override
    void take(int tensor, long bytes, long alignment) {
      // No alignment: nothing here looks at it, and room for it would only add faults.
      buffers[tensor] = ByteBuffer.allocateDirect((int) bytes);
    }

    @Override
    void giveBack(int tensor) {
      BufferUtil.free(buffers[tensor]);
      buffers[tensor] = null;
    }

    @Override
    long address(int tensor) {
      return Probe.addressOf(buffers[tensor]);
    }

    @Override
    ByteBuffer view(int tensor) {
      return buffers[tensor];
    }
  }
}
