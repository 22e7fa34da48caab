package io.prmalloc.internal.steps;

import io.prmalloc.pool.StepStats;

/**
 * {@link StepStats} that are being added up.
 *
 * <p>Threading: not safe.
 */
final class StepStatsSum {
  long plannedSteps;
  long departedSteps;
  long unplannedSteps;
  long replans;
  int plans;
  int arenas;
  long arenaBytes;
  long raisedPlans;
  long loweredPlans;
  long departedRequests;

  void add(StepStatsSum other) {
    plannedSteps += other.plannedSteps;
    departedSteps += other.departedSteps;
    unplannedSteps += other.unplannedSteps;
    replans += other.replans;
    plans += other.plans;
    arenas += other.arenas;
    arenaBytes += other.arenaBytes;
    raisedPlans += other.raisedPlans;
    loweredPlans += other.loweredPlans;
    departedRequests += other.departedRequests;
  }

  StepStats toStats() {
    return new StepStats(
        plannedSteps,
        departedSteps,
        unplannedSteps,
        replans,
        plans,
        arenas,
        arenaBytes,
        raisedPlans,
        loweredPlans,
        departedRequests);
  }
}
