/**
 * The live heap: what no plan serves, over 32 KiB.
 *
 * <p>Read {@code LiveHeap} first (regions, limits, purging), then {@code HeapShard} (the regions of
 * one stripe, under one lock) and {@code ExtentMap} (which pages of a region are free). {@code
 * SourceBesideHeap} reserves for others what the heap may have to give back first.
 *
 * <p>Invariants: extents do not overlap and coalesce when they are free; a page that is being
 * purged is nobody's; no lock is held meanwhile.
 */
package io.prmalloc.internal.extent;
