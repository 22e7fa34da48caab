package io.prmalloc.trace.planning;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.trace.TensorLifetimes;
import java.util.List;
import java.util.Optional;

/**
 * Whether the fixed offsets of tensors can be kept, which shows before they are planned.
 *
 * <p>Threading: stateless.
 */
final class FixedOffsets {

  private FixedOffsets() {}

  /**
   * Why the fixed offsets of some tensors cannot be kept in one memory.
   *
   * @param some by their places in the step
   * @return which two use the same bytes at the same time; empty if none do
   */
  static Optional<String> fault(TensorLifetimes tensors, List<Integer> some) {
    List<Integer> fixed =
        some.stream()
            .filter(i -> tensors.records().get(i).constraints().offset().isPresent())
            .toList();
    List<TensorUsageRecord> records = fixed.stream().map(tensors.records()::get).toList();
    long[] offsets =
        records.stream().mapToLong(r -> r.constraints().offset().orElseThrow()).toArray();
    return PlanValidator.fault(
        records, OffsetsAssignment.of(records, offsets, 1), i -> tensors.shownId(fixed.get(i)));
  }
}
