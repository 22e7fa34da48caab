/**
 * Data structures of static planning: indexes of free space over time and address, and of the
 * tensors that are alive at a time.
 *
 * <p>Read {@code Lives} first, then {@code OffsetIndex} with {@code GapIndex} (few tensors alive at
 * once) and {@code FreeRectangles} (many).
 *
 * <p>Invariants: none of them depends on a strategy.
 */
package io.prmalloc.internal.planner.index;
