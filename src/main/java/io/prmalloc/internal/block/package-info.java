/**
 * One block of memory that is allocated and freed again and again, and what every other internal
 * package needs of it.
 *
 * <p>Read in this order:
 *
 * <ol>
 *   <li>{@code Block}: its state word says whether it is free and which use it is in, and a handle
 *       is a block and the stamp of one use. {@code CacheLinePadding} lies in front of its fields.
 *       {@code Handles} makes handles of it. {@code HeapBlock} is a block outside of any plan.
 *   <li>{@code StepMemory}: the memory of one step, whose blocks one thread owns for a time. {@code
 *       StepSource} is the allocator behind it.
 *   <li>{@code HeaderDescriptor}: the header in front of a raw address.
 *   <li>{@code AddressDirectory} and {@code AddressTable}: the owner of an address is looked up.
 *   <li>{@code Requests}: the argument checks of all allocators. {@code Retry} waits for memory and
 *       tries again, {@code AllocationLog} logs requests that ask for it.
 *   <li>{@code BlockIsolation}: what overwrites and checks the memory of a block.
 *   <li>{@code PoolObserver} and {@code Observation}: they report uses to observers; {@code
 *       TolerantObserver} logs what an observer throws. {@code EndListener} is told of the end of
 *       one use.
 *   <li>{@code ReservationGate} lets refused requests go before plans.
 *   <li>{@code Stripes} (threads divided into a few groups), {@code SpinLock} (how a lock is taken
 *       that is held for a moment), {@code NoInline} (why handles cost no heap), {@code PoolCounts}
 *       (sums over blocks), {@code Retirable} (a part of a pool that can be closed if nothing of it
 *       is in use), {@code Failures} (several actions that must all run), {@code SafeLog} (a log
 *       that does no harm).
 * </ol>
 *
 * <p>Invariants: of several threads that claim a block one gets it. Of two concurrent closes one
 * wins and the other throws. In a planned step both may return if one is by the step's own thread;
 * the memory is freed once. No two uses of a block have the same stamp.
 */
package io.prmalloc.internal.block;
