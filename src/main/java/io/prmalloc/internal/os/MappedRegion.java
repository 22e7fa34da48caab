package io.prmalloc.internal.os;

import io.prmalloc.HugePages;
import io.prmalloc.MemoryRegion;
import io.prmalloc.Prefault;
import java.nio.ByteBuffer;

/**
 * A region that is an anonymous private mapping, with huge pages and pre-touch on request. It is
 * outside the JVM's {@code MaxDirectMemorySize}, and costs memory page by page as it is touched.
 * Only on 64-bit Linux with JNA.
 *
 * <p>Nothing of ours zeroes it; the kernel gives fresh pages as zeros. A region that is dropped
 * without {@link #free} is never given back.
 *
 * <p>Threading: as {@link MemoryRegion} says.
 */
public final class MappedRegion extends SystemRegion {

  /** The most bytes of one mapping: 128 TiB, what a process on x86-64 can address at all. */
  public static final long MAX_MAPPED_BYTES = 1L << 47;

  /** How much is touched through one view: whole pages, and an {@code int} of bytes. */
  private static final long TOUCHED_BYTES = 1L << 30;

  private final NativeCalls calls;
  private final long address;

  /** What is mapped: whole pages, those that guard included. */
  private final Mapping mapping;

  private record Mapping(long address, long lengthBytes) {}

  private MappedRegion(
      NativeCalls calls, long address, Mapping mapping, ByteBuffer view, long sizeBytes) {
    super(view, sizeBytes);
    this.calls = calls;
    this.address = address;
    this.mapping = mapping;
  }

  /**
   * Maps a region of {@link #sizeBytesFor sizeBytesFor(bytes)} bytes.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two from 1 to 2^30; the address is a multiple of it and of the page
   *     size, and with {@link HugePages#THP} of the huge page size
   * @param bytes from 1 to {@link #MAX_MAPPED_BYTES}
   * @param hugePages whether to ask for huge pages
   * @param prefault when pages are touched for the first time
   * @throws IllegalArgumentException if a number is out of its bounds
   * @throws OutOfMemoryError if the system has no memory, or no room for another mapping; nothing
   *     is mapped then
   * @throws IllegalStateException if the system refuses for another reason; nothing is mapped then
   * @throws UnsupportedOperationException if native calls do not work here; the message says why
   */
  public static MappedRegion map(
      long alignment, long bytes, HugePages hugePages, Prefault prefault) {
    checkArguments(alignment, bytes, MAX_MAPPED_BYTES);
    return map(Natives.calls(), alignment, bytes, hugePages, prefault);
  }

  /**
   * As {@link #map}, with an inaccessible guard page in front and one behind: an access ends the
   * process with a segmentation fault. The region lies at the end of its pages, as close to the
   * page behind it as its alignment allows; it has {@link #guardedSizeBytesFor} bytes.
   *
   * <p>Threading: any thread.
   *
   * @param alignment as of {@link #map}, but the address is a multiple of it only
   */
  public static MappedRegion mapGuarded(
      long alignment, long bytes, HugePages hugePages, Prefault prefault) {
    checkArguments(alignment, bytes, MAX_MAPPED_BYTES);
    NativeCalls calls = Natives.calls();
    return mapGuarded(calls, alignment, bytes, hugePages, prefault);
  }

  static MappedRegion mapGuarded(
      NativeCalls calls, long alignment, long bytes, HugePages hugePages, Prefault prefault) {
    long unit = Math.min(alignment, calls.pageSizeBytes());
    long guard = calls.pageSizeBytes();
    return map(calls, alignment, bytes, roundUp(bytes, unit), guard, hugePages, prefault);
  }

  /**
   * The size of the region that {@link #mapGuarded} makes: a multiple of the alignment or of the
   * page, whichever is less; where that alone would be more than one buffer has, {@link
   * MemoryRegion#MAX_BYTES}.
   *
   * <p>Threading: any thread. May load JNA's native library.
   *
   * @throws IllegalArgumentException if a number is out of the bounds that {@link #map} has
   */
  public static long guardedSizeBytesFor(long alignment, long bytes) {
    checkArguments(alignment, bytes, MAX_MAPPED_BYTES);
    long unit = Math.min(alignment, Natives.calls().pageSizeBytes());
    return sizeOf(bytes, roundUp(bytes, unit));
  }

  /**
   * The size of the region that {@link #map} makes for so many bytes: whole pages; where the last
   * page alone would make it more than one buffer has, {@link MemoryRegion#MAX_BYTES}. What there
   * is too much of is never touched.
   *
   * <p>Threading: any thread. May load JNA's native library.
   *
   * @param bytes from 1 to {@link #MAX_MAPPED_BYTES}
   * @throws IllegalArgumentException if {@code bytes} is out of its bounds
   */
  public static long sizeBytesFor(long bytes) {
    checkArguments(1, bytes, MAX_MAPPED_BYTES);
    return sizeOf(bytes, roundUp(bytes, Natives.calls().pageSizeBytes()));
  }

