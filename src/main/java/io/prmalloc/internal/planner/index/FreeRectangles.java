package io.prmalloc.internal.planner.index;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * An index for plans in which many tensors are alive at once: keeps what is free as rectangles.
 *
 * <p>Threading: not safe.
 */
public final class FreeRectangles implements OffsetIndex {

  // A plan is a drawing: time across, addresses up, a rectangle per tensor. What is free between
  // the tensors is the union of its largest free rectangles, those that no other contains; they
  // overlap. In plans that best fit makes there are two to three of them per tensor, however many
  // tensors are alive at once.
  //
  //     address
  //       ^   +-----+ . . . . . . +---+       the gap of the life |--| lies between two tensors,
  //       |   |  A  |.............|   |       which need not be alive at the same time; it is the
  //       |   +-----+.............| C |       dotted rectangle, as high as the gap
  //       |        |----|.........|   |
  //       |            +-------+  +---+
  //       |            |   B   |
  //       +------------------------------> time
  //
  // A gap of a life reaches from a tensor below, which touches it during the life, to one above,
  // which does, too. Made as long as it can be, it is a largest free rectangle. So the gaps of a
  // life are the rectangles that are alive with all of it and whose floor and roof each touch a
  // tensor alive with it. (Where nothing in this life touches the roof, there is a higher rectangle
  // with the true gap.) Best fit wants the least height not below the size, and among equals the
  // lowest start: one question to a tree that keeps rectangles by time.
  //
  // For that each rectangle knows the first and the last tick in which its floor is touched, and
  // the roof; a life that misses that span is out. Where several tensors share a floor there may be
  // a hole in the span, and the last word has a map from edges to tensors.
  //
  // A placed tensor cuts every rectangle it overlaps into up to four: before it, after it, below it
  // and above it. What comes before or after is a largest one if and only if its floor and roof are
  // still touched. What is below, or above, may lie in another one with the same floor, or roof;
  // sorting shows these. A rectangle that a tensor touches from below or above gets more floor or
  // roof. A second tree, by time and place, tells which ones these are.
  //
  // A tensor costs some five cuts, each O(log n) in both trees, and two searches. There are inputs
  // with far more cuts, such as many equal tensors side by side with long ones on top of them. The
  // index counts and says when it is not worth it.

  /** What a gap is. Threading: immutable. */
  public enum Rule {
    /** What is free in all tasks of a life together. */
    LIFE,
    /**
     * The same, but as tight as it is in the task of the life in which it is the tightest: the rule
     * of {@code HeuristicPlanner}.
     */
    TASK,
    /**
     * As {@link #TASK}, but below the lowest tensor there is none; only where all gaps are endless,
     * and a task of the life is empty, is the ground taken, if there is room.
     */
    TASK_ABOVE_GROUND
  }

  private static final int CUTS_PER_TENSOR = 40;
  private static final int FREE_CUTS = 10_000;

  private final Lives lives;
  private final long least;
  private final RectangleTree byTime;
  private final RectangleTree byPlace;
  // Where tensors end, and where they begin.
  private final EdgeMap floors;
  private final EdgeMap roofs;
  private final RectangleTree.Tightness tightness;
  // Null if the rule does not ask for them.
  private final EmptyTasks emptyTasks;
  private long cuts = FREE_CUTS;

  private final List<FreeRectangle> touched = new ArrayList<>();
  private final List<FreeRectangle> below = new ArrayList<>();
  private final List<FreeRectangle> above = new ArrayList<>();

  /**
   * Nothing is placed.
   *
   * @param least the smallest size that will be asked for, from 1
   */
  public FreeRectangles(Lives lives, long least) {
    this(lives, least, Rule.LIFE);
  }

  /**
   * Nothing is placed.
   *
   * @param least the smallest size that will be asked for, from 1
   * @param rule what a gap is
   */
  public FreeRectangles(Lives lives, long least, Rule rule) {
    this.lives = lives;
    this.least = least;
    tightness =
        switch (rule) {
          case LIFE -> this::tightness;
          case TASK -> this::tightnessByTask;
          case TASK_ABOVE_GROUND -> this::tightnessAboveGround;
        };
    emptyTasks = rule == Rule.TASK_ABOVE_GROUND ? new EmptyTasks(lives) : null;
    byTime = new RectangleTree(lives.tickCount(), RectangleTree.Order.TIME);
    byPlace = new RectangleTree(lives.tickCount(), RectangleTree.Order.PLACE);
    floors = new EdgeMap(lives);
    roofs = new EdgeMap(lives);
    add(FreeRectangle.plane(lives.tickCount()));
  }

  @Override
  public long find(int tensor, long size) {
    int first = lives.firstTick(tensor);
    int last = lives.lastTick(tensor);
    long found = byTime.bestFit(first, last, size, tightness);
    boolean isOnGround =
        emptyTasks != null
            && byTime.isEndless()
            && emptyTasks.isSomeEmpty(tensor)
            && byPlace.heightFrom(0, first, last) >= size;
    return isOnGround ? 0 : found;
  }

