package io.prmalloc.plan.heuristic;

import io.prmalloc.internal.planner.ConstrainedProblem;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Looks for an order in which the placement needs less than in the fixed ones.
 *
 * <p>Threading: one thread at a time.
 */
public final class OrderSearch {

  // Both searches start from a fixed order, so the answer is never worse than its.
  //
  // Random swaps: two tensors of the best order change places; it stays so if the total is no
  // larger. Equal totals are kept too, else the search would stand still on a plateau.
  //
  // Simulated annealing, with the numbers of the HeuristicAllocator project: the temperature T is
  // 1000 / (1 + t) for t = 0, 1, … as long as it is not below 10, with 20 tries each. A try lets
  // n · T / 10000 pairs change places, at least one. It becomes the present order if its total is
  // smaller, and with the probability exp(-more / (T · 10000)) if it needs more. When all is
  // frozen, the next round starts from the best order so far.
  //
  // The chance is drawn before the try is placed, and so makes a limit: the largest total that will
  // be accepted. Placing stops at the first tensor above it. Most tries are bad, and their badness
  // shows early, which makes the search several times as fast and changes nothing.

  private static final double HOTTEST = 1000;
  private static final double COLDEST = 10;
  private static final int TRIES_PER_TEMPERATURE = 20;
  private static final double TEMPERATURE_PER_PAIR = 10_000;
  private static final double BYTES_PER_TEMPERATURE = 10_000;

  private final List<TensorUsageRecord> records;
  private final long granularity;
  private final SearchOptions options;
  private final SearchWatch watch;
  private final OrderPlacer placer;
  private final SplittableRandom random;
  private final long leastBytes;

  private final int[] best;
  private long bestBytes;
  private final int[] present;
  private long presentBytes;
  private long tries;
  private long beginNanos;

  private OrderSearch(
      List<TensorUsageRecord> records,
      PlacementOrder start,
      long alignment,
      SearchOptions options,
      SearchWatch watch) {
    this.records = records;
    ConstrainedProblem.refuse(records, "heuristic's search");
    granularity = HeuristicPlanner.granularity(records, alignment);
    this.options = options;
    this.watch = watch;
    placer = new OrderPlacer(records, start.seesGround(), granularity);
    random = new SplittableRandom(options.seed());
    leastBytes = placer.loadBytes();
    best = start.sort(records, granularity);
    present = best.clone();
  }

  /**
   * Searches until the time is over, the tries are used up, the load is reached, or the watch says
   * so. Sizes and alignment count as with {@link HeuristicPlanner}.
   *
   * <p>Threading: any thread. An interrupt ends it with a {@link
   * java.util.concurrent.CancellationException}.
   *
   * @param start the order to start from, which also says which gaps are seen
   * @param alignment as with {@link HeuristicPlanner#assignOffsets}
   * @return the best plan found
   * @throws IllegalArgumentException as with {@link HeuristicPlanner#assignOffsets}, and if a
   *     tensor has constraints
   */
  public static OffsetsAssignment assignOffsets(
      List<TensorUsageRecord> records,
      PlacementOrder start,
      long alignment,
      SearchOptions options,
      SearchWatch watch) {
    return new OrderSearch(records, start, alignment, options, watch).search();
  }

  private OffsetsAssignment search() {
    beginNanos = System.nanoTime();
    bestBytes = placer.place(best, Long.MAX_VALUE);
    presentBytes = bestBytes;
    if (placer.count() > 1) {
      if (options.kind() == SearchOptions.Kind.SWAPS) {
        swapPairs();
      } else {
        while (anneal()) {
          System.arraycopy(best, 0, present, 0, best.length);
          presentBytes = bestBytes;
        }
      }
    }
    placer.place(best, Long.MAX_VALUE);
    return OffsetsAssignment.of(records, placer.offsets(), granularity, bestBytes);
  }

  private void swapPairs() {
    int[] pair = new int[2];
    while (goOn()) {
      swapRandom(present, pair);
      if (!accept(presentBytes)) {
        swap(present, pair[0], pair[1]);
      }
    }
  }

  /** One round, from hot to cold; says whether another may follow. */
  private boolean anneal() {
    int[] before = new int[present.length];
    int[] pair = new int[2];
    for (int t = 0; HOTTEST / (1 + t) >= COLDEST; t++) {
      double temperature = HOTTEST / (1 + t);
      int pairs = (int) Math.max(1, present.length * temperature / TEMPERATURE_PER_PAIR);
      for (int i = 0; i < TRIES_PER_TEMPERATURE; i++) {
        if (!goOn()) {
          return false;
        }
        System.arraycopy(present, 0, before, 0, present.length);
        for (int k = 0; k < pairs; k++) {
          swapRandom(present, pair);
        }
        double more = -Math.log(1 - random.nextDouble()) * temperature * BYTES_PER_TEMPERATURE;
        if (!accept(presentBytes + (long) Math.min(more, 1L << 60))) {
          System.arraycopy(before, 0, present, 0, present.length);
        }
      }
    }
    return true;
  }

  private boolean goOn() {
    double time = (System.nanoTime() - beginNanos) / (double) options.timeLimit().toNanos();
    double done = Math.max(time, tries / (double) options.maxTries());
    return watch.goOn(bestBytes, Math.min(1, done)) && done < 1 && bestBytes > leastBytes;
  }

  /** Places the present order; if it needs no more than the limit, it is the new state. */
  private boolean accept(long limit) {
    tries++;
    long bytes = placer.place(present, limit);
    if (bytes > limit) {
      return false;
    }
    presentBytes = bytes;
    if (bytes < bestBytes) {
      bestBytes = bytes;
      System.arraycopy(present, 0, best, 0, best.length);
    }
    return true;
  }

  private void swapRandom(int[] order, int[] pair) {
    pair[0] = random.nextInt(order.length);
    pair[1] = random.nextInt(order.length);
    swap(order, pair[0], pair[1]);
  }

  private static void swap(int[] order, int i, int j) {
    int tensor = order[i];
    order[i] = order[j];
    order[j] = tensor;
  }
}
