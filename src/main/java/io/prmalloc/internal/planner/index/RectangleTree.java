package io.prmalloc.internal.planner.index;

import java.util.Collection;

/**
 * A set of free rectangles with two questions: which one fits a life and a size best, and which
 * ones touch a place.
 *
 * <p>Threading: not safe.
 */
final class RectangleTree {

  // A k-d tree with leaves of up to 48 rectangles. A full leaf halves its cell along one of three
  // axes: first tick, last tick, start. No two rectangles agree in all three. Cells are halved in
  // the middle, not at the median of what is in them, so the tree needs no rebalancing, whatever
  // comes in which order: no path is longer than the coordinates have bits. The cell of the root
  // doubles when something lies above it.
  //
  // A tree for the best fit splits by time, so that few nodes hold both lives that fit and lives
  // that do not; a tree for places splits where its rectangles are spread the most, measured by
  // their mean extent. Every node knows the bounds of what is below it, and the best fit of all.
  // The search for a life goes first where the best fit is better, and passes over whatever cannot
  // hold the life or beat what it has. Rectangles too low for everything asked for so far do not
  // count in the best fit until a size is asked for that they have room for; sizes mostly descend,
  // so each gets into the count once. That is what keeps the slivers out of the way.

  /** What to split by. */
  enum Order {
    TIME,
    PLACE
  }

  /** Says how tight a rectangle is as a gap of a life. */
  @FunctionalInterface
  interface Tightness {

    /** Of what is no gap of the life. */
    long NO_GAP = -1;

    /**
     * How tight it is for a life between two ticks: its height or more, or {@link #NO_GAP} if no
     * tensors alive then touch floor and roof.
     *
     * <p>Threading: as the tree.
     */
    long of(long start, long end, int first, int last);
  }

  private static final int LEAF_SIZE = 48;
  private static final int FIRST = 0;
  private static final int LAST = 1;
  private static final int START = 2;
  private static final int AXES = 3;

  private final Order order;
  private final int ticks;
  private RectangleNode root = new RectangleNode();
  // Where the cell of the root ends.
  private long top = 1;
  // The least size asked for so far.
  private long leastAsked = Long.MAX_VALUE;
  // What is being added.
  private final RectangleList one = new RectangleList();
  // The cell of the node that something is being added to.
  private final long[] cellFrom = new long[AXES];
  private final long[] cellTo = new long[AXES];

  // The search.
  private Tightness tightness;
  private int first;
  private int last;
  private long size;
  private long tightest;
  private long bestStart;

  /**
   * An empty tree.
   *
   * @param ticks no rectangle has more, from 1
   */
  RectangleTree(int ticks, Order order) {
    this.ticks = ticks;
    this.order = order;
  }

  /** Adds a rectangle that is not in it. O(log n), typically. */
  void add(FreeRectangle rectangle) {
    while (rectangle.start() >= top) {
      raiseTop();
    }
    for (int axis = 0; axis < AXES; axis++) {
      cellFrom[axis] = 0;
      cellTo[axis] = axis == START ? top : ticks;
    }
    one.add(rectangle);
    RectangleNode node = root;
    while (true) {
      node.include(one, 0, leastAsked);
      if (node.isLeaf() && node.rectangles.size() == LEAF_SIZE) {
        split(node);
      }
      if (node.isLeaf()) {
        node.rectangles.add(one, 0);
        one.remove(0);
        return;
      }
      if (coordinate(node.axis, one, 0) < node.split) {
        cellTo[node.axis] = node.split;
        node = node.left;
      } else {
        cellFrom[node.axis] = node.split;
        node = node.right;
      }
    }
  }

  private void raiseTop() {
    RectangleNode above = new RectangleNode();
    above.rectangles = null;
    above.axis = START;
    above.split = top;
    above.left = root;
    above.right = new RectangleNode();
    above.renew(leastAsked);
    root = above;
    top = top > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : 2 * top;
  }

  private void split(RectangleNode node) {
    RectangleList list = node.rectangles;
    int axis = widest(list);
    node.axis = axis;
    node.split = cellFrom[axis] + (cellTo[axis] - cellFrom[axis]) / 2;
    node.left = new RectangleNode();
    node.right = new RectangleNode();
    for (int i = 0; i < list.size(); i++) {
      boolean isLeft = coordinate(axis, list, i) < node.split;
      (isLeft ? node.left : node.right).rectangles.add(list, i);
    }
    node.rectangles = null;
    node.left.renew(leastAsked);
    node.right.renew(leastAsked);
  }

  /** Along which axis a list is spread the most. */
  private int widest(RectangleList list) {
    double ticksTotal = 0;
    double heightTotal = 1;
    for (int i = 0; i < list.size(); i++) {
      ticksTotal += list.last(i) - list.first(i) + 1;
      heightTotal += list.end(i) == GapCursor.FOREVER ? 0 : list.height(i);
    }
    int widest = -1;
    double most = -1;
    for (int axis = 0; axis < AXES; axis++) {
      long min = Long.MAX_VALUE;
      long max = -1;
      for (int i = 0; i < list.size(); i++) {
        min = Math.min(min, coordinate(axis, list, i));
        max = Math.max(max, coordinate(axis, list, i));
      }
      double width = max - min;
      if (order == Order.PLACE) {
        width /= axis == START ? heightTotal : ticksTotal;
      } else if (axis == START) {
        // Only where all have the same ticks.
        width = 0;
      }
      if (max > min && width > most) {
        most = width;
        widest = axis;
      }
    }
    return widest;
  }

