/**
 * The pool: serves planned tensors from one reservation, without system calls, page faults or
 * zeroing. A handle costs no heap if it does not escape its method.
 *
 * <p>Users build a {@link io.prmalloc.pool.TensorPoolAllocator} with a {@link
 * io.prmalloc.pool.TensorPoolBuilder}. A request is served in this order:
 *
 * <ol>
 *   <li>The fast path takes the first free block that the free index has for the caller ({@code
 *       internal.freelist}): a slot of a slab for a small request ({@code internal.slab}), a chunk
 *       of the arena for a planned one ({@code internal.arena}).
 *   <li>The {@code SlowPath} asks the caller's step ({@code internal.steps}), then for another
 *       block of the pool, then the live heap ({@code internal.extent}).
 * </ol>
 *
 * <p>{@code RawAddresses} does the same for requests by address. Read the other classes in this
 * order:
 *
 * <ol>
 *   <li>{@code StepPool} is the pool as planned steps use it.
 *   <li>{@code PlanSwitchOver} puts plans in force and replaces them.
 *   <li>{@code Growth} gives a bin more blocks.
 *   <li>{@code RefusedRequests} tries refused requests again, and {@code Reclaim} gives memory back
 *       for them.
 *   <li>{@code OverProvisionMonitor} sees that a plan is too large.
 *   <li>{@code PoolMaintenance} does the periodic work.
 *   <li>{@code PoolAccounting} finds the owner of an address and adds up the statistics.
 *   <li>{@code EarlyInitialization} initializes the classes that requests need.
 * </ol>
 *
 * <p>Settings and figures:
 *
 * <ul>
 *   <li>{@link io.prmalloc.pool.PoolPolicies} says which plans compete, and {@link
 *       io.prmalloc.pool.PlanComparison} compares them on paper.
 *   <li>{@link io.prmalloc.pool.LeakDetection} says what is watched for leaks, and {@link
 *       io.prmalloc.pool.Leak} is one that was found.
 *   <li>{@code RecordProperty} starts recordings by a system property.
 *   <li>{@link io.prmalloc.pool.TensorPoolFactory} registers the pool by name.
 *   <li>{@link io.prmalloc.pool.PoolSnapshot} has all figures: {@link io.prmalloc.pool.PoolStats},
 *       {@link io.prmalloc.pool.StepStats}, {@link io.prmalloc.pool.EngineStats}. {@code
 *       PoolReport} is a table of them. {@link io.prmalloc.pool.TensorPoolMXBean}, implemented by
 *       {@code PoolBean}, shows them by JMX.
 * </ul>
 *
 * <p>Invariants: a request is served by one block, which no other request has; no block is lost
 * when plans are exchanged; before a request is refused, memory that the pool does not use goes
 * back.
 *
 * <p>May use: every other package but the adapters.
 *
 * <p>Glossary:
 *
 * <dl>
 *   <dt>fast path
 *   <dd>the code of a request that finds a free block at the first look; all else is the <em>slow
 *       path</em>
 *   <dt>free, claimed, allocated
 *   <dd>the states of a block. A <em>claimed</em> block is owned by one thread, and its use has not
 *       begun
 *   <dt>free index
 *   <dd>the words of bits that note which blocks are free. Bits are hints; a block's state decides
 *   <dt>stripe
 *   <dd>a group of threads that write to memory of their own. The blocks of a plan, slabs and the
 *       live heap each have a division of their own
 *   <dt>local and remote bits
 *   <dd>the bits of a stripe that its own threads set, and those that other stripes' threads set.
 *       They do what a <em>magazine</em> and a <em>remote free list</em> do in other allocators
 *   <dt>retained slab
 *   <dd>an exhausted slab that is kept for a stripe whose slots other threads close
 *   <dt>initial partition
 *   <dd>the division of a new plan's blocks among stripes
 *   <dt>plan switch-over
 *   <dd>the moment from which requests use another plan
 *   <dt>maintenance
 *   <dd>the periodic work in the background: purging, trimming, and the checks of the plan
 *   <dt>over-provision monitor
 *   <dd>sees that a plan has more memory than its traffic needs
 *   <dt>observer registry
 *   <dd>the observers of requests: leak detection, recordings, plans that are learnt
 *   <dt>pool accounting
 *   <dd>adds up statistics, and finds the owner of an address
 *   <dt>no-inline
 *   <dd>a recursion depth that keeps the JIT from inlining a method
 *   <dt>draining plan
 *   <dd>a plan that was replaced and still has blocks in use
 *   <dt>miss, null bin
 *   <dd>a planned request that found all its bins empty, and one whose size no bin has
 *   <dt>load
 *   <dd>the most bytes in use at the same time, the least that any plan needs
 * </dl>
 */
package io.prmalloc.pool;
