package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.poolplan.PlanChoice;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.internal.steps.StepKinds;
import io.prmalloc.internal.steps.StepSequence;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Merges the plans of two pools into the one to be shared.
 *
 * <p>Threading: stateless.
 */
final class PlanMerge {

  // Of two plans for the same, the better one is that of the larger load, for it serves larger or
  // more steps; of equal loads, that of fewer bytes. This is a total order. So the shared plan only
  // improves, and stops changing, whatever replicas publish in whatever order.

  private static final int MAX_STEPS = StepKinds.MAX_KINDS * KeyedSteps.MAX_STRUCTURES;

  private PlanMerge() {}

  /**
   * The shared plan, with the plans that are better or missing there; equal to {@code shared} if
   * there are none.
   */
  static KeptPlan merge(KeptPlan shared, KeptPlan own) {
    Optional<KeptPool> pool =
        own.pool().filter(mine -> shared.pool().map(its -> isBetter(mine, its)).orElse(true));
    List<KeptStep> steps = new ArrayList<>(shared.steps());
    own.steps().stream().filter(KeptStep::canBeKept).forEach(step -> add(step, steps));
    return new KeptPlan(pool.or(shared::pool), steps);
  }

  private static boolean isBetter(KeptPool one, KeptPool other) {
    return isBetter(
        one.loadBytes(), PlanChoice.bytes(one), other.loadBytes(), PlanChoice.bytes(other));
  }

  private static boolean isBetter(long load, long bytes, long otherLoad, long otherBytes) {
    return load != otherLoad ? load > otherLoad : bytes < otherBytes;
  }

  private static void add(KeptStep step, List<KeptStep> steps) {
    int structures = 0;
    for (int i = 0; i < steps.size(); i++) {
      KeptStep other = steps.get(i);
      if (Objects.equals(step.key(), other.key()) && step.isImplicit() == other.isImplicit()) {
        structures++;
        if (isSameStructure(step, other)) {
          if (isBetter(loadBytes(step), bytes(step), loadBytes(other), bytes(other))) {
            steps.set(i, step);
          }
          return;
        }
      }
    }
    if (structures < KeyedSteps.MAX_STRUCTURES && steps.size() < MAX_STEPS) {
      steps.add(step);
    }
  }

  /** Whether one plan for both hardly needs more than that of the larger; as in a pool. */
  private static boolean isSameStructure(KeptStep one, KeptStep other) {
    List<TensorUsageRecord> longer = one.records();
    List<TensorUsageRecord> shorter = other.records();
    if (longer.size() < shorter.size()) {
      longer = other.records();
      shorter = one.records();
    }
    List<TensorUsageRecord> both = new ArrayList<>(longer);
    for (int request = 0; request < shorter.size(); request++) {
      TensorUsageRecord a = longer.get(request);
      TensorUsageRecord b = shorter.get(request);
      both.set(
          request,
          new TensorUsageRecord(
              Math.max(a.sizeBytes(), b.sizeBytes()),
              request,
              Math.max(a.lastTask(), b.lastTask())));
    }
    long most = Math.max(loadBytes(one), loadBytes(other));
    return LowerBounds.loadBytes(both) <= StepSequence.SAME * most;
  }

  private static long loadBytes(KeptStep step) {
    return LowerBounds.loadBytes(step.records());
  }

  private static long bytes(KeptStep step) {
    long[] offsets = step.offsets();
    long[] sizes = step.sizesBytes();
    long most = 0;
    for (int request = 0; request < sizes.length; request++) {
      most = Math.max(most, offsets[request] + sizes[request]);
    }
    return most;
  }
}
