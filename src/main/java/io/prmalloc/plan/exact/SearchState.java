package io.prmalloc.plan.exact;

import java.util.Arrays;

/**
 * The placed tensors and the lowest possible offset of the others; changes can be undone.
 *
 * <p>Threading: not safe.
 */
final class SearchState {

  // Tensors are placed from below: whatever is placed later lies above all that is placed and alive
  // with it. So a tensor that is not placed has a floor, the highest end of a placed neighbour; and
  // the floors say all there is to say of what is placed.
  //
  // A section with `rem` bytes still to come has room up to the limit capacity − rem: one of its
  // tensors must lie no higher than that, or the rest finds no room. Every section holds on to one
  // such tensor, its witness. Floors only rise while tensors are placed, limits as well, so a
  // section looks for another witness only when its own was placed, rose or went to sleep.
  //
  // A sleeping tensor was tried as the next one without success, so something has to come under it
  // that is not placed yet; until a neighbour is placed its floor counts as the lowest end one of
  // them can have.
  //
  // Unplaced tensors are in a linked list by number. All changes are on a trail, and undone from
  // its end.

  private static final int FLOOR = 0;
  private static final int PLACED = 1;
  private static final int AWAKE = 2;
  private static final int ASLEEP = 3;
  private static final int WITNESS = 4;
  private static final int KIND_BITS = 3;
  private static final int NOBODY = -1;

  private final Problem problem;
  private final Neighbours neighbours;
  private final long capacity;
  private final int count;

  private final long[] floors;
  private final boolean[] placed;
  private final boolean[] asleep;
  private final Room limits;
  private final int[] unplacedIn;
  // Unplaced tensors in a section and the next.
  private final int[] across;
  private final int[] next;
  private final int[] previous;

  private final int[] witnesses;
  private final int[] firstWatching;
  private final int[] nextWatching;
  private final int[] previousWatching;
  private int[] orphans = new int[64];
  private int orphanCount;

  private int[] trailKeys = new int[1024];
  private long[] trailValues = new long[1024];
  private int trailLength;

  // Placed tensors as they came.
  private final int[] inOrder;
  private int placedCount;

  private int failedSection;

  /**
   * Nothing is placed.
   *
   * @param capacity no less than the lower bound of the problem
   */
  SearchState(Problem problem, Neighbours neighbours, long capacity) {
    this.problem = problem;
    this.neighbours = neighbours;
    this.capacity = capacity;
    count = problem.count();
    int sections = problem.sectionCount();
    floors = new long[count];
    placed = new boolean[count];
    inOrder = new int[count];
    asleep = new boolean[count];
    unplacedIn = new int[sections];
    across = new int[sections];
    long[] sums = new long[sections];
    for (int section = 0; section < sections; section++) {
      int begin = neighbours.memberStart(section);
      int end = neighbours.memberStart(section + 1);
      unplacedIn[section] = end - begin;
      for (int i = begin; i < end; i++) {
        sums[section] += problem.size(neighbours.member(i));
        across[section] += problem.last(neighbours.member(i)) > section ? 1 : 0;
      }
    }
    // The topmost may stand out by what it is rounded up.
    long top = problem.roundUp(capacity);
    limits = new Room(Arrays.stream(sums).map(sum -> top - sum).toArray());
    next = new int[count + 1];
    previous = new int[count + 1];
    for (int tensor = 0; tensor <= count; tensor++) {
      next[tensor] = tensor == count ? 0 : tensor + 1;
      previous[tensor] = tensor == 0 ? count : tensor - 1;
    }
    witnesses = new int[sections];
    nextWatching = new int[sections];
    previousWatching = new int[sections];
    firstWatching = new int[count];
    Arrays.fill(firstWatching, NOBODY);
    for (int section = 0; section < sections; section++) {
      watch(section, neighbours.member(neighbours.memberStart(section)));
    }
  }

  /** The lowest place for an unplaced tensor, or the place of a placed one. */
  long floor(int tensor) {
    return floors[tensor];
  }

  boolean isPlaced(int tensor) {
    return placed[tensor];
  }

  /** Where the lowest of the unplaced tensors of a section must lie, at most. */
  long limit(int section) {
    return limits.at(section);
  }

  int unplacedIn(int section) {
    return unplacedIn[section];
  }

  /** Whether an unplaced tensor is in a section and the next. */
  boolean isCrossed(int section) {
    return across[section] > 0;
  }

  /** The unplaced tensor behind one, the first behind {@code count}; {@code count} at the end. */
  int next(int tensor) {
    return next[tensor];
  }

  /** Whether nothing stands against an unplaced tensor as the next one, as far as it alone goes. */
  boolean canBeNext(int tensor) {
    return !asleep[tensor] && slack(tensor) >= 0 && fits(tensor, floors[tensor]);
  }

  /** How much higher an unplaced tensor could lie with its sections as they are. */
  long slack(int tensor) {
    return limits.min(problem.first(tensor), problem.last(tensor)) - floors[tensor];
  }

  boolean fits(int tensor, long offset) {
    return offset <= capacity - problem.trueSize(tensor);
  }

  /** A tensor lies nowhere lower. */
  long lowest(int tensor) {
    if (!asleep[tensor]) {
      return floors[tensor];
    }
    long least = Long.MAX_VALUE;
    int end = neighbours.linkStart(tensor + 1);
    for (int i = neighbours.linkStart(tensor); i < end; i++) {
      int other = neighbours.link(i);
      if (!placed[other]) {
        least = Math.min(least, floors[other] + problem.size(other));
      }
    }
    return Math.max(floors[tensor], least);
  }

