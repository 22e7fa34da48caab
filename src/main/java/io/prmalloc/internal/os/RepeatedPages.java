package io.prmalloc.internal.os;

/**
 * Address space of any size over little memory: the same pages again and again. For somebody who
 * must be given addresses, and whose data nobody needs: a byte that is written shows at other
 * addresses, too.
 *
 * <p>Beside the pages it takes page tables, of which 8 bytes for each 4 KiB that are touched; from
 * Linux 6.1 on huge pages make that 4 KiB for each GiB. The resident size of the process, as the
 * kernel tells it, counts a page at each address at which it was touched.
 *
 * <p>Threading: any thread.
 */
public final class RepeatedPages {

  /** What larger address space takes of memory, up to {@value #MOST_MAPPINGS} times as much. */
  public static final long MEMORY_BYTES = 64L << 20;

  /** A process has 65,530 by default. */
  static final int MOST_MAPPINGS = 4096;

  /** If there is no room for so many mappings, there are fewer by this factor, of more memory. */
  private static final int FEWER = 16;

  /** From so many mappings on page tables and faults are worth a thought. */
  private static final int MANY_MAPPINGS = 16;

  /** Of huge pages on most systems. */
  private static final long ALIGNMENT = 2L << 20;

  /** No process has so much. */
  private static final long TOO_LARGE = 1L << 56;

  private RepeatedPages() {}

  /**
   * Maps address space.
   *
   * <p>Threading: any thread.
   *
   * @return the address, a multiple of 2 MiB; 0 if the system has no such address space, file in
   *     memory, or room for the mappings
   * @throws UnsupportedOperationException if native calls do not work here; the message says why
   */
  public static long map(long bytes) {
    return map(Natives.calls(), bytes);
  }

  static long map(NativeCalls calls, long bytes) {
    if (bytes <= 0 || bytes >= TOO_LARGE) {
      return 0;
    }
    long length = length(calls, bytes);
    for (int mappings = MOST_MAPPINGS; mappings > 1; mappings /= FEWER) {
      long address = reserve(calls, length);
      if (address == 0) {
        return 0;
      }
      boolean filled = false;
      try {
        filled = fill(calls, address, length, memoryBytes(length, mappings));
      } finally {
        if (!filled) {
          calls.munmap(address, length);
        }
      }
      if (filled) {
        return address;
      }
    }
    return 0;
  }

  /**
   * Unmaps it.
   *
   * <p>Threading: any thread.
   *
   * @param bytes as it was mapped
   * @throws UnsupportedOperationException if native calls do not work here; the message says why
   */
  public static void unmap(long address, long bytes) {
    NativeCalls calls = Natives.calls();
    calls.munmap(address, length(calls, bytes));
  }

  private static long length(NativeCalls calls, long bytes) {
    long page = calls.pageSizeBytes();
    return (bytes + page - 1) & -page;
  }

  private static long memoryBytes(long length, int mappings) {
    long memory = MEMORY_BYTES;
    while ((length - 1) / memory >= mappings) {
      memory *= 2;
    }
    return memory;
  }

  /** The kernel aligns to pages only: map too much and cut off both ends. */
  private static long reserve(NativeCalls calls, long length) {
    long start = calls.reserve(length + ALIGNMENT);
    if (start < 0) {
      return 0;
    }
    long address = (start + ALIGNMENT - 1) & -ALIGNMENT;
    long before = address - start;
    if (before > 0) {
      calls.munmap(start, before);
    }
    if (before < ALIGNMENT) {
      calls.munmap(address + length, ALIGNMENT - before);
    }
    return address;
  }

  private static boolean fill(NativeCalls calls, long address, long length, long memory) {
    int file = calls.memoryFile(memory);
    if (file < 0) {
      return false;
    }
    try {
      for (long from = 0; from < length; from += memory) {
        if (calls.mapFile(file, address + from, Math.min(memory, length - from)) != 0) {
          return false;
        }
      }
      if (length / memory >= MANY_MAPPINGS) {
        // The kernel makes a huge page only where there is one of the small ones. If it makes none,
        // those do.
        for (long from = 0; from < memory; from += ALIGNMENT) {
          calls.view(address + from, 1).put(0, (byte) 0);
        }
        calls.madvise(address, memory, NativeCalls.MADV_COLLAPSE);
      }
      return true;
    } finally {
      calls.closeFile(file);
    }
  }
}
