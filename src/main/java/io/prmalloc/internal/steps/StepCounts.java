package io.prmalloc.internal.steps;

import io.prmalloc.internal.block.PoolCounts;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters of the steps of one kind or structure, including those of freed arenas.
 *
 * <p>Threading: the adders any thread; the rest under the lock of the owner.
 */
final class StepCounts {

  final LongAdder departures = new LongAdder();
  final LongAdder unplannedSteps = new LongAdder();
  final LongAdder replans = new LongAdder();
  final LongAdder raised = new LongAdder();
  final LongAdder lowered = new LongAdder();

  /** Requests that a step with an arena was served from elsewhere. */
  final LongAdder departedRequests = new LongAdder();

  private long stepsOfGoneArenas;
  private final PoolCounts gone = new PoolCounts();

  /** Keeps the counts of an arena whose memory was freed. */
  void forget(StepArena arena) {
    stepsOfGoneArenas += arena.steps();
    arena.addUsesTo(gone);
  }

  void addTo(StepStatsSum sum, List<StepArena> arenas) {
    sum.plannedSteps += stepsOfGoneArenas;
    for (StepArena arena : arenas) {
      sum.plannedSteps += arena.steps();
      sum.arenaBytes += arena.bytes();
    }
    sum.arenas += arenas.size();
    sum.replans += replans.sum() + raised.sum() + lowered.sum();
    sum.raisedPlans += raised.sum();
    sum.loweredPlans += lowered.sum();
    sum.departedRequests += departedRequests.sum();
    sum.departedSteps += departures.sum();
    sum.unplannedSteps += unplannedSteps.sum();
  }

  void addTo(PoolCounts sum, List<StepArena> arenas) {
    sum.addPast(gone);
    arenas.forEach(arena -> arena.addTo(sum));
  }

  void clearLargest(List<StepArena> arenas) {
    gone.largestBytes = 0;
    arenas.forEach(StepArena::clearLargest);
  }
}
