package io.prmalloc;

import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.Handles;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A checked handle on memory that an {@link Allocator} gave out. Close it once; afterwards every
 * method throws.
 *
 * <p>A handle remembers which use of the block it stands for, so a handle that was closed stays
 * closed when the same block serves somebody else. It is small, has one constructor call in every
 * allocator, and costs no heap where it does not escape the method that made it (the JIT replaces
 * it by its fields).
 *
 * <p>The buffers it shows belong to the block and not to the handle: they must not be used after
 * {@link #close}; this is not checked.
 *
 * <p>Threading: a handle may be passed on and closed by any thread. Of two concurrent closes one
 * wins and the other throws. In a planned step both may return if one is by the step's own thread;
 * the memory is freed once.
 */
public final class Allocation implements AutoCloseable {

  private final Block block;
  private final long stamp;
  // A long takes no more room here, and the JIT keeps the size that the user gave, and no second.
  private final long sizeBytes;

  static {
    Handles.provide(new OfAllocations());
  }

  private static final class OfAllocations extends Handles {
    @Override
    protected Allocation handle(Block block, long stamp, long sizeBytes) {
      return new Allocation(block, stamp, sizeBytes);
    }

    @Override
    protected Block block(Allocation allocation) {
      return allocation.block;
    }
  }

  private Allocation(Block block, long stamp, long sizeBytes) {
    this.block = block;
    this.stamp = stamp;
    this.sizeBytes = sizeBytes;
  }

  /**
   * Bytes asked for; the block behind may be larger. Still answers after {@link #close}.
   *
   * <p>Threading: any thread.
   */
  public long sizeBytes() {
    return sizeBytes;
  }

  /**
   * Address of the first byte, a multiple of the alignment asked for.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this handle is closed, or if this JVM cannot tell addresses
   *     (the message then holds the flag that helps)
   */
  public long address() {
    return block.address(stamp, sizeBytes);
  }

  /**
   * The memory as a direct byte buffer in native byte order: limit = {@link #sizeBytes}, position 0
   * at the first call. Every call of one handle gives the same buffer, position and all. Needs no
   * JVM flag.
   *
   * <p>Its capacity is the block's, which may be more than was asked for: begin again with {@link
   * ByteBuffer#rewind}, for {@link ByteBuffer#clear} raises the limit to the capacity. What lies
   * there is what others left, or what {@link Isolation} filled it with.
   *
   * <p>Threading: any thread; the buffer itself is as safe for threads as any byte buffer, that is
   * for absolute access to places that no two threads write.
   *
   * @throws IllegalStateException if this handle is closed
   * @throws UnsupportedOperationException if it is of more than 2 GiB − 1 bytes, which no buffer
   *     can show
   */
  public ByteBuffer byteBuffer() {
    return block.byteBuffer(stamp, sizeBytes);
  }

  /**
   * The memory as Agrona's buffer, capacity = {@link #sizeBytes}. Every call of one handle gives
   * the same buffer.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this handle is closed, or if the JVM runs without the flag
   *     that Agrona needs (the message holds it)
   * @throws UnsupportedOperationException if it is of more than 2 GiB − 1 bytes, which no buffer
   *     can show
   */
  public UnsafeBuffer buffer() {
    return block.unsafeBuffer(stamp, sizeBytes);
  }

  /**
   * Gives the memory back.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this handle was closed before; nothing changes then
   */
  @Override
  public void close() {
    block.close(stamp, sizeBytes);
  }

  /** Bytes set aside for this allocation. */
  public long blockBytes() {
    return block.reservedBytes();
  }

  /** {@link #address}, or 0 if this JVM cannot tell addresses. */
  public long addressOrZero() {
    try {
      return address();
    } catch (IllegalStateException cannotTell) {
      return 0;
    }
  }

  @Override
  public String toString() {
    return "Allocation[" + sizeBytes + " bytes" + (block.isLive(stamp) ? "]" : ", closed]");
  }
}
