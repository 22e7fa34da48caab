package io.prmalloc.plan.exact;

import io.prmalloc.internal.planner.ConstrainedProblem;
import io.prmalloc.internal.planner.LongPairs;
import io.prmalloc.internal.planner.index.Sums;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * What is known of the offsets of tensors under constraints, and how it narrows with each decision.
 *
 * <p>Threading: one thread.
 */
final class ConstrainedState {

  // Each tensor has a lowest and a highest offset. For two tensors with pieces that share a tick,
  // the difference of their offsets must not lie in some open intervals; what is decided of a pair
  // is a least and a most difference. All follows from that by rounds of propagation: the lowest
  // offset of one is at least that of the other and the least difference, aligned, and so on, until
  // nothing changes.
  //
  // The lowest offsets then are a plan of their own unless some pair lies in a forbidden interval,
  // and no plan that keeps the decisions has a lower offset for any tensor. So a pair that does is
  // all there is to decide: below the interval or above it.
  //
  // Nothing fits if some pieces of one tick, taken from the highest lowest byte down, together need
  // more than there is from the lowest of them to the highest byte that any of them may have.

  private static final long NONE = Long.MIN_VALUE / 4;
  private static final long ALL = Long.MAX_VALUE / 4;
  // The most entries of tensors in ticks, some 100 MB: a small file can describe more.
  private static final int MAX_USES = 1 << 23;

  private final ConstrainedProblem problem;
  private final BooleanSupplier isOver;
  // By pair: the two tensors, and the bounds of their forbidden differences, ascending.
  private final int[] ones;
  private final int[] others;
  private final long[][] forbidden;
  private final long[] least;
  private final long[] most;
  private final int[][] pairsOf;
  // By tick that may be the fullest: the tensors and pieces in it.
  private final int[][] tensorsIn;
  private final int[][] piecesIn;
  private final int[][] ticksOf;
  final long[] lowest;
  final long[] highest;

  // What changed, to be undone from the end.
  private int[] trailWhere = new int[1024];
  private long[] trailValue = new long[1024];
  private int trailSize;

  private final int[] queue;
  private final boolean[] isQueued;
  private int queueHead;
  private int queueCount;
  private final int[] dirty;
  private final boolean[] isDirty;
  private int dirtyCount;
  private final long[] bottoms;
  private final long[] tops;
  private final long[] lengths;
  private long work;
  private long steps;

  private ConstrainedState(
      ConstrainedProblem problem,
      int[] pairs,
      long[][] forbidden,
      int[] ranks,
      int[] widths,
      BooleanSupplier isOver) {
    this.problem = problem;
    this.isOver = isOver;
    this.forbidden = forbidden;
    int count = problem.count();
    ones = new int[forbidden.length];
    others = new int[forbidden.length];
    int[] degrees = new int[count];
    for (int pair = 0; pair < ones.length; pair++) {
      ones[pair] = pairs[2 * pair];
      others[pair] = pairs[2 * pair + 1];
      degrees[ones[pair]]++;
      degrees[others[pair]]++;
    }
    pairsOf = new int[count][];
    Arrays.setAll(pairsOf, i -> new int[degrees[i]]);
    for (int pair = 0; pair < ones.length; pair++) {
      pairsOf[ones[pair]][--degrees[ones[pair]]] = pair;
      pairsOf[others[pair]][--degrees[others[pair]]] = pair;
    }
    least = new long[ones.length];
    most = new long[ones.length];
    lowest = new long[count];
    highest = new long[count];
    queue = new int[Math.max(1, count)];
    isQueued = new boolean[count];
    tensorsIn = new int[widths.length - 1][];
    piecesIn = new int[widths.length - 1][];
    ticksOf = new int[count][];
    fillTicks(ranks, widths);
    dirty = new int[tensorsIn.length];
    isDirty = new boolean[tensorsIn.length];
    int width = Arrays.stream(tensorsIn).mapToInt(t -> t.length).max().orElse(0);
    bottoms = new long[width];
    tops = new long[width];
    lengths = new long[width];
  }

