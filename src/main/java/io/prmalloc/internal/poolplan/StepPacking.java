package io.prmalloc.internal.poolplan;

import io.prmalloc.Allocator;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A plan of fewer blocks than the lifetime policies find: it looks at whole steps, and every block
 * may serve every smaller size.
 *
 * <p>Threading: not safe; for one use.
 */
final class StepPacking {

  // The policies pack lives in the order in which they ended, and a block is mostly of use to its
  // own size class: twice the load on Squeezenet. TensorFlow Lite's shared objects look at all
  // lives at once and come near the least that blocks need, 1.49 times the load there. But they
  // know which tensor gets which object, and the pool only sees a size. So:
  //
  //   1. The objects of several strategies are taken as blocks.
  //   2. The step is run through the pool's choice, the smallest free block that is large enough.
  //      If none is left, the largest free one that is too small is replaced by one of the
  //      requested size; until nothing is lacking.
  //   3. Blocks are made smaller, or dropped, in single steps that leave nothing lacking.
  //   4. A seeded random walk continues from the best: up to three blocks change their size class,
  //      and a change is kept if the sum is not larger and nothing is lacking. It ends when it has
  //      reached the bound for blocks, or has found nothing for long enough.
  //
  // A run ends with the first request that finds nothing, so most runs are short, and the part of
  // the steps that failed last is run first: parts between moments at which nothing is allocated do
  // not depend on each other. Steps that are equal are run once. Budgets are in runs and events and
  // not in time: equal steps give equal plans. All budgets together are less than a second.
  //
  // Only some of the collected steps are looked at, but the plan has a bin for every size of all of
  // them: the pool, and the rehearsal, look for the bin of a size before they look for a block.

  /** If the plan has more size classes than this, there is no packing: it would take too long. */
  private static final int MAX_CLASSES = 1024;

  /** Whole steps of at most so many lives are packed. If one step has more, there is no packing. */
  private static final int MAX_LIVES = 12_000;

  /** The strategies get about so many of them, for their time grows with the square. */
  private static final int MAX_STRATEGY_LIVES = 2_000;

  private static final long MAX_EVENTS = 60_000_000;
  private static final int MAX_IDLE_RUNS = 120_000;
  private static final int MAX_MOVES = 3;
  private static final int MOVE_CLASSES = 6;
  private static final long SEED = 0x9E3779B97F4A7C15L;

  private static final MemoryStrategy[] STRATEGIES = {
    MemoryStrategy.GREEDY_BY_BREADTH, MemoryStrategy.GREEDY_BY_SIZE, MemoryStrategy.GREEDY_IN_ORDER
  };

  private record Demand(List<AllocStats> step, long peakBytes) {}

  private final LifetimePlan plan;
  private final int intervalBytes;

  /** The lives that are looked at. */
  private final List<AllocStats> lives;

  /** Chunk bytes of the classes that occur, ascending. */
  private final long[] chunkBytes;

  /** By life: its class. */
  private final int[] classes;

  /**
   * The parts of the steps between moments at which nothing is allocated, the one that failed last
   * first; in each the number of a life that begins, or its complement where it ends.
   */
  private final List<int[]> parts;

  private final int[] free;

  /** A bit for each class that has free blocks. */
  private final long[] freeClasses;

  private final int[] taken;
  private long eventsLeft = MAX_EVENTS;
  private int lackingClass;

  private StepPacking(LifetimePlan plan, int intervalBytes, List<AllocStats> lives) {
    this.plan = plan;
    this.intervalBytes = intervalBytes;
    this.lives = lives;
    this.chunkBytes =
        new TreeSet<>(lives.stream().map(this::chunkBytes).toList())
            .stream().mapToLong(Long::longValue).toArray();
    this.classes =
        lives.stream()
            .mapToInt(life -> Arrays.binarySearch(chunkBytes, chunkBytes(life)))
            .toArray();
    this.parts = parts(Rehearsal.events(lives));
    this.free = new int[chunkBytes.length];
    this.freeClasses = new long[(chunkBytes.length + Long.SIZE - 1) / Long.SIZE];
    this.taken = new int[lives.size()];
  }

  /**
   * A plan that serves the latest steps from fewer bytes, or empty if there is none or this is not
   * for such steps: without lives, or very many, with alignments of more than 64 bytes, with very
   * many sizes.
   *
   * @param plan what the policies found, and the steps they saw
   */
  static Optional<LifetimePlan> of(LifetimePlan plan) {
    List<List<AllocStats>> steps = mostDemanding(plan);
    List<AllocStats> lives = atMost(MAX_LIVES, steps);
    if (lives.isEmpty()
        || lives.size() > MAX_LIVES
        || plan.steps().stream()
            .flatMap(List::stream)
            .anyMatch(life -> life.alignment() > Allocator.DEFAULT_ALIGNMENT)) {
      return Optional.empty();
    }
    StepPacking packing = new StepPacking(plan, plan.intervalBytes(), lives);
    return packing.chunkBytes.length > MAX_CLASSES
        ? Optional.empty()
        : packing.pack(packing.records(atMost(MAX_STRATEGY_LIVES, steps)));
  }

