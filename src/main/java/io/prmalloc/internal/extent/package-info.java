/**
 * The live heap: serves requests of more than 32 KiB that no plan serves.
 *
 * <p>Read {@code LiveHeap} first (regions, limits, purging), then {@code HeapShard} (the regions of
 * one stripe, under one lock) and {@code ExtentMap} (which pages of a region are free). {@code
 * SourceBesideHeap} reserves memory for others; if it is refused, the heap gives back empty regions
 * first. {@code Backoff} keeps plans from taking the same memory again and again.
 *
 * <p>Invariants: extents do not overlap, and coalesce when they are free; a page that is being
 * purged cannot be allocated; no lock is held meanwhile.
 */
package io.prmalloc.internal.extent;