  /**
   * A state of a problem, before {@link #begin}.
   *
   * @param maxPairs how many pairs of tensors there may be
   * @param isOver whether to give up; asked often, and true for ever once it is
   * @return null if there are more, or too many tensors in too many ticks, or it was given up
   */
  static ConstrainedState of(ConstrainedProblem problem, int maxPairs, BooleanSupplier isOver) {
    int count = problem.count();
    int[] ranks = ranks(problem);
    int[] widths = widths(problem, ranks);
    if (widths == null) {
      return null;
    }
    int[] pairs = new int[64];
    List<long[]> forbidden = new ArrayList<>();
    LongPairs found = new LongPairs();
    for (int one = 0; one < count; one++) {
      if (isOver.getAsBoolean()) {
        return null;
      }
      for (int other = one + 1; other < count; other++) {
        found.clear();
        problem.forbid(one, other, 0, found);
        if (found.count() == 0) {
          continue;
        }
        if (forbidden.size() == maxPairs) {
          return null;
        }
        found.merge();
        if (2 * forbidden.size() == pairs.length) {
          pairs = Arrays.copyOf(pairs, 2 * pairs.length);
        }
        pairs[2 * forbidden.size()] = one;
        pairs[2 * forbidden.size() + 1] = other;
        long[] bounds = new long[2 * found.count()];
        for (int i = 0; i < found.count(); i++) {
          bounds[2 * i] = found.start(i);
          bounds[2 * i + 1] = found.end(i);
        }
        forbidden.add(bounds);
      }
    }
    return new ConstrainedState(
        problem, pairs, forbidden.toArray(long[][]::new), ranks, widths, isOver);
  }

  /**
   * Numbers the ticks that are checked. A tick is left out if all that is in use in it is in use in
   * the next tick as well.
   */
  private static int[] ranks(ConstrainedProblem problem) {
    int[] ranks = new int[problem.tickCount() + 1];
    for (int tensor = 0; tensor < problem.count(); tensor++) {
      for (int piece = 0; piece < problem.pieceCount(tensor); piece++) {
        ranks[problem.lastTick(tensor, piece) + 1] = 1;
      }
    }
    Sums.accumulate(ranks);
    return ranks;
  }

  /** The number of tensors in each tick that is checked; null if they are too many together. */
  private static int[] widths(ConstrainedProblem problem, int[] ranks) {
    int[] widths = new int[ranks[ranks.length - 1] + 1];
    long uses = 0;
    for (int tensor = 0; tensor < problem.count(); tensor++) {
      for (int piece = 0; piece < problem.pieceCount(tensor); piece++) {
        int from = ranks[problem.firstTick(tensor, piece)];
        int to = ranks[problem.lastTick(tensor, piece) + 1];
        widths[from]++;
        widths[to]--;
        uses += to - from;
      }
    }
    Sums.accumulate(widths);
    return uses > MAX_USES ? null : widths;
  }

  private void fillTicks(int[] ranks, int[] widths) {
    for (int tick = 0; tick < tensorsIn.length; tick++) {
      tensorsIn[tick] = new int[widths[tick]];
      piecesIn[tick] = new int[widths[tick]];
    }
    int[] filled = new int[tensorsIn.length];
    for (int tensor = 0; tensor < ticksOf.length; tensor++) {
      // The pieces of a tensor follow one another in time.
      IntStream.Builder ticks = IntStream.builder();
      for (int piece = 0; piece < problem.pieceCount(tensor); piece++) {
        int to = ranks[problem.lastTick(tensor, piece) + 1];
        for (int tick = ranks[problem.firstTick(tensor, piece)]; tick < to; tick++) {
          tensorsIn[tick][filled[tick]] = tensor;
          piecesIn[tick][filled[tick]++] = piece;
          ticks.add(tick);
        }
      }
      ticksOf[tensor] = ticks.build().toArray();
    }
  }

