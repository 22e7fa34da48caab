package io.prmalloc;

import io.prmalloc.internal.memory.LimitedSubAllocator;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * How a sub-allocator maps memory. Start from {@link #DEFAULT} and change what you need.
 *
 * <p>Threading: immutable.
 *
 * @param hugePages whether to ask for huge pages
 * @param prefault when each page is touched for the first time
 * @param limitBytes the most bytes mapped at a time, from 0; empty for no limit
 * @param guardPages whether there is a page before and behind each region whose touch ends the
 *     process
 */
public record MmapOptions(
    HugePages hugePages, Prefault prefault, OptionalLong limitBytes, boolean guardPages) {

  /** Small pages, touched at first use, no limit. */
  public static final MmapOptions DEFAULT =
      new MmapOptions(HugePages.OFF, Prefault.NONE, OptionalLong.empty(), false);

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the limit is negative
   */
  public MmapOptions {
    Objects.requireNonNull(hugePages, "hugePages");
    Objects.requireNonNull(prefault, "prefault");
    limitBytes.ifPresent(LimitedSubAllocator::checkLimit);
  }

  /** The same with another choice of huge pages. Threading: any thread. */
  public MmapOptions withHugePages(HugePages other) {
    return new MmapOptions(other, prefault, limitBytes, guardPages);
  }

  /** The same with another way of first touch. Threading: any thread. */
  public MmapOptions withPrefault(Prefault other) {
    return new MmapOptions(hugePages, other, limitBytes, guardPages);
  }

  /**
   * The same with a limit.
   *
   * <p>Threading: any thread.
   *
   * @param bytes the most bytes mapped at a time; 0 grants nothing
   * @throws IllegalArgumentException if {@code bytes} is negative
   */
  public MmapOptions withLimitBytes(long bytes) {
    return new MmapOptions(hugePages, prefault, OptionalLong.of(bytes), guardPages);
  }

  /**
   * The same with or without guard pages. With them a region ends where the page behind it begins,
   * or less than its alignment before, and a pool gives every block of more than 32 KiB a region of
   * its own: a write past the end of such a block, or a page in front of it, ends the process with
   * a segmentation fault. Each region costs three mappings, of which Linux allows some 65,000.
   *
   * <p>Threading: any thread.
   */
  public MmapOptions withGuardPages(boolean value) {
    return new MmapOptions(hugePages, prefault, limitBytes, value);
  }
}