  @Override
  public void occupy(int tensor, long offset, long size) {
    int first = lives.firstTick(tensor);
    int last = lives.lastTick(tensor);
    long end = offset + size;
    touched.clear();
    below.clear();
    above.clear();
    byPlace.take(first, last, offset, end, touched);
    floors.add(end, tensor);
    roofs.add(offset, tensor);
    if (emptyTasks != null) {
      emptyTasks.add(tensor);
    }
    cuts += CUTS_PER_TENSOR - touched.size();
    for (FreeRectangle rectangle : touched) {
      byTime.remove(rectangle);
      if (rectangle.end() == offset) {
        below.add(rectangle.withRoof(first, last));
      } else if (rectangle.start() == end) {
        above.add(rectangle.withFloor(first, last));
      } else {
        if (offset - rectangle.start() >= least) {
          below.add(rectangle.below(offset, first, last));
        }
        if (rectangle.end() - end >= least) {
          above.add(rectangle.above(end, first, last));
        }
        addBefore(rectangle, first);
        addAfter(rectangle, last);
      }
    }
    addLargest(below, Comparator.comparingLong(FreeRectangle::start));
    addLargest(above, Comparator.comparingLong(FreeRectangle::end));
  }

  @Override
  public boolean isOverwhelmed() {
    return cuts < 0;
  }

  private void add(FreeRectangle rectangle) {
    byTime.add(rectangle);
    byPlace.add(rectangle);
  }

  /** What is left before a tick, if floor and roof are touched there. */
  private void addBefore(FreeRectangle old, int tick) {
    if (old.floorFirst() < tick && old.roofFirst() < tick) {
      int last = tick - 1;
      int floorLast =
          old.floorLast() <= last
              ? old.floorLast()
              : isGround(old) ? last : floors.lastUpTo(old.start(), last);
      int roofLast =
          old.roofLast() <= last
              ? old.roofLast()
              : isOpen(old) ? last : roofs.lastUpTo(old.end(), last);
      add(
          new FreeRectangle(
              old.first(),
              last,
              old.floorFirst(),
              floorLast,
              old.roofFirst(),
              roofLast,
              old.start(),
              old.end()));
    }
  }

  /** What is left after a tick, if floor and roof are touched there. */
  private void addAfter(FreeRectangle old, int tick) {
    if (old.floorLast() > tick && old.roofLast() > tick) {
      int first = tick + 1;
      int floorFirst =
          old.floorFirst() >= first
              ? old.floorFirst()
              : isGround(old) ? first : floors.firstFrom(old.start(), first);
      int roofFirst =
          old.roofFirst() >= first
              ? old.roofFirst()
              : isOpen(old) ? first : roofs.firstFrom(old.end(), first);
      add(
          new FreeRectangle(
              first,
              old.last(),
              floorFirst,
              old.floorLast(),
              roofFirst,
              old.roofLast(),
              old.start(),
              old.end()));
    }
  }

  /** Adds those that lie in no other one of a list; they have one side in common. */
  private void addLargest(List<FreeRectangle> list, Comparator<FreeRectangle> byOtherSide) {
    if (list.size() > 1) {
      list.sort(
          byOtherSide
              .thenComparingInt(FreeRectangle::first)
              .thenComparing(Comparator.comparingInt(FreeRectangle::last).reversed()));
    }
    FreeRectangle kept = null;
    for (FreeRectangle rectangle : list) {
      // Among equal sides the first ticks ascend, so one that ends no later lies in the kept one.
      if (kept == null
          || byOtherSide.compare(kept, rectangle) != 0
          || kept.last() < rectangle.last()) {
        add(rectangle);
        kept = rectangle;
      }
    }
  }

  private long tightness(long start, long end, int first, int last) {
    if (!touches(start, end, first, last)) {
      return RectangleTree.Tightness.NO_GAP;
    }
    return end == GapCursor.FOREVER ? end : end - start;
  }

  /**
   * The least that is free, in one tick of a life, above a tensor that ends at {@code start}: as
   * high as the rectangle is, unless what lies above it lives in other ticks.
   */
  private long tightnessByTask(long start, long end, int first, int last) {
    long height = tightness(start, end, first, last);
    if (start == 0 || height == RectangleTree.Tightness.NO_GAP || height == GapCursor.FOREVER) {
      return height;
    }
    long least = GapCursor.FOREVER;
    int below = floors.tensorFrom(start, first);
    while (below != EdgeMap.NEVER && lives.firstTick(below) <= last && least > height) {
      int from = Math.max(first, lives.firstTick(below));
      int to = Math.min(last, lives.lastTick(below));
      least =
          roofs.isEdge(end, from, to)
              ? height
              : Math.min(least, byPlace.heightFrom(start, from, to));
      below = floors.tensorFrom(start, lives.lastTick(below) + 1);
    }
    return least;
  }

  private long tightnessAboveGround(long start, long end, int first, int last) {
    return start == 0 && end != GapCursor.FOREVER
        ? RectangleTree.Tightness.NO_GAP
        : tightnessByTask(start, end, first, last);
  }

  /** Whether tensors alive in a span of ticks touch floor and roof. */
  private boolean touches(long start, long end, int first, int last) {
    return (start == 0 || floors.lastUpTo(start, last) >= first)
        && (end == GapCursor.FOREVER || roofs.lastUpTo(end, last) >= first);
  }

  private static boolean isGround(FreeRectangle rectangle) {
    return rectangle.start() == 0;
  }

  private static boolean isOpen(FreeRectangle rectangle) {
    return rectangle.end() == GapCursor.FOREVER;
  }
}
