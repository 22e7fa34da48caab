/**
 * The strategies of static planning, behind {@link io.prmalloc.plan.MemoryStrategy}: those of
 * TensorFlow Lite, exactly.
 *
 * <p>Read in this order:
 *
 * <ol>
 *   <li>{@code GreedyBySizeOffsets}: tensors at offsets of one arena; {@code ZeroSizeOffsets} for
 *       those without a size. {@code BestFitOffsets} is the same in an order of the caller's.
 *   <li>{@code ConstrainedPlacer} and {@code ConstrainedProblem}: the same under constraints.
 *   <li>{@code ObjectsStrategy} and {@code ShapesStrategy}: the interfaces of the strategies by
 *       which tensors share whole blocks.
 *   <li>{@code GreedyBySizeStrategy}, {@code GreedyByBreadthStrategy}, {@code
 *       GreedyInOrderStrategy}, {@code GreedyInOrderOfShapes}, {@code GreedyBestStrategy}, {@code
 *       EqualityStrategy}, {@code MinCostFlowStrategy}, {@code NaiveStrategy}: one for each
 *       constant of {@code MemoryStrategy}. {@code ObjectPool} and {@code Schedule} say which
 *       tensor has which object.
 *   <li>{@code PlanMemory}: the memory of a plan.
 *   <li>{@code Interrupts} stops a planner whose thread was interrupted; {@code LongPairs} is a
 *       list of intervals.
 * </ol>
 *
 * <p>Invariants: tensors are numbered as in {@code Lives}; ties are broken as in the original.
 */
package io.prmalloc.internal.planner;
