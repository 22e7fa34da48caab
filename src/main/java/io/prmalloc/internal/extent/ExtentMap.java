package io.prmalloc.internal.extent;

import java.util.Arrays;

/**
 * The runs of free pages of a region: extents are taken from the lowest run that is long enough,
 * split off its front, and coalesced with their neighbours when they are freed.
 *
 * <p>It also notes which pages may be resident, and when each part of the region was last in use,
 * so that unused pages can be purged.
 *
 * <p>First fit by address as in Knuth, The Art of Computer Programming, volume 1, section 2.5, with
 * his boundary tags; the search goes down a tree of maxima as in TCMalloc's and jemalloc's page
 * heaps.
 *
 * <p>Threading: not safe; its owner's lock guards it.
 */
final class ExtentMap {

  // Placement at the lowest address keeps what is in use together, which is what keeps resident
  // memory low: on traffic whose sizes vary from step to step, best fit and size classes need a
  // tenth more.
  //
  //   run     boundary tags: at the first and at the last page of a run its length, negative if it
  //           is taken. So the neighbours of a run are found without a search.
  //   starts  one bit for each page: whether a free run starts there. A group is 64 pages, one
  //           word of these bits.
  //   levels  for each group the longest free run that starts in it; above that the maximum of 16
  //           of those, and so on up. A search looks at 16 numbers of each level at most, which is
  //           one cache line, and a change stops where the maximum stays the same.
  //
  // All of it is less than six bytes for each page.

  /**
   * Bytes of a page of this map: 16 KiB, four of the system's. With pages of 4 KiB traffic of any
   * size begins its tensors at four times as many pages of the system, each of which stays in
   * memory; what is lost by rounding is one part in a hundred of a step's load, and is not touched.
   */
  static final int PAGE_BYTES = 16 * 1024;

  /** The most pages a map can have: a region has less than 2 GiB. */
  static final int MAX_PAGES = (int) ((1L << 31) / PAGE_BYTES) - 1;

  private static final int GROUP_SHIFT = 6;
  private static final int FAN_SHIFT = 4;
  private static final int FAN = 1 << FAN_SHIFT;

  private final int pages;
  private final int[] run;
  private final long[] starts;
  private final int[][] levels;
  private int longest;
  private int freePages;

  /** One bit for each page: whether it was taken since it was purged. */
  private final long[] dirty;

  private int dirtyPages;

  /** By group: the time when a page of it was last allocated or freed. */
  private final int[] lastUse;

  /**
   * All pages are free, and none is in memory.
   *
   * @param pages from 1 to {@link #MAX_PAGES}
   */
  ExtentMap(int pages) {
    this.pages = pages;
    int groups = groupOf(pages - 1) + 1;
    this.run = new int[pages];
    this.starts = new long[groups];
    this.dirty = new long[groups];
    this.lastUse = new int[groups];
    this.levels = newLevels(groups);
    this.freePages = pages;
    addRun(0, pages);
  }

  /** From the groups up to one line; each with the length of whole lines. */
  private static int[][] newLevels(int groups) {
    int count = 1;
    for (int width = groups; width > FAN; width = (width + FAN - 1) >> FAN_SHIFT) {
      count++;
    }
    int[][] made = new int[count][];
    int width = groups;
    for (int level = 0; level < count; level++) {
      made[level] = new int[(width + FAN - 1) & -FAN];
      width = (width + FAN - 1) >> FAN_SHIFT;
    }
    return made;
  }

  private static int groupOf(int page) {
    return page >> GROUP_SHIFT;
  }

  /** How many pages there are. */
  int pages() {
    return pages;
  }

  /** How many are free. */
  int freePages() {
    return freePages;
  }

  /** How many may be in memory: those that were taken since they were purged. */
  int dirtyPages() {
    return dirtyPages;
  }

  /** Pages of the longest free run, 0 if there is none. */
  int longestRun() {
    return longest;
  }

  /** Whether all pages are free. */
  boolean isFree() {
    return freePages == pages;
  }

