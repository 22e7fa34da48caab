package io.prmalloc.pool;

/**
 * How the steps of a pool were served, all counted since it was built; see {@link
 * TensorPoolAllocator#collect(Object)}. Steps that asked for nothing do not count.
 *
 * <p>Threading: immutable.
 *
 * @param plannedSteps steps that leased an arena, departed ones among them
 * @param departedSteps steps that leased an arena and then asked for something else than planned,
 *     or for less, or released a tensor later than planned, or were ended by another thread
 * @param unplannedSteps steps that got no arena: those that were learnt from, those of which there
 *     is no plan, and those that found no arena free
 * @param replans how often a plan was given up because steps departed from it too often
 * @param plans sequences for which there is a plan now
 * @param arenas arenas that are reserved now
 * @param arenaBytes bytes of them
 */
public record StepStats(
    long plannedSteps,
    long departedSteps,
    long unplannedSteps,
    long replans,
    int plans,
    int arenas,
    long arenaBytes) {

  /** A sum in the making. Threading: not safe. */
  static final class Sum {
    long plannedSteps;
    long departedSteps;
    long unplannedSteps;
    long replans;
    int plans;
    int arenas;
    long arenaBytes;

    Sum copy() {
      Sum copy = new Sum();
      copy.plannedSteps = plannedSteps;
      copy.departedSteps = departedSteps;
      copy.unplannedSteps = unplannedSteps;
      copy.replans = replans;
      copy.plans = plans;
      copy.arenas = arenas;
      copy.arenaBytes = arenaBytes;
      return copy;
    }

    StepStats toStats() {
      return new StepStats(
          plannedSteps, departedSteps, unplannedSteps, replans, plans, arenas, arenaBytes);
    }
  }
}