  private static long coordinate(int axis, RectangleList list, int i) {
    return switch (axis) {
      case FIRST -> list.first(i);
      case LAST -> list.last(i);
      default -> list.start(i);
    };
  }

  private static long coordinate(int axis, FreeRectangle rectangle) {
    return switch (axis) {
      case FIRST -> rectangle.first();
      case LAST -> rectangle.last();
      default -> rectangle.start();
    };
  }

  /** Removes a rectangle that is in it. O(log n), typically. */
  void remove(FreeRectangle rectangle) {
    remove(root, rectangle);
  }

  private void remove(RectangleNode node, FreeRectangle rectangle) {
    if (node.isLeaf()) {
      int i = 0;
      while (!node.rectangles.isAt(i, rectangle)) {
        i++;
      }
      node.rectangles.remove(i);
    } else {
      boolean isLeft = coordinate(node.axis, rectangle) < node.split;
      remove(isLeft ? node.left : node.right, rectangle);
    }
    node.renew(leastAsked);
  }

  /**
   * Removes all rectangles that overlap a place or touch it from below or above.
   *
   * @param taken they are added to this
   */
  void take(int from, int to, long start, long end, Collection<FreeRectangle> taken) {
    take(root, from, to, start, end, taken);
  }

  private void take(
      RectangleNode node, int from, int to, long start, long end, Collection<FreeRectangle> taken) {
    if (!node.mayTouch(from, to, start, end)) {
      return;
    }
    int before = taken.size();
    if (node.isLeaf()) {
      RectangleList list = node.rectangles;
      for (int i = list.size() - 1; i >= 0; i--) {
        if (list.first(i) <= to
            && list.last(i) >= from
            && list.start(i) <= end
            && list.end(i) >= start) {
          taken.add(list.get(i));
          list.remove(i);
        }
      }
    } else {
      take(node.left, from, to, start, end, taken);
      take(node.right, from, to, start, end, taken);
    }
    if (taken.size() > before) {
      node.renew(leastAsked);
    }
  }

  /**
   * The start of the tightest rectangle, of a height not below a size, that is a gap of a life; of
   * equals the lowest. There is one.
   *
   * @param from the first tick of the life
   * @param to its last tick
   */
  long bestFit(int from, int to, long leastHeight, Tightness gaps) {
    leastAsked = Math.min(leastAsked, leastHeight);
    first = from;
    last = to;
    size = leastHeight;
    tightness = gaps;
    tightest = Long.MAX_VALUE;
    bestStart = Long.MAX_VALUE;
    search(root);
    return bestStart;
  }

  /** Whether the best fit that was found last has no end. */
  boolean isEndless() {
    return tightest == GapCursor.FOREVER;
  }

  private void search(RectangleNode node) {
    if (!node.mayHoldLife(first, last)) {
      return;
    }
    if (node.isStale(size)) {
      refresh(node);
    }
    if (!node.mayBeat(tightest, bestStart)) {
      return;
    }
    if (!node.isLeaf()) {
      boolean isLeftFirst = node.left.mayBeat(node.right);
      search(isLeftFirst ? node.left : node.right);
      search(isLeftFirst ? node.right : node.left);
      return;
    }
    RectangleList list = node.rectangles;
    for (int i = 0; i < list.size(); i++) {
      long height = list.height(i);
      if (height >= size && isBetter(height, list.start(i)) && list.mayBeGap(i, first, last)) {
        long tight = tightness.of(list.start(i), list.end(i), first, last);
        if (tight != Tightness.NO_GAP && isBetter(tight, list.start(i))) {
          tightest = tight;
          bestStart = list.start(i);
        }
      }
    }
  }

  private boolean isBetter(long height, long start) {
    return height < tightest || (height == tightest && start < bestStart);
  }

  /**
   * How high the highest rectangle is that begins at an address and is alive with all of a life; 0
   * if there is none.
   */
  long heightFrom(long address, int from, int to) {
    return heightFrom(root, address, from, to);
  }

  private static long heightFrom(RectangleNode node, long address, int from, int to) {
    if (!node.mayTouch(from, to, address, address) || !node.mayHoldLife(from, to)) {
      return 0;
    }
    if (!node.isLeaf()) {
      return Math.max(
          heightFrom(node.left, address, from, to), heightFrom(node.right, address, from, to));
    }
    long highest = 0;
    RectangleList list = node.rectangles;
    for (int i = 0; i < list.size(); i++) {
      if (list.start(i) == address && list.mayBeGap(i, from, to)) {
        highest = Math.max(highest, list.height(i));
      }
    }
    return highest;
  }

  /** Counts what was passed over and has room for the size. */
  private void refresh(RectangleNode node) {
    if (!node.isLeaf()) {
      if (node.left.isStale(size)) {
        refresh(node.left);
      }
      if (node.right.isStale(size)) {
        refresh(node.right);
      }
    }
    node.renew(size);
  }
}
