package io.prmalloc.onnxruntime;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.MemoryRegion;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The source of the memory of a model's tensors: an allocator, or anything else that has direct
 * buffers.
 *
 * <p>Threading: any thread.
 */
@FunctionalInterface
public interface TensorMemory {

  /** Memory of one tensor. Threading: one thread at a time; any may close it. */
  interface Piece extends AutoCloseable {

    /**
     * The memory: a direct buffer from position to limit, in native byte order, its first byte at a
     * multiple of the element's size. The same buffer at every call.
     *
     * <p>Threading: any thread.
     */
    ByteBuffer byteBuffer();

    /** Gives the memory back; called once, after the tensor was closed. Threading: any thread. */
    @Override
    void close();
  }

  /**
   * Memory of an allocator.
   *
   * <p>Threading: any thread.
   *
   * @throws NullPointerException if {@code allocator} is null
   */
  static TensorMemory of(Allocator allocator) {
    Objects.requireNonNull(allocator, "allocator");
    return bytes -> {
      if (bytes > MemoryRegion.MAX_BYTES) {
        throw new IllegalArgumentException(
            "tensor of "
                + bytes
                + " bytes exceeds "
                + MemoryRegion.MAX_BYTES
                + ", a buffer's most");
      }
      return new AllocatedPiece(allocator.allocate(bytes));
    };
  }

  /**
   * Takes memory for a tensor. Need not be zeroed.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how many, from 0
   * @throws RuntimeException if the memory is not available; nothing has changed then
   */
  Piece take(long bytes);

  /** An allocation as a piece. */
  record AllocatedPiece(Allocation allocation) implements Piece {

    @Override
    public ByteBuffer byteBuffer() {
      return allocation.byteBuffer();
    }

    @Override
    public void close() {
      allocation.close();
    }
  }
}
