/**
 * Learning: collects the lifetimes of tensors, and packs them into as few blocks as possible.
 *
 * <ol>
 *   <li>{@link io.prmalloc.lifetime.MemoryPlanner} numbers the steps, and stamps the begin and end
 *       of every planned allocation with a logical clock.
 *   <li>At the end of each step every {@link io.prmalloc.lifetime.LifetimePolicy} packs the lives
 *       into blocks.
 *   <li>When the packing has stopped changing, the planner gives the cheapest plan to its listener.
 * </ol>
 *
 * <p>A step is a {@link io.prmalloc.lifetime.ScopedMemoryCollector}. Memory that is asked of the
 * step itself comes from an {@code internal.block.StepMemory}.
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.internal.block}, {@code internal.jfr} and
 * {@code internal.lifecycle}. It does not depend on the pool.
 *
 * <p>Conventions: ticks are logical (a counter of events), lives are closed intervals of ticks,
 * sizes are bytes with the header included. The rules are those of DeepRec's {@code MemoryPlanner};
 * where this package departs from them, the class says so.
 */
package io.prmalloc.lifetime;
