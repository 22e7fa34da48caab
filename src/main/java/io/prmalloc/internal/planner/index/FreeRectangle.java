package io.prmalloc.internal.planner.index;

/**
 * A rectangle of time and addresses in which nothing lies, as large as it can be: a tensor, or the
 * edge of the plane, touches each of its four sides.
 *
 * <p>Threading: immutable.
 *
 * @param first its first tick
 * @param last its last tick
 * @param floorFirst the first of its ticks in which a tensor ends at {@code start}
 * @param floorLast the last of these; there may be others between them in which none does
 * @param roofFirst the first of its ticks in which a tensor begins at {@code end}
 * @param roofLast the last of these
 * @param start its lowest address
 * @param end the address above it, {@link GapCursor#FOREVER} if nothing lies above
 */
record FreeRectangle(
    int first,
    int last,
    int floorFirst,
    int floorLast,
    int roofFirst,
    int roofLast,
    long start,
    long end) {

  /** Nothing lies anywhere. */
  static FreeRectangle plane(int ticks) {
    return new FreeRectangle(0, ticks - 1, 0, ticks - 1, 0, ticks - 1, 0, GapCursor.FOREVER);
  }

  /** Up to an address, where a tensor begins that lives from one tick to another. */
  FreeRectangle below(long address, int from, int to) {
    return new FreeRectangle(
        first,
        last,
        floorFirst,
        floorLast,
        Math.max(first, from),
        Math.min(last, to),
        start,
        address);
  }

  /** From an address on, where a tensor ends that lives from one tick to another. */
  FreeRectangle above(long address, int from, int to) {
    return new FreeRectangle(
        first, last, Math.max(first, from), Math.min(last, to), roofFirst, roofLast, address, end);
  }

  /** With one more tensor on its floor, that lives from one tick to another. */
  FreeRectangle withFloor(int from, int to) {
    return new FreeRectangle(
        first,
        last,
        Math.min(floorFirst, Math.max(first, from)),
        Math.max(floorLast, Math.min(last, to)),
        roofFirst,
        roofLast,
        start,
        end);
  }

  /** With one more tensor on its roof, that lives from one tick to another. */
  FreeRectangle withRoof(int from, int to) {
    return new FreeRectangle(
        first,
        last,
        floorFirst,
        floorLast,
        Math.min(roofFirst, Math.max(first, from)),
        Math.max(roofLast, Math.min(last, to)),
        start,
        end);
  }
}
