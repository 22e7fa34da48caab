package io.prmalloc.internal.planner.index;

/**
 * An index for plans in which few tensors are alive at once: keeps what is free in stretches of
 * time as lists.
 *
 * <p>Threading: not safe.
 */
public final class GapIndex implements OffsetIndex {

  // Time is cut into columns with about equally many births and deaths in each. Over the columns
  // lies a binary tree. Every node knows what is free in all its columns at once (`freeIn`): that
  // is what a life that spans the node whole may use of it, and it is a sorted list of spans.
  // Placing a tensor takes its span out of every node that has a column of its life and that some
  // life is made of: about twice as many nodes as columns. Wider nodes than the longest life spans
  // are never asked, and have no list. Asking for a life takes the O(log columns) nodes it is made
  // of and looks for what is free in all of them.
  //
  // The two columns in which a life begins and ends it fills in part only. For them there are two
  // more things: what is free of tensors that span the column whole (`freeOfWhole`), a list as
  // above, and the tensors that do not (`partial`), by offset with their ticks, of which those are
  // passed over that are alive in another part of the column.
  //
  //          root     [--------------------------------]
  //                   [---------------][---------------]      freeIn, by heap order
  //                   [------][-------][------][-------]
  //       columns     |   |   |   |   |   |   |   |   |
  //        a life               ======================        2 nodes, parts of 2 columns
  //
  // Free in all: a cursor on each list; one that has no room where the others stand moves on, and
  // the place moves with it (as a leapfrog join does). Lists hand out only spans with room enough,
  // and pass over chunks that have none; the widest nodes, whose lists are the fullest, come first.
  // When all agree, the gap goes from the place to the lowest end of a span. A gap of exactly the
  // size cannot be beaten and ends the search; otherwise all gaps with room are looked at, for best
  // fit wants the smallest.
  //
  // How many columns is Columns' choice: fewer and the parts get long, more and placing gets dear.
  // Neither cost grows with n alone. What does depend on the input is the number of gaps with room:
  // where most tensors are alive at once there are as many of them as there are tensors.

  /** Says whether a gap begins with padding: no tensor alive in its life ends where it begins. */
  @FunctionalInterface
  interface Padding {

    /** Padding is not looked at, so that the lowest of equally small gaps is taken. */
    Padding IGNORED = (start, firstTick, lastTick) -> false;

    /**
     * Whether a gap begins with padding.
     *
     * <p>Threading: as the index.
     *
     * @param start where the gap begins, an aligned end of a tensor or 0
     */
    boolean isPadded(long start, int firstTick, int lastTick);
  }

  /** Lets the number of columns follow the input. */
  public static final double AUTOMATIC = 0;

  private static final int LEAST_TENSORS_PER_COLUMN = 8;
  private static final int MAX_CURSORS = 80;

  private final Lives lives;
  private final long least;
  private final int leaves;
  private final Padding padding;
  private final Columns columns;
  private final GapList[] freeIn;
  // The nodes that some life is made of, and the widest of them, which has the least number.
  private final boolean[] isAsked;
  private int leastAsked;
  private final GapList[] freeOfWhole;
  private final PartialList[] partial;

  private final GapList.Cursor[] listCursors = new GapList.Cursor[MAX_CURSORS];
  private final PartialList.Cursor[] partialCursors = {
    new PartialList.Cursor(), new PartialList.Cursor()
  };
  private final GapCursor[] cursors = new GapCursor[MAX_CURSORS + 2];
  private final int[] nodes = new int[MAX_CURSORS];
  private int listCursorCount;
  private int cursorCount;

  /**
   * Nothing is placed.
   *
   * @param least the smallest size that will be asked for, from 1
   * @param columnsPerLife how many columns a life should span on average, or {@link #AUTOMATIC}
   */
  public GapIndex(Lives lives, long least, double columnsPerLife) {
    this(lives, least, columnsPerLife, Padding.IGNORED);
  }

