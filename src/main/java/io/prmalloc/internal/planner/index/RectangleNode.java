package io.prmalloc.internal.planner.index;

/**
 * A node of a {@link RectangleTree}, and what its rectangles have in common.
 *
 * <p>Threading: not safe.
 */
final class RectangleNode {

  /** The rectangles of a leaf; null in all other nodes. */
  RectangleList rectangles = new RectangleList();

  /** Where the coordinate is smaller than {@link #split}; null in a leaf. */
  RectangleNode left;

  RectangleNode right;
  int axis;
  long split;

  // All rectangles lie within these.
  private int first;
  private int last;
  private long start;
  private long end;
  // And no life that touches floor and roof of one begins later, or ends earlier.
  private int latestFirst;
  private int earliestLast;

  // The best fit of all, the least height and its lowest start; but rectangles may be passed over
  // in it that were too low for what has been asked for so far: none of these is higher than this.
  private long bestHeight;
  private long bestStart;
  private long passedOver;

  RectangleNode() {
    reset();
  }

  boolean isLeaf() {
    return rectangles != null;
  }

  /** Whether there may be a rectangle that overlaps or touches another from any side. */
  boolean mayTouch(int otherFirst, int otherLast, long otherStart, long otherEnd) {
    return first <= otherLast && last >= otherFirst && start <= otherEnd && end >= otherStart;
  }

  /** Whether there may be a gap of a life. */
  boolean mayHoldLife(int lifeFirst, int lifeLast) {
    return first <= lifeFirst
        && last >= lifeLast
        && latestFirst >= lifeFirst
        && earliestLast <= lifeLast;
  }

  /** Whether a rectangle may have been passed over that has room for a size. */
  boolean isStale(long size) {
    return passedOver >= size;
  }

  /** Whether there may be a better fit than one, if this is not stale. */
  boolean mayBeat(long height, long lowestStart) {
    return bestHeight < height || (bestHeight == height && bestStart < lowestStart);
  }

  boolean mayBeat(RectangleNode other) {
    return mayBeat(other.bestHeight, other.bestStart);
  }

  private void reset() {
    first = Integer.MAX_VALUE;
    last = -1;
    start = Long.MAX_VALUE;
    end = -1;
    latestFirst = -1;
    earliestLast = Integer.MAX_VALUE;
    bestHeight = Long.MAX_VALUE;
    bestStart = Long.MAX_VALUE;
    passedOver = -1;
  }

  /** One more rectangle of a list. */
  void include(RectangleList list, int i, long leastSize) {
    first = Math.min(first, list.first(i));
    last = Math.max(last, list.last(i));
    start = Math.min(start, list.start(i));
    end = Math.max(end, list.end(i));
    latestFirst = Math.max(latestFirst, list.latestFirst(i));
    earliestLast = Math.min(earliestLast, list.earliestLast(i));
    long height = list.height(i);
    if (height < leastSize) {
      passedOver = Math.max(passedOver, height);
    } else if (height < bestHeight || (height == bestHeight && list.start(i) < bestStart)) {
      bestHeight = height;
      bestStart = list.start(i);
    }
  }

  /** Looks at the rectangles of this leaf again, or at its children. */
  void renew(long leastSize) {
    reset();
    if (isLeaf()) {
      for (int i = 0; i < rectangles.size(); i++) {
        include(rectangles, i, leastSize);
      }
    } else {
      include(left);
      include(right);
    }
  }

  private void include(RectangleNode child) {
    first = Math.min(first, child.first);
    last = Math.max(last, child.last);
    start = Math.min(start, child.start);
    end = Math.max(end, child.end);
    latestFirst = Math.max(latestFirst, child.latestFirst);
    earliestLast = Math.min(earliestLast, child.earliestLast);
    passedOver = Math.max(passedOver, child.passedOver);
    if (child.mayBeat(this)) {
      bestHeight = child.bestHeight;
      bestStart = child.bestStart;
    }
  }
}
