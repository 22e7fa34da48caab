/**
 * Learning: which lifetimes tensors have, and how few blocks can hold them all.
 *
 * <p>{@link io.prmalloc.lifetime.MemoryPlanner} numbers the steps, stamps begin and end of every
 * planned allocation with a logical clock and, at the end of each step, lets every {@link
 * io.prmalloc.lifetime.LifetimePolicy} pack the lives into blocks. When the packing has stopped
 * changing it tells its listener the cheapest plan.
 *
 * <p>A step is a {@link io.prmalloc.lifetime.ScopedMemoryCollector}; what it is asked for itself
 * comes from a {@code internal.block.StepMemory}, in which the way of a planned step is written
 * out.
 *
 * <p>May use: {@code io.prmalloc}. It never knows the pool.
 *
 * <p>Conventions: ticks are logical (a counter of events), lives are closed intervals of ticks,
 * sizes are bytes with the header included. The rules are those of DeepRec's {@code MemoryPlanner};
 * where this package departs from them, the class says so.
 */
package io.prmalloc.lifetime;