  /**
   * Forgets all decisions.
   *
   * @param capacity where every tensor must end
   * @return whether that is possible as far as can be seen
   */
  boolean begin(long capacity) {
    Arrays.fill(least, NONE);
    Arrays.fill(most, ALL);
    trailSize = 0;
    clearQueues();
    for (int tensor = 0; tensor < lowest.length; tensor++) {
      long fixed = problem.fixed(tensor);
      lowest[tensor] = Math.max(0, fixed);
      long highestFree = problem.alignDown(tensor, capacity - problem.size(tensor));
      highest[tensor] = fixed < 0 ? highestFree : Math.min(fixed, highestFree);
      if (lowest[tensor] > highest[tensor]) {
        return false;
      }
      changed(tensor);
    }
    return propagate();
  }

  private void clearQueues() {
    Arrays.fill(isQueued, false);
    queueCount = 0;
    queueHead = 0;
    Arrays.fill(isDirty, false);
    dirtyCount = 0;
  }

  /** How many pairs were looked at; a measure of time that does not depend on the machine. */
  long work() {
    return work;
  }

  /** Where {@link #undo} gets back to. */
  int mark() {
    return trailSize;
  }

  void undo(int mark) {
    while (trailSize > mark) {
      trailSize--;
      int where = trailWhere[trailSize] >> 2;
      long value = trailValue[trailSize];
      switch (trailWhere[trailSize] & 3) {
        case 0 -> lowest[where] = value;
        case 1 -> highest[where] = value;
        case 2 -> least[where] = value;
        default -> most[where] = value;
      }
    }
  }

  private void record(int kind, int where, long value) {
    if (trailSize == trailWhere.length) {
      trailWhere = Arrays.copyOf(trailWhere, 2 * trailSize);
      trailValue = Arrays.copyOf(trailValue, 2 * trailSize);
    }
    trailWhere[trailSize] = where << 2 | kind;
    trailValue[trailSize++] = value;
  }

  private void changed(int tensor) {
    if (!isQueued[tensor]) {
      isQueued[tensor] = true;
      queue[(queueHead + queueCount++) % queue.length] = tensor;
    }
    for (int tick : ticksOf[tensor]) {
      if (!isDirty[tick]) {
        isDirty[tick] = true;
        dirty[dirtyCount++] = tick;
      }
    }
  }

  /**
   * Decides that the difference of a pair is at most, or at least, the given one.
   *
   * @return whether that is possible as far as can be seen
   */
  boolean decide(int pair, boolean isAtMost, long difference) {
    if (isAtMost) {
      record(3, pair, most[pair]);
      most[pair] = difference;
    } else {
      record(2, pair, least[pair]);
      least[pair] = difference;
    }
    return revise(pair) && propagate();
  }

  private boolean propagate() {
    while (queueCount > 0) {
      int tensor = queue[queueHead];
      queueHead = (queueHead + 1) % queue.length;
      queueCount--;
      isQueued[tensor] = false;
      for (int pair : pairsOf[tensor]) {
        if (!revise(pair)) {
          clearQueues();
          return false;
        }
      }
      if ((++steps & 63) == 0 && isOver.getAsBoolean()) {
        clearQueues();
        return false;
      }
    }
    while (dirtyCount > 0) {
      int tick = dirty[--dirtyCount];
      isDirty[tick] = false;
      if (((++steps & 63) == 0 && isOver.getAsBoolean()) || !hasRoom(tick)) {
        clearQueues();
        return false;
      }
    }
    return true;
  }

