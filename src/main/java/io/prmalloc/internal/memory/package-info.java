/**
 * Where allocators get their memory: the kinds of {@link io.prmalloc.SubAllocator}.
 *
 * <p>Read {@code LimitedSubAllocator} first (what all kinds share: the limit, and the books), then
 * {@code DirectSubAllocator}, {@code MmapSubAllocator} and {@code MallocSubAllocator}. {@code
 * DeferredFreeSubAllocator} keeps what the system would not take back, and tries again. {@code
 * RegionHeap} serves each request by a region of its own.
 *
 * <p>Invariants: what is reserved is counted before it is asked for, so a limit is never passed; a
 * region is freed once.
 */
package io.prmalloc.internal.memory;