  /**
   * The steps that are considered, those that are likely to need most first. If steps follow each
   * other: the ones with the most bytes allocated at a time, and only one of equal ones. If they
   * overlap: the latest.
   */
  private static List<List<AllocStats>> mostDemanding(LifetimePlan plan) {
    List<List<AllocStats>> steps = new ArrayList<>(plan.steps());
    Collections.reverse(steps);
    if (areApart(steps)) {
      Set<List<AllocStats>> seen = new HashSet<>();
      steps.removeIf(step -> !seen.add(shape(step, plan.intervalBytes())));
      return steps.stream()
          .map(step -> new Demand(step, peakBytes(step)))
          .sorted(Comparator.comparingLong(Demand::peakBytes).reversed())
          .map(Demand::step)
          .toList();
    }
    return steps;
  }

  /** The lives of steps from the first on: of one at least, and of more while they are few. */
  private static List<AllocStats> atMost(int count, List<List<AllocStats>> steps) {
    List<AllocStats> lives = new ArrayList<>();
    for (List<AllocStats> step : steps) {
      if (!lives.isEmpty() && lives.size() + step.size() > count) {
        break;
      }
      lives.addAll(step);
    }
    return lives;
  }

  /** The most bytes that are allocated at a time. */
  private static long peakBytes(List<AllocStats> step) {
    long allocated = 0;
    long peak = 0;
    for (int event : Rehearsal.events(step)) {
      allocated += event >= 0 ? step.get(event).sizeBytes() : -step.get(~event).sizeBytes();
      peak = Math.max(peak, allocated);
    }
    return peak;
  }

