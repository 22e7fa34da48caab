package io.prmalloc.pool;

import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.LifetimePlan;
import java.util.Arrays;
import java.util.Optional;

/**
 * Chooses between the plan of the lifetime policies and others for the same steps, each with the
 * blocks it takes for those steps to find one for every request.
 *
 * <p>Threading: stateless.
 */
final class PlanChoice {

  private PlanChoice() {}

  /**
   * The plan of fewer bytes, added blocks included.
   *
   * @param made what the policies found
   * @param maxOversize as in {@link BinTable#build}
   */
  static KeptPool best(LifetimePlan made, PoolPolicies policies, double maxOversize) {
    KeptPool best = rehearsed(made, maxOversize);
    Optional<LifetimePlan> packed =
        policies == PoolPolicies.REFERENCE ? Optional.empty() : StepPacking.of(made);
    if (packed.isPresent()) {
      KeptPool other = rehearsed(packed.get(), maxOversize);
      if (bytes(other) < bytes(best)) {
        return other;
      }
    }
    return best;
  }

  private static KeptPool rehearsed(LifetimePlan plan, double maxOversize) {
    int[] blocks = new Rehearsal(plan, maxOversize).run();
    return new KeptPool(plan, Arrays.stream(blocks).boxed().toList());
  }

  /** About how many bytes the arena of a plan has. */
  static long bytes(KeptPool pool) {
    return BinTable.chunkBytes(pool.plan(), blocks(pool));
  }

  /** The blocks of each bin, by position. */
  static int[] blocks(KeptPool pool) {
    return pool.reservedBlocks().stream().mapToInt(Integer::intValue).toArray();
  }
}