  /**
   * Takes an extent at the lowest address that has room for it.
   *
   * @param count how many pages, from 1
   * @param now the time, for {@link #takeIdle}
   * @return the first page, −1 if no free run is long enough
   */
  int take(int count, int now) {
    if (longest < count) {
      return -1;
    }
    int first = find(count);
    int length = run[first];
    removeRun(first, length);
    if (length > count) {
      addRun(first + count, length - count);
    }
    use(first, count, now);
    return first;
  }

  /**
   * Takes an extent at an alignment, in the lowest free run that has room for it wherever the run
   * begins.
   *
   * @param alignment a power of two, in pages
   * @param origin the number of the page 0 by which alignment is told, modulo the alignment
   * @return the first page, −1 if no free run is sure to be long enough
   */
  int takeAligned(int count, int alignment, int origin, int now) {
    long room = (long) count + alignment - 1;
    if (longest < room) {
      return -1;
    }
    int found = find((int) room);
    int first = found + (-(found + origin) & (alignment - 1));
    takeWithin(first, count, now);
    return first;
  }

  /** Takes an extent that lies within a free run. */
  private void takeWithin(int first, int count, int now) {
    int start = startOfRun(first);
    int end = start + run[start];
    removeRun(start, end - start);
    if (first > start) {
      addRun(start, first - start);
    }
    if (end > first + count) {
      addRun(first + count, end - first - count);
    }
    use(first, count, now);
  }

  /** The first page of the free run that a free page lies in. */
  private int startOfRun(int page) {
    int group = groupOf(page);
    long upTo = starts[group] & (-1L >>> (63 - (page & 63)));
    while (upTo == 0) {
      upTo = starts[--group];
    }
    return (group << GROUP_SHIFT) + 63 - Long.numberOfLeadingZeros(upTo);
  }

  private int find(int count) {
    int at = 0;
    for (int level = levels.length - 1; level >= 0; level--) {
      int[] maxima = levels[level];
      at <<= FAN_SHIFT;
      while (maxima[at] < count) {
        at++;
      }
    }
    int base = at << GROUP_SHIFT;
    long bits = starts[at];
    int first = base + Long.numberOfTrailingZeros(bits);
    while (run[first] < count) {
      bits &= bits - 1;
      first = base + Long.numberOfTrailingZeros(bits);
    }
    return first;
  }

  private void use(int first, int count, int now) {
    freePages -= count;
    run[first] = -count;
    run[first + count - 1] = -count;
    touch(first, count, now);
    markDirty(first, count);
  }

  private void touch(int first, int count, int now) {
    int last = groupOf(first + count - 1);
    for (int group = groupOf(first); group <= last; group++) {
      lastUse[group] = now;
    }
  }

  private void markDirty(int first, int count) {
    int last = first + count - 1;
    for (int group = groupOf(first); group <= groupOf(last); group++) {
      long added = within(group, first, last) & ~dirty[group];
      if (added != 0) {
        dirty[group] |= added;
        dirtyPages += Long.bitCount(added);
      }
    }
  }

  /** The bits of those pages from first to last that lie in a group. */
  private static long within(int group, int first, int last) {
    long mask = -1L;
    if (group == groupOf(first)) {
      mask &= -1L << first;
    }
    if (group == groupOf(last)) {
      mask &= -1L >>> (63 - (last & 63));
    }
    return mask;
  }

  /**
   * Takes an extent back.
   *
   * @param first what {@link #take} said
   * @param now the time, for {@link #takeIdle}
   */
  void free(int first, int now) {
    int count = -run[first];
    touch(first, count, now);
    freeUntouched(first, count);
  }

  private void freeUntouched(int first, int count) {
    freePages += count;
    int start = first;
    int end = first + count;
    if (end < pages && run[end] > 0) {
      int above = run[end];
      removeRun(end, above);
      end += above;
    }
    if (start > 0 && run[start - 1] > 0) {
      int below = run[start - 1];
      // The run keeps its start and becomes longer.
      start -= below;
      extendRun(start, end - start);
      return;
    }
    addRun(start, end - start);
  }

  /** Length of the extent that starts at a page. */
  int length(int first) {
    return -run[first];
  }