  /**
   * Nothing is placed.
   *
   * @param padding of equally small gaps the first without padding is taken, the last if all have
   *     some
   */
  public GapIndex(Lives lives, long least, double columnsPerLife, Padding padding) {
    this.lives = lives;
    this.least = least;
    this.padding = padding;
    columns = new Columns(lives, columnsPerLife, LEAST_TENSORS_PER_COLUMN);
    int count = columns.count();
    leaves = count == 1 ? 1 : Integer.highestOneBit(count - 1) << 1;
    freeIn = new GapList[2 * leaves];
    freeOfWhole = new GapList[count];
    partial = new PartialList[count];
    for (int i = 0; i < MAX_CURSORS; i++) {
      listCursors[i] = new GapList.Cursor();
    }
    isAsked = new boolean[2 * leaves];
    leastAsked = 2 * leaves;
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      int first = lives.firstTick(tensor);
      int last = lives.lastTick(tensor);
      int nodeCount = findNodes(wholeFrom(first, last), wholeTo(first, last));
      for (int i = 0; i < nodeCount; i++) {
        isAsked[nodes[i]] = true;
        leastAsked = Math.min(leastAsked, nodes[i]);
      }
    }
  }

  /** The first column of a life that it spans whole, if there is any. */
  private int wholeFrom(int first, int last) {
    int from = columns.of(first);
    return columns.isWhole(from, first, last) ? from : from + 1;
  }

  private int wholeTo(int first, int last) {
    int to = columns.of(last);
    return columns.isWhole(to, first, last) ? to : to - 1;
  }

  @Override
  public long find(int tensor, long size) {
    return find(lives.firstTick(tensor), lives.lastTick(tensor), size);
  }

  @Override
  public void occupy(int tensor, long offset, long size) {
    occupy(lives.firstTick(tensor), lives.lastTick(tensor), offset, offset + size);
  }

  private long find(int first, int last, long size) {
    int from = columns.of(first);
    int to = columns.of(last);
    listCursorCount = 0;
    cursorCount = 0;
    int wholeFrom = wholeFrom(first, last);
    int wholeTo = wholeTo(first, last);
    for (int i = findNodes(wholeFrom, wholeTo) - 1; i >= 0; i--) {
      addList(freeIn[nodes[i]]);
    }
    if (wholeFrom > from) {
      addPart(from, 0, first, last);
    }
    if (wholeTo < to && to > from) {
      addPart(to, 1, first, last);
    }
    return smallestGap(first, last, size);
  }

  /**
   * Writes the nodes that whole columns are made of to {@link #nodes}, the narrow ones first:
   * climbing from both ends meets these first.
   *
   * @return how many there are; none if {@code from} is behind {@code to}
   */
  private int findNodes(int from, int to) {
    int left = from + leaves;
    int right = to + leaves + 1;
    int found = 0;
    while (left < right) {
      if ((left & 1) == 1) {
        nodes[found++] = left++;
      }
      if ((right & 1) == 1) {
        nodes[found++] = --right;
      }
      left >>= 1;
      right >>= 1;
    }
    return found;
  }

  private void addPart(int column, int side, int first, int last) {
    addList(freeOfWhole[column]);
    if (partial[column] != null) {
      partialCursors[side].begin(partial[column], first, last);
      cursors[cursorCount++] = partialCursors[side];
    }
  }

  private void addList(GapList list) {
    if (list != null) {
      GapList.Cursor cursor = listCursors[listCursorCount++];
      cursor.begin(list);
      cursors[cursorCount++] = cursor;
    }
  }

  private long smallestGap(int first, int last, long size) {
    long place = 0;
    long best = -1;
    long bestGap = GapCursor.FOREVER;
    boolean isBestPadded = false;
    while (true) {
      long end = GapCursor.FOREVER;
      int agreed = 0;
      while (agreed < cursorCount) {
        GapCursor cursor = cursors[agreed];
        cursor.seek(place, size);
        if (cursor.start > place) {
          place = cursor.start;
          end = GapCursor.FOREVER;
          if (agreed > 0) {
            agreed = 0;
            continue;
          }
        }
        end = Math.min(end, cursor.end);
        agreed++;
      }
      if (end == GapCursor.FOREVER) {
        return best >= 0 ? best : place;
      }
      if (end - place < bestGap || (isBestPadded && end - place == bestGap)) {
        best = place;
        bestGap = end - place;
        isBestPadded = padding.isPadded(place, first, last);
        if (bestGap == size && !isBestPadded) {
          return best;
        }
      }
      place = end;
    }
  }

  private void occupy(int first, int last, long offset, long end) {
    int from = columns.of(first);
    int to = columns.of(last);
    for (int column = from; column <= to; column++) {
      if (columns.isWhole(column, first, last)) {
        if (freeOfWhole[column] == null) {
          freeOfWhole[column] = new GapList(least);
        }
        freeOfWhole[column].occupy(offset, end);
      } else {
        if (partial[column] == null) {
          partial[column] = new PartialList();
        }
        partial[column].add(first, last, offset, end);
      }
    }
    for (int left = from + leaves, right = to + leaves;
        right >= leastAsked;
        left >>= 1, right >>= 1) {
      for (int node = left; node <= right; node++) {
        if (isAsked[node]) {
          if (freeIn[node] == null) {
            freeIn[node] = new GapList(least);
          }
          freeIn[node].occupy(offset, end);
        }
      }
    }
  }
}
