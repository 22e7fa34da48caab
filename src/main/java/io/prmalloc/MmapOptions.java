package io.prmalloc;

import io.prmalloc.os.HugePages;
import io.prmalloc.os.Prefault;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * How a sub-allocator maps memory. Start from {@link #DEFAULT} and change what you need.
 *
 * <p>Threading: immutable.
 *
 * @param hugePages whether to ask for huge pages
 * @param prefault who pays for the first touch of each page
 * @param limitBytes the most bytes mapped at a time, from 0; empty for no limit
 */
public record MmapOptions(HugePages hugePages, Prefault prefault, OptionalLong limitBytes) {

  /** Small pages, touched by whoever comes first, no limit. */
  public static final MmapOptions DEFAULT =
      new MmapOptions(HugePages.OFF, Prefault.NONE, OptionalLong.empty());

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
    return new MmapOptions(other, prefault, limitBytes);
  }

  /** The same with another way of first touch. Threading: any thread. */
  public MmapOptions withPrefault(Prefault other) {
    return new MmapOptions(hugePages, other, limitBytes);
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
    return new MmapOptions(hugePages, prefault, OptionalLong.of(bytes));
  }
}
