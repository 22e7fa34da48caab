/**
 * Placement in an order, and searches for better orders. Tensors get their offsets one after the
 * other, each in the tightest gap that is free, so the order determines the plan.
 *
 * <p>The placement rule, the two fixed orders and the two searches are those of the
 * HeuristicAllocator project, which plans training steps on phones. {@link
 * io.prmalloc.plan.heuristic.HeuristicPlanner} places in a fixed order, {@link
 * io.prmalloc.plan.heuristic.OrderSearch} looks for a better one.
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.plan}, {@code io.prmalloc.internal.planner}
 * and {@code internal.block} (argument checks).
 *
 * <p>Conventions: those of {@code io.prmalloc.plan}; sizes count as rounded up to 64 bytes.
 */
package io.prmalloc.plan.heuristic;
