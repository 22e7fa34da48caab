package io.prmalloc.kept;

import io.prmalloc.lifetime.LifetimePlan;
import java.util.List;

/**
 * The plan of a shared pool.
 *
 * <p>Threading: immutable.
 *
 * @param plan the bins of the policy that won; its steps are not kept
 * @param reservedBlocks how many blocks each bin is to have, by position in the plan: those of the
 *     plan and those that the rehearsal added
 * @param loadBytes the most bytes that lived at a time in the steps it was learnt from, headers
 *     included; 0 if that is not known
 */
public record KeptPool(LifetimePlan plan, List<Integer> reservedBlocks, long loadBytes) {

  /**
   * Threading: any thread.
   *
   * @throws PlanFormatException if these are no plan; the message says why
   */
  public KeptPool {
    plan =
        new LifetimePlan(
            plan.intervalBytes(),
            plan.totalBytes(),
            plan.bins(),
            List.of(),
            plan.concurrentSteps());
    reservedBlocks = List.copyOf(reservedBlocks);
    PlanCheck.check(plan, reservedBlocks, loadBytes);
  }

  /**
   * Of a load that is not known. Threading: any thread.
   *
   * @throws PlanFormatException if these are no plan; the message says why
   */
  public KeptPool(LifetimePlan plan, List<Integer> reservedBlocks) {
    this(plan, reservedBlocks, 0);
  }

  /** The same plan, learnt from such a load. Threading: any thread. */
  public KeptPool withLoadBytes(long bytes) {
    return new KeptPool(plan, reservedBlocks, bytes);
  }
}
