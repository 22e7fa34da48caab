package io.prmalloc.os;

import java.nio.ByteBuffer;
import java.util.Objects;

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
public final class MappedRegion extends MemoryRegion {

  private final NativeCalls calls;
  private final long address;
  private final long lengthBytes;

  private MappedRegion(NativeCalls calls, long address, long lengthBytes, ByteBuffer view) {
    super(view);
    this.calls = calls;
    this.address = address;
    this.lengthBytes = lengthBytes;
  }

  /**
   * Maps a region of {@link #sizeBytesFor sizeBytesFor(bytes)} bytes.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two from 1 to 2^30; the address is a multiple of it and of the page
   *     size, and with {@link HugePages#THP} of the huge page size
   * @param bytes from 1 to {@link MemoryRegion#MAX_BYTES}
   * @param hugePages whether to ask for huge pages
   * @param prefault who pays for the first touch
   * @throws IllegalArgumentException if a number is out of its bounds
   * @throws OutOfMemoryError if the system has no memory, or no room for another mapping; nothing
   *     is mapped then
   * @throws IllegalStateException if the system refuses for another reason; nothing is mapped then
   * @throws UnsupportedOperationException if native calls do not work here; the message says why
   */
  public static MappedRegion map(
      long alignment, long bytes, HugePages hugePages, Prefault prefault) {
    checkArguments(alignment, bytes);
    return map(Natives.calls(), alignment, bytes, hugePages, prefault);
  }

  /**
   * The size of the region that {@link #map} makes for so many bytes: whole pages, but at most
   * {@link MemoryRegion#MAX_BYTES}. What there is too much of is never touched.
   *
   * <p>Threading: any thread. May load JNA's native library.
   *
   * @param bytes from 1 to {@link MemoryRegion#MAX_BYTES}
   * @throws IllegalArgumentException if {@code bytes} is out of its bounds
   */
  public static long sizeBytesFor(long bytes) {
    checkArguments(1, bytes);
    return Math.min(roundUp(bytes, Natives.calls().pageSizeBytes()), MAX_BYTES);
  }

  static MappedRegion map(
      NativeCalls calls, long alignment, long bytes, HugePages hugePages, Prefault prefault) {
    long page = calls.pageSizeBytes();
    long length = roundUp(bytes, page);
    long start = Math.max(alignment, page);
    if (hugePages == HugePages.THP) {
      start = Math.max(start, OperatingSystem.hugePageSizeBytes());
    }
    long address = mapAligned(calls, length, start, page);
    boolean mapped = false;
    try {
      // Before the first touch, for a page once small stays small for a while.
      advise(calls, address, length, hugePages);
      ByteBuffer view = calls.view(address, Math.min(length, MAX_BYTES));
      prefault(calls, address, length, view, prefault);
      mapped = true;
      return new MappedRegion(calls, address, length, view);
    } finally {
      if (!mapped) {
        calls.munmap(address, length);
      }
    }
  }

  /** The kernel aligns to pages only: map too much and cut off both ends. */
  private static long mapAligned(NativeCalls calls, long length, long start, long page) {
    long whole = length + start - page;
    long base = calls.mmap(whole);
    if (base < 0) {
      throw refused(calls, "mmap of " + whole + " bytes", (int) -base);
    }
    long address = roundUp(base, start);
    long end = address + length;
    int error = cut(calls, base, address);
    if (error == 0) {
      error = cut(calls, end, base + whole);
    }
    if (error != 0) {
      calls.munmap(base, whole);
      throw refused(calls, "munmap around a mapping of " + length + " bytes", error);
    }
    return address;
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

  private static void prefault(
      NativeCalls calls, long address, long length, ByteBuffer view, Prefault prefault) {
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
    for (long offset = 0; offset < view.capacity(); offset += page) {
      view.put((int) offset, (byte) 0);
    }
  }

  private static IllegalStateException refused(NativeCalls calls, String what, int error) {
    String message = what + ": " + calls.errorText(error);
    if (error == NativeCalls.ENOMEM || error == NativeCalls.EAGAIN) {
      throw new OutOfMemoryError(message);
    }
    return new IllegalStateException(message);
  }

  private static long roundUp(long value, long powerOfTwo) {
    return (value + powerOfTwo - 1) & -powerOfTwo;
  }

  @Override
  public long address() {
    return address;
  }

  /**
   * Gives the memory behind a part of this region back to the system, and keeps the addresses: the
   * part reads as zero and costs memory again when next touched. Only pages that lie wholly within
   * the part go; the rest stays as it is.
   *
   * <p>Threading: any thread, when no other thread uses that part.
   *
   * @param offset of the part's first byte in this region, from 0
   * @param bytes of the part, from 0; it ends at the region's last byte or before
   * @return how many bytes were given back, 0 if the part holds no whole page
   * @throws IndexOutOfBoundsException if the part is not within the region
   * @throws IllegalStateException if the region was freed, or if the system refuses (of locked
   *     memory, say)
   */
  public long discard(long offset, long bytes) {
    Objects.checkFromIndexSize(offset, bytes, sizeBytes());
    if (isFreed()) {
      throw new IllegalStateException("region of " + sizeBytes() + " bytes was freed before");
    }
    long page = calls.pageSizeBytes();
    long from = roundUp(address + offset, page);
    long to = (address + offset + bytes) & -page;
    if (to <= from) {
      return 0;
    }
    int error = calls.madvise(from, to - from, NativeCalls.MADV_DONTNEED);
    if (error != 0) {
      throw refused(calls, "madvise DONTNEED of " + (to - from) + " bytes", error);
    }
    return to - from;
  }

  @Override
  void release() {
    int error = calls.munmap(address, lengthBytes);
    if (error != 0) {
      throw new IllegalStateException(
          "munmap of " + lengthBytes + " bytes: " + calls.errorText(error));
    }
  }
}
