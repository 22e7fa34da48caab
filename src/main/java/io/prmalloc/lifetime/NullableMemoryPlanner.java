package io.prmalloc.lifetime;

import io.prmalloc.internal.block.StepSource;
import io.prmalloc.internal.lifecycle.PlanListener;
import io.prmalloc.internal.lifecycle.PlannerBinding;
import java.util.Optional;

/**
 * A planner that never plans: the allocator behaves as if there were none.
 *
 * <p>DeepRec's {@code NullableMemoryPlanner}, chosen by {@code ENABLE_MEMORY_OPTIMIZATION=false}.
 *
 * <p>Threading: stateless.
 */
final class NullableMemoryPlanner extends MemoryPlanner implements PlannerBinding {

  NullableMemoryPlanner() {}

  @Override
  OpenStep openStep() {
    return null;
  }

  /** {@inheritDoc} Here: always null. */
  @Override
  public Tracked trackAllocate(long alignment, long totalBytes) {
    return null;
  }

  /** {@inheritDoc} Here: does nothing. */
  @Override
  public void trackFree(Tracked tracked) {}

  /** {@inheritDoc} Here: does nothing. */
  @Override
  public void trackFailure(Tracked tracked) {}

  /**
   * {@inheritDoc} Here: any number may be bound, none is ever told anything, and steps ask the
   * last.
   */
  @Override
  public void bind(PlanListener listener, StepSource steps) {
    setSource(steps);
  }

  /** {@inheritDoc} Here: does nothing. */
  @Override
  public void skip() {}

  /** {@inheritDoc} Here: always {@link MemoryPlanner.Phase#DISABLED}. */
  @Override
  public Phase phase() {
    return Phase.DISABLED;
  }

  /** {@inheritDoc} Here: always 0. */
  @Override
  public int packedSteps() {
    return 0;
  }

  /** {@inheritDoc} Here: always 0. */
  @Override
  public int failures() {
    return 0;
  }

  /** {@inheritDoc} Here: always empty. */
  @Override
  public Optional<String> lastFailure() {
    return Optional.empty();
  }
}
