package io.prmalloc.internal.os;

import io.prmalloc.MemoryRegion;
import java.nio.ByteBuffer;
import org.agrona.BufferUtil;

/**
 * A region that is a direct byte buffer, aligned, and given back when it is freed and not when the
 * collector finds it. Taking, viewing and freeing need no JVM flag and make no native call of ours.
 *
 * <p>The memory reads as zero at first and counts against the JVM's {@code MaxDirectMemorySize}. Of
 * a region that is dropped without {@link #free} it goes back when the collector finds that no
 * buffer on it is in use.
 *
 * <p>On Java 24 and later without {@link AgronaAccess#FLAG} the buffer lives in a shared arena of
 * {@code java.lang.foreign}: {@link #free} then costs some 70 µs, access after it throws,
 * asynchronous channels refuse the buffer, and a segment made from it does not keep the memory. The
 * JVM does not count such memory, so we do: regions together stay within {@code
 * MaxDirectMemorySize}, beside the JVM's other direct buffers, and its {@code direct} buffer pool
 * does not show them.
 *
 * <p>Threading: as {@link MemoryRegion} says.
 */
public final class DirectRegion extends SystemRegion {

  private final DirectMemory memory;
  private final Object owner;

  /** 0 until somebody asks; every thread that finds it out finds the same. */
  private volatile long address;

  private DirectRegion(DirectMemory memory, DirectMemory.Piece piece) {
    super(piece.view());
    this.memory = memory;
    this.owner = piece.owner();
    this.address = piece.address();
  }

  /**
   * Takes a region of exactly {@code bytes} bytes. Alignments over 8 may cost up to {@code
   * alignment − 1} bytes more behind the scenes.
   *
   * <p>Where the JVM's limit is reached it mostly first runs the collector to find forgotten
   * buffers, which takes up to half a second.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two from 1 to 2^30; the address is a multiple of it
   * @param bytes from 1 to {@link MemoryRegion#MAX_BYTES}
   * @throws IllegalArgumentException if an argument is out of its bounds, or if {@code bytes} and
   *     the room to align them exceed {@link MemoryRegion#MAX_BYTES}
   * @throws OutOfMemoryError if the JVM's limit or the system does not grant it
   * @throws IllegalStateException if this JVM has no way to give direct buffers back; the message
   *     holds the flag that helps
   */
  public static DirectRegion allocate(long alignment, long bytes) {
    checkArguments(alignment, bytes);
    return allocate(DirectMemory.current(), alignment, bytes);
  }

  /**
   * The JVM's {@code MaxDirectMemorySize}, in bytes; where it is not set, the largest size of the
   * heap. Threading: any thread.
   */
  public static long limitBytes() {
    return DirectMemory.maxBytes();
  }

  /**
   * Whether it was the JVM's {@code MaxDirectMemorySize} that refused, and not the system.
   * Threading: any thread.
   *
   * @param refused what {@link #allocate} threw
   */
  public static boolean isLimitReached(OutOfMemoryError refused) {
    // The JVM has one class of error for both. These are its words since Java 16, and ours.
    String message = String.valueOf(refused.getMessage());
    return message.contains("direct buffer memory") || message.contains("MaxDirectMemorySize");
  }

  /**
   * What is left of the JVM's {@code MaxDirectMemorySize}, in bytes; {@link Long#MAX_VALUE} if the
   * JVM does not tell what is taken. Forgotten buffers, which the collector has still to find,
   * count as taken.
   *
   * <p>Threading: any thread; true of the moment of the call.
   */
  public static long bytesAvailable() {
    return DirectMemory.current().bytesAvailable();
  }

  static DirectRegion allocate(DirectMemory memory, long alignment, long bytes) {
    return new DirectRegion(memory, memory.allocate(alignment, bytes));
  }

  /**
   * {@inheritDoc}
   *
   * <p>Before Java 24 and without the flag the first call loads JNA's native library.
   */
  @Override
  public long address() {
    long known = address;
    if (known == 0) {
      known = addressOf(buffer());
      address = known;
    }
    return known;
  }

  private static long addressOf(ByteBuffer buffer) {
    if (AgronaAccess.isAvailable()) {
      return BufferUtil.address(buffer);
    }
    try {
      return Natives.calls().address(buffer);
    } catch (UnsupportedOperationException outOfReach) {
      throw new IllegalStateException(
          "the address of a direct buffer needs JNA or the JVM flag: "
              + AgronaAccess.FLAG
              + " (buffer() works without either)",
          outOfReach);
    }
  }

  @Override
  void release() {
    memory.free(owner);
  }
}
