/**
 * Data structures of static planning: indexes of free space over time and address, and of the
 * tensors that are alive at a time.
 *
 * <p>Read in this order:
 *
 * <ol>
 *   <li>{@code Lives}: the records in the order in which every strategy wants them.
 *   <li>{@code OffsetIndex}: finds the smallest gap for a life and a size.
 *   <li>{@code GapIndex}, if few tensors are alive at once, with {@code GapList}, {@code
 *       GapCursor}, {@code Columns} and {@code PartialList}. {@code PaddedGapIndex} prefers gaps
 *       that begin right where a tensor ends.
 *   <li>{@code FreeRectangles}, if many are, with {@code FreeRectangle}, {@code RectangleTree},
 *       {@code RectangleNode}, {@code RectangleList}, {@code EdgeMap} and {@code EmptyTasks}.
 *   <li>{@code LifeTree} (the tensors alive in a stretch of time), {@code DepthTree} (the most
 *       tensors that are alive at one time), {@code RangeMinimum}, {@code MinimumTree} (the first
 *       number below a bound), {@code ReallocationGraph} (which tensors may follow which in one
 *       object), {@code IndexSort} and {@code Sums}.
 * </ol>
 *
 * <p>Invariants: none of them depends on a strategy.
 */
package io.prmalloc.internal.planner.index;
