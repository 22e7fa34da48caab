/**
 * The kinds of {@link io.prmalloc.SubAllocator}, from which allocators get their memory.
 *
 * <p>Read {@code LimitedSubAllocator} first (the limit and the accounting of all kinds), then
 * {@code OwnRegions} (the regions that were given out, each freed once), {@code
 * DirectSubAllocator}, {@code MmapSubAllocator} and {@code MallocSubAllocator}. Others wrap one of
 * these: {@code VisitedSubAllocator} calls visitors for every region, {@code SoftLimitSubAllocator}
 * reports when a soft limit is passed, and {@code DeferredFreeSubAllocator} keeps regions that the
 * system does not take back, and tries again. {@code RegionHeap} serves each request by a region of
 * its own.
 *
 * <p>Invariants: bytes are counted before the system is asked for them, so a limit is never
 * exceeded; a region is freed once.
 */
package io.prmalloc.internal.memory;
