package io.prmalloc.pool;

/**
 * How the steps of a pool were served, all counted since it was built; see {@link
 * TensorPoolAllocator#collect(Object)}. Steps that asked for nothing do not count, nor do steps
 * whose thread asks the pool while no plan of such steps serves: for them there is nothing to be
 * planned but what the pool's own plan holds.
 *
 * <p>Threading: immutable.
 *
 * @param plannedSteps steps that leased an arena, departed ones among them
 * @param departedSteps steps that leased an arena and had a request that was not served from it:
 *     one that was larger than planned, or more than were planned, or found its place still in use;
 *     and those that were ended by another thread
 * @param unplannedSteps steps that asked for an arena and got none: those that were learnt from,
 *     those of which there is no plan, and those that found no arena free
 * @param replans how often a plan was replaced because it was too low or too high, and how often
 *     steps were learnt anew because they departed from all plans too often
 * @param plans structures of steps for which there is a plan now
 * @param arenas arenas that are reserved now
 * @param arenaBytes bytes of them
 * @param raisedPlans how often a plan was replaced by one for larger or longer steps
 * @param loweredPlans how often a plan was replaced by a smaller one, because large steps stayed
 *     away
 * @param departedRequests requests of the departed steps that were served from elsewhere
 */
public record StepStats(
    long plannedSteps,
    long departedSteps,
    long unplannedSteps,
    long replans,
    int plans,
    int arenas,
    long arenaBytes,
    long raisedPlans,
    long loweredPlans,
    long departedRequests) {}