  /** To be given to {@link #undo}. */
  int mark() {
    return trailLength;
  }

  /** How many tensors are placed. */
  int placedCount() {
    return placedCount;
  }

  /** The tensors that were placed since there were so many, in that order. */
  int[] placedSince(int earlierCount) {
    return Arrays.copyOfRange(inOrder, earlierCount, placedCount);
  }

  /**
   * Places a tensor on its floor.
   *
   * @return whether every section still has a witness
   */
  boolean place(int tensor) {
    int first = problem.first(tensor);
    int last = problem.last(tensor);
    long size = problem.size(tensor);
    placed[tensor] = true;
    inOrder[placedCount++] = tensor;
    next[previous[tensor]] = next[tensor];
    previous[next[tensor]] = previous[tensor];
    limits.add(first, last, size);
    for (int section = first; section <= last; section++) {
      unplacedIn[section]--;
      across[section]--;
    }
    across[last]++;
    note(PLACED, tensor, 0);
    long top = floors[tensor] + size;
    orphanCount = 0;
    leave(tensor, true);
    int end = neighbours.linkStart(tensor + 1);
    for (int i = neighbours.linkStart(tensor); i < end; i++) {
      int other = neighbours.link(i);
      if (placed[other]) {
        continue;
      }
      if (asleep[other]) {
        asleep[other] = false;
        note(AWAKE, other, 0);
      }
      if (floors[other] < top) {
        note(FLOOR, other, floors[other]);
        floors[other] = top;
        leave(other, false);
      }
    }
    return adopt();
  }

  /**
   * Something has to come under a tensor first.
   *
   * @return whether every section still has a witness
   */
  boolean sleep(int tensor) {
    asleep[tensor] = true;
    note(ASLEEP, tensor, 0);
    orphanCount = 0;
    leave(tensor, true);
    return adopt();
  }

  /** Collects the sections that a tensor is no witness for any more. */
  private void leave(int tensor, boolean forSure) {
    for (int section = firstWatching[tensor]; section != NOBODY; section = nextWatching[section]) {
      if (unplacedIn[section] > 0 && (forSure || floors[tensor] > limits.at(section))) {
        if (orphanCount == orphans.length) {
          orphans = Arrays.copyOf(orphans, 2 * orphanCount);
        }
        orphans[orphanCount++] = section;
      }
    }
  }

  private boolean adopt() {
    for (int i = 0; i < orphanCount; i++) {
      int section = orphans[i];
      int witness = findWitness(section);
      if (witness == NOBODY) {
        failedSection = section;
        return false;
      }
      note(WITNESS, section, witnesses[section]);
      unwatch(section);
      watch(section, witness);
    }
    return true;
  }

  /** The section for which there was no witness when the last step failed. */
  int failedSection() {
    return failedSection;
  }

  private int findWitness(int section) {
    long limit = limits.at(section);
    int sleeper = NOBODY;
    int end = neighbours.memberStart(section + 1);
    for (int i = neighbours.memberStart(section); i < end; i++) {
      int tensor = neighbours.member(i);
      if (!placed[tensor] && floors[tensor] <= limit) {
        if (!asleep[tensor]) {
          return tensor;
        }
        sleeper = sleeper == NOBODY && lowest(tensor) <= limit ? tensor : sleeper;
      }
    }
    return sleeper;
  }

  private void watch(int section, int tensor) {
    witnesses[section] = tensor;
    int behind = firstWatching[tensor];
    nextWatching[section] = behind;
    previousWatching[section] = NOBODY;
    if (behind != NOBODY) {
      previousWatching[behind] = section;
    }
    firstWatching[tensor] = section;
  }

  private void unwatch(int section) {
    int before = previousWatching[section];
    int behind = nextWatching[section];
    if (before == NOBODY) {
      firstWatching[witnesses[section]] = behind;
    } else {
      nextWatching[before] = behind;
    }
    if (behind != NOBODY) {
      previousWatching[behind] = before;
    }
  }

  private void note(int kind, int index, long value) {
    if (trailLength == trailKeys.length) {
      trailKeys = Arrays.copyOf(trailKeys, 2 * trailLength);
      trailValues = Arrays.copyOf(trailValues, 2 * trailLength);
    }
    trailKeys[trailLength] = index << KIND_BITS | kind;
    trailValues[trailLength++] = value;
  }

  /** Takes back all since a mark. */
  void undo(int mark) {
    while (trailLength > mark) {
      trailLength--;
      int index = trailKeys[trailLength] >>> KIND_BITS;
      switch (trailKeys[trailLength] & (1 << KIND_BITS) - 1) {
        case FLOOR -> floors[index] = trailValues[trailLength];
        case PLACED -> takeOut(index);
        case AWAKE -> asleep[index] = true;
        case ASLEEP -> asleep[index] = false;
        default -> {
          unwatch(index);
          watch(index, (int) trailValues[trailLength]);
        }
      }
    }
  }

  private void takeOut(int tensor) {
    int first = problem.first(tensor);
    int last = problem.last(tensor);
    placed[tensor] = false;
    placedCount--;
    next[previous[tensor]] = tensor;
    previous[next[tensor]] = tensor;
    limits.add(first, last, -problem.size(tensor));
    for (int section = first; section <= last; section++) {
      unplacedIn[section]++;
      across[section]++;
    }
    across[last]--;
  }

  /** Where all tensors lie; all must be placed. */
  long[] offsets() {
    return floors.clone();
  }
}
