package io.prmalloc.internal.os;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.prmalloc.MemoryRegion;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * One way to take direct byte buffers from this JVM and to give them back at once, without waiting
 * for the garbage collector.
 *
 * <p>Threading: any thread.
 */
interface DirectMemory {

  // There is no one way that works in every JVM without a flag and in silence:
  //
  //   Java      opened to Agrona     not opened
  //   17 to 23  CleanedBuffers       CleanedBuffers through sun.misc.Unsafe
  //   from 24   CleanedBuffers       ArenaBuffers: there sun.misc.Unsafe writes a warning to
  //                                  standard error at the first use, and will go one day;
  //                                  CleanedBuffers where shared arenas are refused

  /** The first version whose {@code sun.misc.Unsafe} warns about its use. */
  int FIRST_WARNING_JAVA = 24;

  /**
   * Memory as it was taken.
   *
   * @param view the aligned part, direct, in native byte order
   * @param owner what {@link #free} needs to give the memory back
   * @param address of the view's first byte, 0 where this way does not tell
   */
  record Piece(ByteBuffer view, Object owner, long address) {}

  /**
   * Takes memory that reads as zero.
   *
   * @param alignment a power of two from 1 to 2^30
   * @param bytes from 1 to {@link MemoryRegion#MAX_BYTES}
   * @throws IllegalArgumentException if a buffer with room to align itself would be too large
   * @throws OutOfMemoryError if the JVM's limit on direct memory, or the system, does not grant it
   */
  Piece allocate(long alignment, long bytes);

  /**
   * Gives a piece back.
   *
   * @param owner of the piece
   * @throws IllegalStateException if the memory is in use by a call of the JDK's own, such as a
   *     read from a channel; nothing has changed then
   */
  void free(Object owner);

  /** What is left of the limit on direct memory, in bytes; the largest long if it is unknown. */
  long bytesAvailable();

  /** The way for this JVM. */
  static DirectMemory current() {
    return Holder.CURRENT;
  }

  /** The way for a JVM. */
  static DirectMemory choose(boolean openToAgrona, int javaVersion) {
    if (openToAgrona) {
      return CleanedBuffers.throughAgrona();
    }
    return javaVersion < FIRST_WARNING_JAVA
        ? CleanedBuffers.throughUnsafe()
        : usableElse(new ArenaBuffers(maxBytes()), CleanedBuffers::throughUnsafe);
  }

  /**
   * The first one if it gives memory, else the other. A native image refuses shared arenas unless
   * it was built with {@code -H:+SharedArenaSupport}, which shows with the first one that is
   * opened.
   */
  static DirectMemory usableElse(DirectMemory first, Supplier<DirectMemory> other) {
    try {
      first.free(first.allocate(1, 1).owner());
    } catch (UnsupportedOperationException | LinkageError refused) {
      return other.get();
    } catch (Error refused) {
      // Native images have errors of their own for what they lack. No memory is no reason.
      return refused instanceof VirtualMachineError ? first : other.get();
    }
    return first;
  }

  /**
   * The JVM's {@code MaxDirectMemorySize} in bytes; where it is not set, or not told, the largest
   * size of the heap, as in the JVM itself.
   */
  static long maxBytes() {
    try {
      long set =
          ManagementFactory.getPlatformMXBeans(HotSpotDiagnosticMXBean.class).stream()
              .mapToLong(
                  bean -> ProcFiles.number(bean.getVMOption("MaxDirectMemorySize").getValue()))
              .findFirst()
              .orElse(0);
      return set > 0 ? set : Runtime.getRuntime().maxMemory();
    } catch (IllegalArgumentException | LinkageError notTold) {
      // Another JVM, or one made without the management modules.
      return Runtime.getRuntime().maxMemory();
    }
  }

  /** Chosen at the first use. */
  final class Holder {
    private static final DirectMemory CURRENT =
        choose(AgronaAccess.isAvailable(), Runtime.version().feature());

    private Holder() {}
  }
}
