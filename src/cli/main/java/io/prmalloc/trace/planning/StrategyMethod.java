package io.prmalloc.trace.planning;

import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.trace.TensorLifetimes;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * One of the {@link MemoryStrategy strategies}.
 *
 * <p>Threading: immutable.
 *
 * @param strategy which
 */
record StrategyMethod(MemoryStrategy strategy) implements PlanMethod {

  @Override
  public String label() {
    return strategy.label();
  }

  @Override
  public boolean isDefined(PlanKind kind, int dimensions) {
    return dimensions == 1 || (kind == PlanKind.OBJECTS && strategy.takesShapes(dimensions));
  }

  @Override
  public Optional<String> ignoringConstraints(PlanKind kind, PlanOptions options) {
    if (!strategy.observesConstraints()) {
      return Optional.of(label());
    }
    return kind == PlanKind.OFFSETS
        ? Optional.empty()
        : Optional.of(label() + " by " + kind.label());
  }

  @Override
  public Plan plan(PlanKind kind, TensorLifetimes tensors, PlanOptions options)
      throws TimeoutException, InterruptedException {
    return TimedPlan.make(
        label(),
        options.timeout(),
        options.watcher()::isCancelled,
        () -> plan(kind, tensors, options.alignment()));
  }

  private Plan plan(PlanKind kind, TensorLifetimes tensors, long alignment) {
    if (kind == PlanKind.OFFSETS) {
      return new Plan.Offsets(
          strategy.assignOffsets(tensors.records(), alignment), Optional.empty());
    }
    return tensors.shapedRecords().isPresent()
        ? new Plan.ShapedObjects(
            strategy.assignShapedObjects(tensors.shapedRecords().orElseThrow()))
        : new Plan.Objects(strategy.assignObjects(tensors.records()));
  }
}
