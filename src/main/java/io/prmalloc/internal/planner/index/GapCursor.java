package io.prmalloc.internal.planner.index;

/**
 * Walks upwards over what is free in some stretch of time. Of the free spans it shows only those
 * with room enough above a given place.
 *
 * <p>Threading: not safe.
 */
abstract class GapCursor {

  /** Where the last span lasts to. */
  static final long FOREVER = Long.MAX_VALUE;

  /** Where the span it stands at begins. */
  long start;

  /** Where the span it stands at ends, {@link #FOREVER} at the last. */
  long end;

  /**
   * Moves on to the first span, from the present one on, that has room above a place: {@code end −
   * max(start, from) ≥ size}. There always is one.
   */
  final void seek(long from, long size) {
    if (end - Math.max(start, from) < size) {
      advance(from, size);
    }
  }

  /** Moves on to the first such span behind the present one. */
  abstract void advance(long from, long size);
}
