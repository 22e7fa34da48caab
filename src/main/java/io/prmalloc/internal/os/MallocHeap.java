package io.prmalloc.internal.os;

import io.prmalloc.MemoryRegion;

/**
 * A malloc that regions are taken from: the C library's, or that of a library loaded by name. Only
 * on 64-bit Linux with JNA.
 *
 * <p>Threading: any thread; a region may be freed by another thread than the one that took it.
 */
public final class MallocHeap {

  /** What posix_memalign asks for at least: the size of an address. */
  private static final long LEAST_ALIGNMENT = Long.BYTES;

  private final String name;
  private final NativeCalls calls;
  private final MallocCalls malloc;

  MallocHeap(String name, NativeCalls calls, MallocCalls malloc) {
    this.name = name;
    this.calls = calls;
    this.malloc = malloc;
  }

  /**
   * The malloc of this process: the C library's, or the one that was preloaded in its place. May
   * load JNA's native library.
   *
   * <p>Threading: any thread.
   */
  public static MallocHeap ofCLibrary() {
    NativeCalls calls = Natives.calls();
    return new MallocHeap("the C library", calls, calls);
  }

  /**
   * The malloc of a library, next to the process's own. Its {@code posix_memalign} and {@code free}
   * are called; their names may have the prefix {@code mi_} or {@code je_}.
   *
   * <p>Threading: any thread.
   *
   * @param libraryName without decoration ({@code jemalloc}), or a file name as programs are linked
   *     to it ({@code libjemalloc.so.2}), or a path
   * @throws UnsupportedOperationException if the library cannot be loaded, has no malloc of its
   *     own, or native calls do not work here; the message names the library and what was looked
   *     for
   */
  public static MallocHeap ofLibrary(String libraryName) {
    NativeCalls calls = Natives.calls();
    return new MallocHeap("library `" + libraryName + "`", calls, calls.malloc(libraryName));
  }

  /**
   * Takes a region of exactly {@code bytes} bytes. What is in them is left from before.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two from 1 to 2^30; the address is a multiple of it, and of 8
   * @param bytes from 1 to {@link MemoryRegion#MAX_BYTES}
   * @throws IllegalArgumentException if a number is out of its bounds
   * @throws OutOfMemoryError if the malloc has no memory; nothing is taken then
   * @throws IllegalStateException if the malloc refuses for another reason, such as an alignment
   *     that is too large for it, or gives an address that is not aligned; nothing is taken then
   * @throws UnsupportedOperationException if native calls do not work here; the message says why
   */
  public MallocRegion allocate(long alignment, long bytes) {
    SystemRegion.checkArguments(alignment, bytes);
    long address = aligned(alignment, bytes);
    try {
      return new MallocRegion(malloc, address, calls.view(address, bytes));
    } catch (Throwable e) {
      malloc.free(address);
      throw e;
    }
  }

  private long aligned(long alignment, long bytes) {
    long address = take(alignment, bytes, bytes);
    if (address % alignment != 0) {
      // mimalloc 2.0.9 breaks its word where a size up to 1 KiB is a multiple of the alignment.
      // With one byte more it is none, and the library aligns by itself.
      malloc.free(address);
      address = take(alignment, bytes, bytes + 1);
      if (address % alignment != 0) {
        malloc.free(address);
        throw new IllegalStateException(
            asked(alignment, bytes)
                + ": the address 0x"
                + Long.toHexString(address)
                + " is not, at the second try");
      }
    }
    return address;
  }

  private long take(long alignment, long bytes, long bytesTaken) {
    long address = malloc.posixMemalign(Math.max(alignment, LEAST_ALIGNMENT), bytesTaken);
    if (address < 0) {
      throw SystemRegion.refused(calls, asked(alignment, bytes), (int) -address);
    }
    return address;
  }

  private String asked(long alignment, long bytes) {
    return "posix_memalign of " + name + ", " + bytes + " bytes aligned to " + alignment;
  }
}
