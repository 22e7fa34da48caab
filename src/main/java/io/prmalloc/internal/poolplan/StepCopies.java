package io.prmalloc.internal.poolplan;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A plan for steps that run at the same time: the blocks of one step, repeated once for each such
 * step, so that they can be divided and each thread finds all blocks for its steps in its own part.
 *
 * <p>Threading: stateless.
 */
final class StepCopies {

  private StepCopies() {}

  /**
   * A plan of so many copies, or empty if no two steps ran at the same time or {@link StepPacking}
   * does not support them.
   *
   * @param maxOversize as in {@link BinTable#build}
   */
  static Optional<LifetimePlan> of(LifetimePlan made, double maxOversize) {
    int copies = made.concurrentSteps();
    if (copies < 2) {
      return Optional.empty();
    }
    LifetimePlan alone =
        new LifetimePlan(
            made.intervalBytes(), made.totalBytes(), made.bins(), oneByOne(made.steps()), 1);
    return StepPacking.of(alone)
        .map(packed -> times(packed, new Rehearsal(packed, maxOversize).run(), made));
  }

  /** The same steps, one after the other. */
  private static List<List<AllocStats>> oneByOne(List<List<AllocStats>> steps) {
    List<List<AllocStats>> apart = new ArrayList<>();
    long next = 0;
    for (List<AllocStats> step : steps) {
      long later = next - Rehearsal.firstTick(step);
      apart.add(step.stream().map(life -> shifted(life, later)).toList());
      next = Rehearsal.lastTick(step) + later + 1;
    }
    return apart;
  }

  private static AllocStats shifted(AllocStats life, long later) {
    return new AllocStats(
        life.beginTick() + later, life.endTick() + later, life.sizeBytes(), life.alignment());
  }

  /** As many copies of each block as steps were open at the same time. */
  private static LifetimePlan times(LifetimePlan packed, int[] blocks, LifetimePlan made) {
    int copies = made.concurrentSteps();
    List<BinPlan> bins = new ArrayList<>();
    long total = 0;
    for (int i = 0; i < blocks.length; i++) {
      BinPlan bin = packed.bins().get(i);
      total += bin.chunkBytes() * blocks[i] * copies;
      bins.add(
          new BinPlan(
              bin.index(),
              bin.chunkBytes(),
              bin.alignment(),
              blocks[i] * copies,
              bin.virtualTargets()));
    }
    return new LifetimePlan(packed.intervalBytes(), total, bins, made.steps(), copies);
  }
}
