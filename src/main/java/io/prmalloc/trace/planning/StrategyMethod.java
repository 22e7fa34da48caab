package io.prmalloc.trace.planning;

import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.trace.TensorLifetimes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
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
  public Plan plan(PlanKind kind, TensorLifetimes tensors, PlanOptions options)
      throws TimeoutException, InterruptedException {
    FutureTask<Plan> task = new FutureTask<>(() -> plan(kind, tensors, options.alignment()));
    Thread thread = new Thread(task, "prmalloc-" + label());
    // Nobody waits for it at the end; it stops soon after the interrupt.
    thread.setDaemon(true);
    thread.start();
    try {
      Optional<Duration> timeout = options.timeout();
      return timeout.isPresent()
          ? task.get(timeout.get().toNanos(), TimeUnit.NANOSECONDS)
          : task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException(e.getCause());
    } finally {
      task.cancel(true);
    }
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
