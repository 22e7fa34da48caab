package io.prmalloc.plan;

/** The way of one {@link MemoryStrategy} with sizes in bytes. Threading: as the strategy. */
interface ObjectsStrategy {
  /** A plan in the order of {@code lives}. */
  ObjectsAssignment assign(Lives lives);
}
