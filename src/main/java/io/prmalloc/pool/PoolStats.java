package io.prmalloc.pool;

/**
 * How a pool served its requests, counted since it was built.
 *
 * <p>Threading: immutable.
 *
 * @param hits planned requests (over 32 KiB) served from the arena
 * @param misses planned requests whose bin, and every larger one within bounds, was empty: they
 *     were served by the live heap
 * @param nullBins planned requests of a size that the plan has no bin for and no larger bin served
 * @param smallRequests requests of up to 32 KiB, served from slabs
 * @param unpooledRequests requests that the live heap served: misses, null bins, all planned ones
 *     before the plan was there, and those with an alignment no slab has
 * @param policyIntervalBytes the step between size classes of the policy that won; 0 before there
 *     is a plan
 * @param planBytes what that policy's blocks add up to; 0 before there is a plan
 * @param addedBlocks blocks that the rehearsal found lacking and added to the plan's, and those
 *     that bins got later because requests continued to find none
 * @param arenaBytes bytes reserved for the plan, added blocks and alignment included; 0 before
 *     there is a plan
 * @param packedSteps steps that were packed in warm-up so far
 * @param replans how often another plan took the place of the one that served
 */
public record PoolStats(
    long hits,
    long misses,
    long nullBins,
    long smallRequests,
    long unpooledRequests,
    int policyIntervalBytes,
    long planBytes,
    int addedBlocks,
    long arenaBytes,
    int packedSteps,
    int replans) {

  /**
   * Hits per planned request since the plan is there, from 0 to 1; 1 before the first. Threading:
   * any thread.
   */
  public double hitRate() {
    long requests = hits + misses + nullBins;
    return requests == 0 ? 1 : (double) hits / requests;
  }
}
