package io.prmalloc.plan.exact;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Chooses a small set of unplaced tensors of which one can be placed next, so that the search
 * branches little.
 *
 * <p>Threading: not safe.
 */
final class BranchChooser {

  // Any plan can be let down until every tensor lies on another or at 0, so only such plans count.
  // In one of them, take a set of unplaced tensors, one of which lies no higher than some
  // threshold. The lowest of the set lies on its floor if nothing unplaced is below it; and nothing
  // is, if the set has with each tensor all its unplaced neighbours that can end by the threshold.
  // So one of such a closed set can be placed next, and it is enough to try those.
  //
  // Sets to begin with are of two kinds. First, of all unplaced tensors the one that can end
  // lowest: unless a neighbour begins below its end, it lies on its floor itself; so the threshold
  // is below its end, and the set is closed as it is. Second, a section's tensors that can lie no
  // higher than its limit, for one of them must. Where there is little room this is one or two, and
  // they are as good as placed: it is what makes the search fast. Only the fullest sections are
  // looked at.

  private static final int MAX_TIGHT = 160;
  private static final double TIGHT = 0.9;
  private static final int FEW_TENSORS = 1000;
  private static final int MAX_TRIES = 4;
  // A section with more is not worth the look at the neighbours.
  private static final int MAX_CHOICES = 8;

  private final Problem problem;
  private final Neighbours neighbours;
  private final SearchState state;
  private final boolean symmetry;
  private final int[] tightSections;
  private final int[] lows;
  // The tensor before it that is the same in all, or −1.
  private final int[] twinOf;
  private final long[] lowest;
  private final int[] stamps;
  private int stamp;
  private final int[] set;
  private final int[] chosen;
  private int chosenCount;

  BranchChooser(
      Problem problem, Neighbours neighbours, SearchState state, long capacity, boolean symmetry) {
    this.problem = problem;
    this.neighbours = neighbours;
    this.state = state;
    this.symmetry = symmetry;
    int count = problem.count();
    lowest = new long[count];
    stamps = new int[count];
    set = new int[count];
    chosen = new int[count];
    long top = problem.roundUp(capacity);
    tightSections =
        IntStream.range(0, problem.sectionCount())
            .filter(section -> top - state.limit(section) >= TIGHT * top || count < FEW_TENSORS)
            .boxed()
            .sorted((one, other) -> Long.compare(state.limit(one), state.limit(other)))
            .limit(MAX_TIGHT)
            .mapToInt(Integer::intValue)
            .sorted()
            .toArray();
    lows = new int[tightSections.length];
    twinOf = new int[count];
    for (int tensor = 0; tensor < count; tensor++) {
      twinOf[tensor] = tensor - 1;
      while (twinOf[tensor] >= 0 && !isTwin(twinOf[tensor], tensor)) {
        // Twins begin together.
        twinOf[tensor] =
            problem.first(twinOf[tensor]) < problem.first(tensor) ? -1 : twinOf[tensor] - 1;
      }
    }
  }

  private boolean isTwin(int one, int other) {
    return problem.first(one) == problem.first(other)
        && problem.last(one) == problem.last(other)
        && problem.size(one) == problem.size(other)
        && problem.trueSize(one) == problem.trueSize(other);
  }

  /**
   * Chooses.
   *
   * @param head the first unplaced tensor of the component
   * @param from the component's first section
   * @param to its last section, included
   * @param looksAtSections whether sets of the second kind count
   * @return whether there are any; if not, the state is lost
   */
  boolean choose(int head, int from, int to, boolean looksAtSections) {
    chosenCount = 0;
    long least = Long.MAX_VALUE;
    int ending = -1;
    for (int tensor = head; isIn(tensor, to); tensor = state.next(tensor)) {
      lowest[tensor] = state.lowest(tensor);
      long end = lowest[tensor] + problem.size(tensor);
      if (!state.fits(tensor, lowest[tensor])) {
        return false;
      }
      if (end < least) {
        least = end;
        ending = tensor;
      }
    }
    for (int tensor = head; isIn(tensor, to); tensor = state.next(tensor)) {
      if (state.floor(tensor) < least && problem.overlap(tensor, ending) && isChoice(tensor)) {
        chosen[chosenCount++] = tensor;
      }
    }
    if (looksAtSections && chosenCount > 1) {
      chooseSection(from, to);
    }
    return chosenCount > 0;
  }

  private boolean isIn(int tensor, int to) {
    return tensor < problem.count() && problem.first(tensor) <= to;
  }

  private boolean isChoice(int tensor) {
    return state.canBeNext(tensor)
        && (!symmetry || twinOf[tensor] < 0 || state.isPlaced(twinOf[tensor]));
  }

  private void chooseSection(int from, int to) {
    int index = Arrays.binarySearch(tightSections, from);
    int begin = index >= 0 ? index : -index - 1;
    int end = begin;
    int few = Math.min(MAX_CHOICES, chosenCount);
    while (end < tightSections.length && tightSections[end] <= to) {
      lows[end] = countLow(tightSections[end], few);
      end++;
    }
    for (int tries = 0; tries < MAX_TRIES && chosenCount > 1; tries++) {
      int best = Math.min(few, chosenCount);
      int bestIndex = -1;
      for (int i = begin; i < end; i++) {
        if (lows[i] < best) {
          best = lows[i];
          bestIndex = i;
        }
      }
      if (bestIndex < 0) {
        return;
      }
      lows[bestIndex] = Integer.MAX_VALUE;
      chooseIn(tightSections[bestIndex]);
    }
  }

  /** How many tensors of a section can lie as low as one must, counted up to {@code enough}. */
  private int countLow(int section, int enough) {
    if (state.unplacedIn(section) == 0) {
      return Integer.MAX_VALUE;
    }
    long limit = state.limit(section);
    int low = 0;
    int end = neighbours.memberStart(section + 1);
    for (int i = neighbours.memberStart(section); i < end && low < enough; i++) {
      int tensor = neighbours.member(i);
      if (!state.isPlaced(tensor) && lowest[tensor] <= limit) {
        low++;
      }
    }
    return low;
  }

  /** Takes a section's closed set, if it has fewer choices than there are so far. */
  private void chooseIn(int section) {
    long limit = state.limit(section);
    int size = 0;
    int choices = 0;
    stamp++;
    int end = neighbours.memberStart(section + 1);
    for (int i = neighbours.memberStart(section); i < end; i++) {
      int tensor = neighbours.member(i);
      if (!state.isPlaced(tensor) && lowest[tensor] <= limit) {
        stamps[tensor] = stamp;
        set[size++] = tensor;
        choices += isChoice(tensor) ? 1 : 0;
      }
    }
    for (int done = 0; done < size && choices < chosenCount; done++) {
      int last = neighbours.linkStart(set[done] + 1);
      for (int i = neighbours.linkStart(set[done]); i < last; i++) {
        int tensor = neighbours.link(i);
        if (!state.isPlaced(tensor)
            && stamps[tensor] != stamp
            && lowest[tensor] + problem.size(tensor) <= limit) {
          stamps[tensor] = stamp;
          set[size++] = tensor;
          choices += isChoice(tensor) ? 1 : 0;
        }
      }
    }
    if (choices < chosenCount) {
      chosenCount = 0;
      for (int i = 0; i < size; i++) {
        if (isChoice(set[i])) {
          chosen[chosenCount++] = set[i];
        }
      }
    }
  }

  /** How many were chosen. */
  int chosenCount() {
    return chosenCount;
  }

  int chosen(int index) {
    return chosen[index];
  }
}
