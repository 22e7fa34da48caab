/**
 * Data structures of static planning: what is free over time and address, and what lives when.
 *
 * <p>Read {@code Lives} first, then {@code OffsetIndex} with {@code GapIndex} (few tensors alive at
 * once) and {@code FreeRectangles} (many).
 *
 * <p>Invariants: none of them knows a strategy.
 */
package io.prmalloc.internal.planner.index;
