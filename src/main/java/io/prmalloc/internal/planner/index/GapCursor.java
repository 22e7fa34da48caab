package io.prmalloc.internal.planner.index;

/**
 * Iterates over the free spans of a range of time, by ascending address. It leaves out spans that
 * have too little room above a given address.
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
