package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;

/** The way of one {@link MemoryStrategy} with sizes in bytes. Threading: as the strategy. */
public interface ObjectsStrategy {
  /** A plan in the order of {@code lives}. */
  ObjectsAssignment assign(Lives lives);
}