  /** Whether each step is over before the next begins. */
  private static boolean areApart(List<List<AllocStats>> steps) {
    List<List<AllocStats>> inOrder = new ArrayList<>(steps);
    inOrder.sort(Comparator.comparingLong(Rehearsal::firstTick));
    for (int i = 1; i < inOrder.size(); i++) {
      if (Rehearsal.lastTick(inOrder.get(i - 1)) >= Rehearsal.firstTick(inOrder.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** The form in which equal steps are equal: lives from tick 0, with the size of their class. */
  private static List<AllocStats> shape(List<AllocStats> step, int intervalBytes) {
    long first = Rehearsal.firstTick(step);
    return step.stream()
        .map(
            life ->
                new AllocStats(
                    life.beginTick() - first,
                    life.endTick() - first,
                    chunkBytes(life, intervalBytes),
                    life.alignment()))
        .toList();
  }

  private static List<int[]> parts(int[] events) {
    List<int[]> parts = new ArrayList<>();
    int from = 0;
    int out = 0;
    for (int i = 0; i < events.length; i++) {
      out += events[i] >= 0 ? 1 : -1;
      if (out == 0) {
        parts.add(Arrays.copyOfRange(events, from, i + 1));
        from = i + 1;
      }
    }
    return parts;
  }

  private long chunkBytes(AllocStats life) {
    return chunkBytes(life, intervalBytes);
  }

  private static long chunkBytes(AllocStats life, int intervalBytes) {
    return LifetimePolicy.chunkBytes(
        LifetimePolicy.index(life.sizeBytes(), intervalBytes), intervalBytes);
  }

  private List<TensorUsageRecord> records(List<AllocStats> of) {
    List<TensorUsageRecord> records = new ArrayList<>();
    for (AllocStats life : of) {
      records.add(
          new TensorUsageRecord(
              chunkBytes(life), life.beginTick(), Math.max(life.beginTick(), life.endTick() - 1)));
    }
    return records;
  }

  /**
   * Empty if the budget does not suffice for a first set of blocks.
   *
   * @param first the lives that the strategies begin with
   */
  private Optional<LifetimePlan> pack(List<TensorUsageRecord> first) {
    int[] best = null;
    for (MemoryStrategy strategy : STRATEGIES) {
      int[] blocks = blocksOf(strategy.assignObjects(first));
      if (!repair(blocks)) {
        break;
      }
      shrink(blocks);
      if (best == null || totalBytes(blocks) < totalBytes(best)) {
        best = blocks;
      }
    }
    return Optional.ofNullable(best)
        .map(start -> planOf(walk(start, LowerBounds.objectsBytes(records(lives)))));
  }

  private int[] blocksOf(ObjectsAssignment objects) {
    int[] blocks = new int[chunkBytes.length];
    for (int object = 0; object < objects.objectCount(); object++) {
      blocks[Arrays.binarySearch(chunkBytes, objects.objectSizeBytes(object))]++;
    }
    return blocks;
  }

  /** Whether the steps find a block for every request; else {@link #lackingClass} is set. */
  private boolean serves(int[] blocks) {
    Arrays.fill(freeClasses, 0);
    for (int i = 0; i < blocks.length; i++) {
      free[i] = blocks[i];
      if (blocks[i] > 0) {
        freeClasses[i >> 6] |= 1L << i;
      }
    }
    eventsLeft -= blocks.length / 2;
    for (int i = 0; i < parts.size(); i++) {
      if (!servesPart(parts.get(i))) {
        parts.add(0, parts.remove(i));
        return false;
      }
    }
    return true;
  }

  /** Whether a part finds its blocks; all that are there are free before, and after if it does. */
  private boolean servesPart(int[] part) {
    for (int i = 0; i < part.length; i++) {
      int event = part[i];
      if (event < 0) {
        int sizeClass = taken[~event];
        if (free[sizeClass]++ == 0) {
          freeClasses[sizeClass >> 6] |= 1L << sizeClass;
        }
        continue;
      }
      int found = firstFree(classes[event]);
      if (found < 0) {
        lackingClass = classes[event];
        eventsLeft -= i;
        return false;
      }
      if (--free[found] == 0) {
        freeClasses[found >> 6] &= ~(1L << found);
      }
      taken[event] = found;
    }
    eventsLeft -= part.length;
    return true;
  }

  /** The first class from a given one on that has a free block, or −1. */
  private int firstFree(int sizeClass) {
    int word = sizeClass >> 6;
    long bits = freeClasses[word] & (-1L << sizeClass);
    while (bits == 0) {
      if (++word == freeClasses.length) {
        return -1;
      }
      bits = freeClasses[word];
    }
    return word * Long.SIZE + Long.numberOfTrailingZeros(bits);
  }

  /** Makes blocks serve; false if the budget is used up before they do. */
  private boolean repair(int[] blocks) {
    while (!serves(blocks)) {
      if (eventsLeft <= 0) {
        return false;
      }
      int smaller = lackingClass - 1;
      while (smaller >= 0 && free[smaller] == 0) {
        smaller--;
      }
      if (smaller >= 0) {
        blocks[smaller]--;
      }
      blocks[lackingClass]++;
    }
    return true;
  }

  private void shrink(int[] blocks) {
    for (int from = blocks.length - 1; from >= 0; from--) {
      while (blocks[from] > 0 && eventsLeft > 0 && shrinkOne(blocks, from)) {
        // Once more.
      }
    }
  }

  /** Drops a block of a class, or makes it as small as can be. */
  private boolean shrinkOne(int[] blocks, int from) {
    blocks[from]--;
    if (serves(blocks)) {
      return true;
    }
    for (int to = 0; to < from && eventsLeft > 0; to++) {
      blocks[to]++;
      if (serves(blocks)) {
        return true;
      }
      blocks[to]--;
    }
    blocks[from]++;
    return false;
  }

  private int[] walk(int[] start, long boundBytes) {
    SplittableRandom random = new SplittableRandom(SEED);
    int[] best = start.clone();
    int[] next = start.clone();
    long bestBytes = totalBytes(best);
    int idleRuns = 0;
    while (bestBytes > boundBytes && idleRuns < MAX_IDLE_RUNS && eventsLeft > 0) {
      System.arraycopy(best, 0, next, 0, next.length);
      move(next, random);
      long bytes = totalBytes(next);
      idleRuns++;
      if (bytes <= bestBytes && serves(next)) {
        idleRuns = bytes < bestBytes ? 0 : idleRuns;
        int[] worse = best;
        best = next;
        next = worse;
        bestBytes = bytes;
      }
    }
    return best;
  }

  private static void move(int[] next, SplittableRandom random) {
    for (int moves = 1 + random.nextInt(MAX_MOVES); moves > 0; moves--) {
      int from = random.nextInt(next.length);
      while (next[from] == 0) {
        from = random.nextInt(next.length);
      }
      next[from]--;
      int to = from + random.nextInt(-MOVE_CLASSES, MOVE_CLASSES + 1);
      next[Math.max(0, Math.min(next.length - 1, to))]++;
    }
  }

  private long totalBytes(int[] blocks) {
    long total = 0;
    for (int i = 0; i < blocks.length; i++) {
      total += blocks[i] * chunkBytes[i];
    }
    return total;
  }

  private LifetimePlan planOf(int[] blocks) {
    NavigableSet<Long> all =
        plan.steps().stream()
            .flatMap(List::stream)
            .map(this::chunkBytes)
            .collect(Collectors.toCollection(TreeSet::new));
    List<Integer> larger = new ArrayList<>();
    List<BinPlan> bins = new ArrayList<>();
    for (long bytes : all.descendingSet()) {
      int position = Arrays.binarySearch(chunkBytes, bytes);
      int own = position < 0 ? 0 : blocks[position];
      int index = LifetimePolicy.index(bytes, intervalBytes);
      bins.add(0, new BinPlan(index, bytes, Allocator.DEFAULT_ALIGNMENT, own, larger));
      if (own > 0) {
        larger.add(0, index);
      }
    }
    return new LifetimePlan(
        intervalBytes, totalBytes(blocks), bins, plan.steps(), plan.concurrentSteps());
  }
}
