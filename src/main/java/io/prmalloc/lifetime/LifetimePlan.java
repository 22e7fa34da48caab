package io.prmalloc.lifetime;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The result of a planner: the bins of the best policy, and the latest steps it saw.
 *
 * <p>Threading: immutable.
 *
 * @param intervalBytes the step between size classes of the policy
 * @param totalBytes what the policy's blocks add up to
 * @param bins the bins that have blocks or virtual blocks, by index
 * @param steps lives of the latest steps that were collected, oldest step first, in each by end
 * @param concurrentSteps the most steps that were open at the same time while collecting, at least
 *     1
 */
public record LifetimePlan(
    int intervalBytes,
    long totalBytes,
    List<BinPlan> bins,
    List<List<AllocStats>> steps,
    int concurrentSteps) {

  /**
   * One bin of a plan.
   *
   * @param index number of the size class
   * @param chunkBytes bytes of a block
   * @param alignment the largest alignment asked of it
   * @param blocks how many blocks of its own it has, from 0
   * @param virtualTargets indices of the larger bins whose blocks it uses, each once, in the order
   *     of first use
   */
  public record BinPlan(
      int index, long chunkBytes, long alignment, int blocks, List<Integer> virtualTargets) {

    /** Copies the list. */
    public BinPlan {
      virtualTargets = List.copyOf(virtualTargets);
    }
  }

  /** Copies the lists. */
  public LifetimePlan {
    bins = List.copyOf(bins);
    steps = List.copyOf(steps);
  }

  /**
   * What a policy has packed so far.
   *
   * <p>Threading: not safe, as the policy.
   */
  public static LifetimePlan of(
      LifetimePolicy policy, List<List<AllocStats>> steps, int concurrentSteps) {
    List<BinPlan> bins = new ArrayList<>();
    for (LifetimeBin bin : policy.bins()) {
      Set<Integer> targets = new LinkedHashSet<>();
      for (LifetimeBin target : bin.virtualBlocks()) {
        targets.add(target.index());
      }
      bins.add(
          new BinPlan(
              bin.index(),
              bin.chunkBytes(),
              bin.alignment(),
              bin.blocks().size(),
              List.copyOf(targets)));
    }
    return new LifetimePlan(
        policy.intervalBytes(), policy.totalBytes(), bins, steps, concurrentSteps);
  }
}