  /** One buffer sees all that was asked for, if it can. */
  private static long sizeOf(long bytes, long mapped) {
    return bytes <= MAX_BYTES ? Math.min(mapped, MAX_BYTES) : mapped;
  }

  static MappedRegion map(
      NativeCalls calls, long alignment, long bytes, HugePages hugePages, Prefault prefault) {
    long mapped = roundUp(bytes, calls.pageSizeBytes());
    return map(calls, alignment, bytes, mapped, 0, hugePages, prefault);
  }

  /**
   * A region at the end of its pages.
   *
   * @param asked for which the region is
   * @param bytes from its first one to the end of its pages
   * @param guard inaccessible bytes in front of the pages, and as many behind; whole pages
   */
  private static MappedRegion map(
      NativeCalls calls,
      long alignment,
      long asked,
      long bytes,
      long guard,
      HugePages hugePages,
      Prefault prefault) {
    long page = calls.pageSizeBytes();
    long length = roundUp(bytes, page);
    long start = Math.max(alignment, page);
    if (hugePages == HugePages.THP) {
      start = Math.max(start, OperatingSystem.hugePageSizeBytes());
    }
    long pages = mapAligned(calls, length, guard, start, page);
    Mapping mapping = new Mapping(pages - guard, length + 2 * guard);
    try {
      // Before the first touch, for a page once small stays small for a while.
      advise(calls, pages, length, hugePages);
      long address = pages + length - bytes;
      ByteBuffer view = calls.view(address, Math.min(bytes, MAX_BYTES));
      prefault(calls, pages, length, prefault);
      protect(calls, pages - guard, guard);
      protect(calls, pages + length, guard);
      return new MappedRegion(calls, address, mapping, view, sizeOf(asked, bytes));
    } catch (Throwable e) {
      calls.munmap(mapping.address, mapping.lengthBytes);
      throw e;
    }
  }

  /**
   * The kernel aligns to pages only: map too much and cut off both ends.
   *
   * @return an aligned address with {@code length} bytes behind and {@code guard} bytes around them
   */
  private static long mapAligned(
      NativeCalls calls, long length, long guard, long start, long page) {
    long whole = length + 2 * guard + start - page;
    long base = calls.mmap(whole);
    if (base < 0) {
      throw refused(calls, "mmap of " + whole + " bytes", (int) -base);
    }
    long address = roundUp(base + guard, start);
    int error = cut(calls, base, address - guard);
    if (error == 0) {
      error = cut(calls, address + length + guard, base + whole);
    }
    if (error != 0) {
      calls.munmap(base, whole);
      throw refused(calls, "munmap around a mapping of " + length + " bytes", error);
    }
    return address;
  }

  private static void protect(NativeCalls calls, long address, long bytes) {
    int error = bytes == 0 ? 0 : calls.mprotect(address, bytes, NativeCalls.PROT_NONE);
    if (error != 0) {
      throw refused(calls, "mprotect of a guard page", error);
    }
  }

  private static int cut(NativeCalls calls, long from, long to) {
    return to > from ? calls.munmap(from, to - from) : 0;
  }

  private static void advise(NativeCalls calls, long address, long length, HugePages hugePages) {
    int error = 0;
    if (hugePages == HugePages.THP) {
      error = calls.madvise(address, length, NativeCalls.MADV_HUGEPAGE);
    } else if (OperatingSystem.hugePageMode() == HugePageMode.ALWAYS) {
      error = calls.madvise(address, length, NativeCalls.MADV_NOHUGEPAGE);
    }
    // A kernel built without huge pages does not know the advice, and needs none.
    if (error != 0 && error != NativeCalls.EINVAL) {
      throw refused(calls, "madvise " + hugePages + " of " + length + " bytes", error);
    }
  }

  private static void prefault(NativeCalls calls, long address, long length, Prefault prefault) {
    if (prefault == Prefault.NONE) {
      return;
    }
    if (prefault == Prefault.POPULATE) {
      int error = calls.madvise(address, length, NativeCalls.MADV_POPULATE_WRITE);
      if (error == 0) {
        return;
      }
      if (error != NativeCalls.EINVAL) {
        throw refused(calls, "madvise POPULATE_WRITE of " + length + " bytes", error);
      }
    }
    int page = calls.pageSizeBytes();
    for (long from = 0; from < length; from += TOUCHED_BYTES) {
      ByteBuffer part = calls.view(address + from, Math.min(TOUCHED_BYTES, length - from));
      for (int offset = 0; offset < part.capacity(); offset += page) {
        part.put(offset, (byte) 0);
      }
    }
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  NativeCalls calls() {
    return calls;
  }

  @Override
  void release() {
    int error = calls.munmap(mapping.address, mapping.lengthBytes);
    if (error != 0) {
      throw new IllegalStateException(
          "munmap of " + mapping.lengthBytes + " bytes: " + calls.errorText(error));
    }
  }
}
