/**
 * The pool: serves tensors from the blocks that the planner worked out, without a system call, a
 * page fault or garbage.
 *
 * <p>{@link io.prmalloc.pool.TensorPoolAllocator} is what users build, with a {@link
 * io.prmalloc.pool.TensorPoolBuilder}. Its fast path takes the first free block that is noted for
 * the caller ({@code internal.freelist}): a small request one of a slab ({@code internal.slab}), a
 * planned one a chunk of the arena ({@code internal.arena}). What it does not find is for the
 * {@code SlowPath}: the step of the caller ({@code internal.steps}), another block of the pool, the
 * live heap ({@code internal.extent}). {@code RawAddresses} does the same by address.
 *
 * <p>Around that: {@code PlanSwitchOver} puts plans in force and replaces them, {@code Growth}
 * gives a bin more blocks, {@code Reclaim} gives memory back before a request is refused, {@code
 * OverProvisionMonitor} looks whether a plan is too large, {@code PoolMaintenance} does what must
 * be done from time to time, {@code PoolAccounting} knows what lies where and adds up what the pool
 * tells of itself.
 *
 * <p>May use: every other package but the adapters.
 *
 * <p>Glossary: a block is <em>free</em>, <em>claimed</em> (one thread has it, its use has not
 * begun) or <em>allocated</em>; the <em>fast path</em> finds a free block at the first look; a
 * <em>stripe</em> is a group of threads with memory of its own to write to; the <em>remote</em>
 * bits of a stripe are those that other stripes' threads set; a <em>retained slab</em> is exhausted
 * and kept for a thread whose slots others close; a <em>draining plan</em> was replaced and still
 * has blocks in use; the <em>plan switch-over</em> is the moment from which requests find another
 * plan.
 */
package io.prmalloc.pool;
