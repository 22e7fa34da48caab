package io.prmalloc.internal.arena;

import io.prmalloc.lifetime.LifetimePolicy;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts requests of sizes that no bin of the plan has.
 *
 * <p>Threading: any thread.
 */
public final class NullBins {

  // By powers of two and not by the plan's size classes, of which there may be half a million:
  // these are few, and the same for every plan, so that a time series of each can be kept.

  /** Log2 of what the first class ends with. */
  private static final int FIRST = 1 + log2Ceiling(LifetimePolicy.SMALL_BYTES);

  private static final int LAST = 31;

  private final LongAdder[] counts = new LongAdder[LAST - FIRST + 1];

  NullBins() {
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new LongAdder();
    }
  }

  private static int log2Ceiling(long value) {
    return Long.SIZE - Long.numberOfLeadingZeros(value - 1);
  }

  /** Counts a request of so many bytes, more than {@link LifetimePolicy#SMALL_BYTES}. */
  void count(long totalBytes) {
    counts[Math.min(LAST, log2Ceiling(totalBytes)) - FIRST].increment();
  }

  public long sum() {
    long sum = 0;
    for (LongAdder count : counts) {
      sum += count.sum();
    }
    return sum;
  }

  /** By the most bytes of each class; of no plan if null. */
  public static SortedMap<Long, Long> bySize(NullBins bins) {
    SortedMap<Long, Long> map = new TreeMap<>();
    for (int log2 = FIRST; log2 <= LAST; log2++) {
      map.put(1L << log2, bins == null ? 0 : bins.counts[log2 - FIRST].sum());
    }
    return Collections.unmodifiableSortedMap(map);
  }
}