  private boolean revise(int pair) {
    work++;
    int one = ones[pair];
    int other = others[pair];
    long[] bounds = forbidden[pair];
    long low = Math.max(least[pair], lowest[other] - highest[one]);
    long high = Math.min(most[pair], highest[other] - lowest[one]);
    for (int i = 0; i < bounds.length; i += 2) {
      if (bounds[i] < low && low < bounds[i + 1]) {
        low = bounds[i + 1];
      }
    }
    for (int i = bounds.length - 2; i >= 0; i -= 2) {
      if (bounds[i] < high && high < bounds[i + 1]) {
        high = bounds[i];
      }
    }
    return low <= high
        && raise(other, lowest[one] + low)
        && raise(one, lowest[other] - high)
        && lower(other, highest[one] + high)
        && lower(one, highest[other] - low);
  }

  private boolean raise(int tensor, long offset) {
    if (offset > lowest[tensor]) {
      record(0, tensor, lowest[tensor]);
      lowest[tensor] = problem.alignUp(tensor, offset);
      changed(tensor);
    }
    return lowest[tensor] <= highest[tensor];
  }

  private boolean lower(int tensor, long offset) {
    if (offset < highest[tensor]) {
      record(1, tensor, highest[tensor]);
      highest[tensor] = problem.alignDown(tensor, offset);
      changed(tensor);
    }
    return lowest[tensor] <= highest[tensor];
  }

  private boolean hasRoom(int tick) {
    int[] tensors = tensorsIn[tick];
    int[] pieces = piecesIn[tick];
    for (int i = 0; i < tensors.length; i++) {
      long from = problem.from(tensors[i], pieces[i]);
      long to = problem.to(tensors[i], pieces[i]);
      long bottom = lowest[tensors[i]] + from;
      int at = i;
      for (; at > 0 && bottoms[at - 1] < bottom; at--) {
        bottoms[at] = bottoms[at - 1];
        tops[at] = tops[at - 1];
        lengths[at] = lengths[at - 1];
      }
      bottoms[at] = bottom;
      tops[at] = highest[tensors[i]] + to;
      lengths[at] = to - from;
    }
    long top = 0;
    long sum = 0;
    for (int i = 0; i < tensors.length; i++) {
      top = Math.max(top, tops[i]);
      sum += lengths[i];
      if (bottoms[i] + sum > top) {
        return false;
      }
    }
    return true;
  }

  /** The pair to decide: of those that are in each other's way, the one with the least freedom. */
  int choose() {
    int chosen = -1;
    long best = Long.MAX_VALUE;
    for (int pair = 0; pair < ones.length; pair++) {
      int bound = conflict(pair);
      if (bound >= 0) {
        long slack = Math.min(slackBelow(pair, bound), slackAbove(pair, bound));
        if (slack < best) {
          best = slack;
          chosen = pair;
        }
      }
    }
    work += ones.length >> 3;
    return chosen;
  }

  /** Where the interval begins in which the difference of the lowest offsets lies; −1 if none. */
  private int conflict(int pair) {
    long difference = lowest[others[pair]] - lowest[ones[pair]];
    long[] bounds = forbidden[pair];
    for (int i = 0; i < bounds.length; i += 2) {
      if (bounds[i] < difference && difference < bounds[i + 1]) {
        return i;
      }
    }
    return -1;
  }

  private long slackBelow(int pair, int bound) {
    return highest[ones[pair]] + forbidden[pair][bound] - lowest[others[pair]];
  }

  private long slackAbove(int pair, int bound) {
    return highest[others[pair]] - forbidden[pair][bound + 1] - lowest[ones[pair]];
  }

  /** The most difference of a pair in conflict below its interval. */
  long below(int pair) {
    return forbidden[pair][conflict(pair)];
  }

  /** The least difference of a pair in conflict above its interval. */
  long above(int pair) {
    return forbidden[pair][conflict(pair) + 1];
  }

  /** Whether there is more freedom below the interval than above it. */
  boolean prefersBelow(int pair) {
    int bound = conflict(pair);
    return slackBelow(pair, bound) > slackAbove(pair, bound);
  }
}
