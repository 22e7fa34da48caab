package io.prmalloc.pool;

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
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * A plan of fewer blocks than the lifetime policies find: it looks at whole steps, and every block
 * may serve every smaller size.
 *
 * <p>Threading: not safe; for one use.
 */
final class StepPacking {

  // The policies pack lives in the order in which they ended, and a block is mostly of use to its
  // own size class: twice the load on Squeezenet. TensorFlow Lite's shared objects look at all
  // lives at once and come near the least that blocks can do, 1.49 times the load there. But they
  // know which tensor gets which object, and the pool only sees a size. So:
  //
  //   1. The objects of several strategies are taken as blocks.
  //   2. The step is run through the pool's choice, the smallest free block that is large enough.
  //      Where none is left, the largest free one that is too small is replaced by one of the size
  //      wanted; until nothing is lacking.
  //   3. Blocks are made smaller, or dropped, in single steps that leave nothing lacking.
  //   4. A seeded random walk goes on from the best: up to three blocks change their size class,
  // and
  //      what is not larger in sum and leaves nothing lacking is kept. It ends when it has come to
  //      the bound for blocks, or has found nothing for long enough.
  //
  // A run ends with the first request that finds nothing, so most runs are short. Budgets are in
  // runs and events and not in time: equal steps give equal plans.

  /** More size classes than this are not for a search like this. */
  private static final int MAX_CLASSES = 1024;

  /** About so many lives of the latest steps are looked at. */
  private static final int MAX_LIVES = 12_000;

  private static final long MAX_EVENTS = 250_000_000;
  private static final int MAX_IDLE_RUNS = 120_000;
  private static final int MAX_MOVES = 3;
  private static final int MOVE_CLASSES = 6;
  private static final long SEED = 0x9E3779B97F4A7C15L;

  private static final MemoryStrategy[] STRATEGIES = {
    MemoryStrategy.GREEDY_BY_BREADTH, MemoryStrategy.GREEDY_BY_SIZE, MemoryStrategy.GREEDY_IN_ORDER
  };

  private final LifetimePlan plan;
  private final int intervalBytes;

  /** The lives that are looked at. */
  private final List<AllocStats> lives;

  /** Chunk bytes of the classes that occur, ascending. */
  private final long[] chunkBytes;

  /** By life: its class. */
  private final int[] classes;

  /** The number of a life that begins, or its complement where it ends. */
  private final int[] events;