  private void addRun(int first, int length) {
    starts[groupOf(first)] |= 1L << first;
    extendRun(first, length);
  }

  private void extendRun(int first, int length) {
    run[first] = length;
    run[first + length - 1] = length;
    int at = groupOf(first);
    for (int[] level : levels) {
      if (level[at] >= length) {
        return;
      }
      level[at] = length;
      at >>= FAN_SHIFT;
    }
    longest = Math.max(longest, length);
  }

  private void removeRun(int first, int length) {
    int group = groupOf(first);
    long bits = starts[group] & ~(1L << first);
    starts[group] = bits;
    if (levels[0][group] != length) {
      return;
    }
    int most = 0;
    for (int base = group << GROUP_SHIFT; bits != 0; bits &= bits - 1) {
      most = Math.max(most, run[base + Long.numberOfTrailingZeros(bits)]);
    }
    int at = group;
    for (int[] level : levels) {
      if (level[at] == most) {
        return;
      }
      level[at] = most;
      at >>= FAN_SHIFT;
      most = maximum(level, at << FAN_SHIFT);
    }
    longest = most;
  }

  private static int maximum(int[] level, int from) {
    int most = level[from];
    for (int i = from + 1; i < from + FAN; i++) {
      most = Math.max(most, level[i]);
    }
    return most;
  }

  /**
   * Takes a part of a free run that may be in memory and was not in use for a while, so that its
   * owner can purge it without the lock; {@link #purged} or {@link #notPurged} gives it back.
   *
   * @param most pages of the part, at least 64
   * @param before only what was last in use before this time
   * @return the first page, −1 if there is none
   */
  int takeIdle(int most, int before) {
    for (int page = 0; page < pages; ) {
      int length = run[page];
      if (length < 0) {
        page -= length;
        continue;
      }
      int end = page + length;
      int first = firstIdle(page, end, before);
      if (first < end) {
        int limit = Math.min(end, first + most);
        int last = first;
        while (last < limit && isIdle(last, before)) {
          last = Math.min(limit, (groupOf(last) + 1) << GROUP_SHIFT);
        }
        claim(page, end, first, last);
        return first;
      }
      page = end;
    }
    return -1;
  }

  private int firstIdle(int from, int end, int before) {
    int page = from;
    while (page < end && !isIdle(page, before)) {
      page = (groupOf(page) + 1) << GROUP_SHIFT;
    }
    if (page >= end) {
      return end;
    }
    // Not before the first page of the group that may be in memory.
    long here = dirty[groupOf(page)] & (-1L << page);
    int first = (groupOf(page) << GROUP_SHIFT) + Long.numberOfTrailingZeros(here);
    return Math.min(first, end);
  }

  /** Whether the group of a page was not in use, and a page of it from there on is dirty. */
  private boolean isIdle(int page, int before) {
    int group = groupOf(page);
    return lastUse[group] - before < 0 && (dirty[group] & (-1L << page)) != 0;
  }

  private void claim(int start, int end, int first, int last) {
    removeRun(start, end - start);
    if (first > start) {
      addRun(start, first - start);
    }
    if (end > last) {
      addRun(last, end - last);
    }
    int count = last - first;
    freePages -= count;
    run[first] = -count;
    run[last - 1] = -count;
  }

  /** Gives back what {@link #takeIdle} took, which is not in memory any more. */
  void purged(int first) {
    int count = -run[first];
    int last = first + count - 1;
    for (int group = groupOf(first); group <= groupOf(last); group++) {
      long cleaned = within(group, first, last) & dirty[group];
      dirty[group] &= ~cleaned;
      dirtyPages -= Long.bitCount(cleaned);
    }
    freeUntouched(first, count);
  }

  /** Gives back what {@link #takeIdle} took, and could not be purged. */
  void notPurged(int first) {
    freeUntouched(first, -run[first]);
  }

  /** Whether no page was allocated or freed since a time. */
  boolean isIdleSince(int before) {
    return Arrays.stream(lastUse).allMatch(time -> time - before < 0);
  }
}