  private final int[] free;
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
    this.events = Rehearsal.events(lives);
    this.free = new int[chunkBytes.length];
    this.taken = new int[lives.size()];
  }

  /**
   * A plan that serves the latest steps from fewer bytes, or empty if there is none or this is not
   * for such steps: without lives, with alignments of more than 64 bytes, with very many sizes.
   *
   * @param plan what the policies found, and the steps they saw
   */
  static Optional<LifetimePlan> of(LifetimePlan plan) {
    List<AllocStats> lives = latest(plan.steps());
    if (lives.isEmpty()
        || plan.steps().stream()
            .flatMap(List::stream)
            .anyMatch(life -> life.alignment() > Allocator.DEFAULT_ALIGNMENT)) {
      return Optional.empty();
    }
    StepPacking packing = new StepPacking(plan, plan.intervalBytes(), lives);
    return packing.chunkBytes.length > MAX_CLASSES ? Optional.empty() : Optional.of(packing.pack());
  }

  /** The lives of the latest steps: of one at least, and of more while they are not too many. */
  private static List<AllocStats> latest(List<List<AllocStats>> steps) {
    List<AllocStats> lives = new ArrayList<>();
    for (int step = steps.size() - 1; step >= 0; step--) {
      if (!lives.isEmpty() && lives.size() + steps.get(step).size() > MAX_LIVES) {
        break;
      }
      lives.addAll(steps.get(step));
    }
    return lives;
  }

  private long chunkBytes(AllocStats life) {
    return LifetimePolicy.chunkBytes(
        LifetimePolicy.index(life.sizeBytes(), intervalBytes), intervalBytes);
  }

  private LifetimePlan pack() {
    List<TensorUsageRecord> records = new ArrayList<>();
    for (AllocStats life : lives) {
      records.add(
          new TensorUsageRecord(
              chunkBytes(life), life.beginTick(), Math.max(life.beginTick(), life.endTick() - 1)));
    }
    int[] best = null;
    for (MemoryStrategy strategy : STRATEGIES) {
      int[] blocks = shrink(repair(blocksOf(strategy.assignObjects(records))));
      if (best == null || totalBytes(blocks) < totalBytes(best)) {
        best = blocks;
      }
    }
    return planOf(walk(best, LowerBounds.objectsBytes(records)));
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
    System.arraycopy(blocks, 0, free, 0, blocks.length);
    for (int i = 0; i < events.length; i++) {
      int event = events[i];
      if (event < 0) {
        free[taken[~event]]++;
        continue;
      }
      int found = classes[event];
      while (found < free.length && free[found] == 0) {
        found++;
      }
      if (found == free.length) {
        lackingClass = classes[event];
        eventsLeft -= i;
        return false;
      }
      free[found]--;
      taken[event] = found;
    }
    eventsLeft -= events.length;
    return true;
  }

  private int[] repair(int[] blocks) {
    while (!serves(blocks)) {
      int smaller = lackingClass - 1;
      while (smaller >= 0 && free[smaller] == 0) {
        smaller--;
      }
      if (smaller >= 0) {
        blocks[smaller]--;
      }
      blocks[lackingClass]++;
    }
    return blocks;
  }

  private int[] shrink(int[] blocks) {
    for (int from = blocks.length - 1; from >= 0; from--) {
      while (blocks[from] > 0 && eventsLeft > 0 && shrinkOne(blocks, from)) {
        // Once more.
      }
    }
    return blocks;
  }

  /** Drops a block of a class, or makes it as small as can be. */
  private boolean shrinkOne(int[] blocks, int from) {
    blocks[from]--;
    if (serves(blocks)) {
      return true;
    }
    for (int to = 0; to < from; to++) {
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
    int[] best = start;
    long bestBytes = totalBytes(best);
    int idleRuns = 0;
    while (bestBytes > boundBytes && idleRuns < MAX_IDLE_RUNS && eventsLeft > 0) {
      int[] next = moved(best, random);
      long bytes = totalBytes(next);
      idleRuns++;
      if (bytes <= bestBytes && serves(next)) {
        idleRuns = bytes < bestBytes ? 0 : idleRuns;
        best = next;
        bestBytes = bytes;
      }
    }
    return best;
  }

  private int[] moved(int[] blocks, SplittableRandom random) {
    int[] next = blocks.clone();
    for (int moves = 1 + random.nextInt(MAX_MOVES); moves > 0; moves--) {
      int from = random.nextInt(next.length);
      while (next[from] == 0) {
        from = random.nextInt(next.length);
      }
      next[from]--;
      int to = from + random.nextInt(-MOVE_CLASSES, MOVE_CLASSES + 1);
      next[Math.max(0, Math.min(next.length - 1, to))]++;
    }
    return next;
  }

  private long totalBytes(int[] blocks) {
    long total = 0;
    for (int i = 0; i < blocks.length; i++) {
      total += blocks[i] * chunkBytes[i];
    }
    return total;
  }

  private LifetimePlan planOf(int[] blocks) {
    List<Integer> larger = new ArrayList<>();
    List<BinPlan> bins = new ArrayList<>();
    for (int i = blocks.length - 1; i >= 0; i--) {
      int index = LifetimePolicy.index(chunkBytes[i], intervalBytes);
      bins.add(
          0, new BinPlan(index, chunkBytes[i], Allocator.DEFAULT_ALIGNMENT, blocks[i], larger));
      if (blocks[i] > 0) {
        larger.add(0, index);
      }
    }
    return new LifetimePlan(
        intervalBytes, totalBytes(blocks), bins, plan.steps(), plan.concurrentSteps());
  }
}
