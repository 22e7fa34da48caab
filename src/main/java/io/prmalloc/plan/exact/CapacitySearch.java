package io.prmalloc.plan.exact;

import java.util.Arrays;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Searches for a plan of at most a given capacity, by backtracking.
 *
 * <p>Threading: not safe.
 */
final class CapacitySearch {

  // Depth first. A step is a state of a component: a run of sections whose unplaced tensors hang
  // together. BranchChooser says which tensors can be next; each is placed in turn, the one with
  // the lowest floor first; the caller's order decides between equals, and so how soon a plan is
  // found. Placing one may cut the component: its parts have nothing to do with each other any
  // more, so each is searched for itself, and if one has no plan the tensor was wrong, whatever the
  // others say.
  //
  // When a tensor has failed as the next one it goes to sleep for the rest of the step: as long as
  // nothing is placed that overlaps it, it would fail for the same reason.
  //
  // A state that failed is remembered by what is unplaced and the floors. That it failed while some
  // tensors slept does not matter: those had failed in a state before, where as much was possible.
  // So is the plan of a part that was cut off: when another part fails and they all come again, or
  // the same ones come in a later run, it is there already.

  /** How a search ended. */
  enum Result {
    /** There is a plan. */
    FOUND,
    /** There is none. */
    NONE,
    /** It is not known. */
    GIVEN_UP
  }

  private static final int MAX_REMEMBERED = 4096;
  private static final int CHECK_EVERY = 256;
  private static final int LARGE = 2000;

  private final Problem problem;
  private final SearchState state;
  private final BranchChooser chooser;
  private final FailedStates failed;
  private final SolvedParts solved = new SolvedParts();
  private final boolean decomposes;
  private final boolean sleeps;
  private final boolean fewest;
  private final long[] failures;
  private final BooleanSupplier isOver;

  private Order order;
  private long steps;
  private long maxSteps;
  private boolean givenUp;
  // The candidates of all steps on the way down.
  private int[] stack = new int[1024];
  private int stackTop;

  /**
   * A search from nothing.
   *
   * @param capacity no less than the lower bound of the problem
   * @param isOver asked now and then whether to give up
   */
  CapacitySearch(
      Problem problem,
      Neighbours neighbours,
      long capacity,
      Set<Technique> techniques,
      BooleanSupplier isOver) {
    this.problem = problem;
    this.isOver = isOver;
    state = new SearchState(problem, neighbours, capacity);
    chooser =
        new BranchChooser(
            problem, neighbours, state, capacity, techniques.contains(Technique.SYMMETRY));
    failed = techniques.contains(Technique.FAILED_STATES) ? new FailedStates() : null;
    decomposes = techniques.contains(Technique.DECOMPOSITION);
    fewest = techniques.contains(Technique.FEWEST_CHOICES);
    sleeps = techniques.contains(Technique.SLEEPING);
    failures = new long[problem.sectionCount()];
  }

  /**
   * Searches; may be called again with another order.
   *
   * @param newOrder in which tensors that can be next are tried
   * @param stepLimit when to give up
   */
  Result run(Order newOrder, long stepLimit) {
    order = newOrder;
    steps = 0;
    maxSteps = stepLimit;
    givenUp = false;
    stackTop = 0;
    state.undo(0);
    if (placeAll(0, problem.sectionCount() - 1)) {
      return Result.FOUND;
    }
    return givenUp ? Result.GIVEN_UP : Result.NONE;
  }

  /** Where the tensors lie in the plan that was found. */
  long[] offsets() {
    return state.offsets();
  }

  /** How many steps the last run took. */
  long steps() {
    return steps;
  }

  /** By section: how often it was the one that had no room, in all runs. */
  long[] failures() {
    return failures;
  }

  /** Places all that is unplaced in a run of sections, or leaves the state as it was. */
  private boolean placeAll(int from, int to) {
    int mark = state.mark();
    int section = from;
    while (section <= to) {
      if (state.unplacedIn(section) == 0) {
        section++;
        continue;
      }
      int end = section;
      while (end < to && (!decomposes || state.isCrossed(end))) {
        end++;
      }
      if (!search(firstIn(section), section, end, section > from || end < to)) {
        state.undo(mark);
        return false;
      }
      section = end + 1;
    }
    return true;
  }

  /** The first unplaced tensor that begins in a section or later. */
  private int firstIn(int section) {
    int tensor = problem.bornFrom(section);
    while (tensor < problem.count() && state.isPlaced(tensor)) {
      tensor++;
    }
    return tensor;
  }

  /**
   * Places a component, or leaves the state as it was or worse.
   *
   * @param isPart whether it was cut off from others
   */
  private boolean search(int head, int from, int to, boolean isPart) {
    steps++;
    if (steps > maxSteps
        || ((problem.count() > LARGE || steps % CHECK_EVERY == 0) && isOver.getAsBoolean())) {
      givenUp = true;
      return false;
    }
    long one = 0;
    long other = 0;
    boolean remembers = failed != null && hash(head, to);
    if (remembers) {
      one = failed.one();
      other = failed.other();
      if (failed.contains(one, other)) {
        return false;
      }
      int[] known = isPart ? solved.get(one, other) : SolvedParts.UNKNOWN;
      if (known.length > 0) {
        // Whether the state sees that there is room does not matter: the plan says so.
        for (int tensor : known) {
          state.place(tensor);
        }
        return true;
      }
    }
    int placedBefore = state.placedCount();
    if (chooser.choose(head, from, to, fewest && order.looksAtSections()) && tryAll(from, to)) {
      if (remembers && isPart) {
        solved.put(one, other, state.placedSince(placedBefore));
      }
      return true;
    }
    if (remembers && !givenUp) {
      failed.put(one, other);
    }
    return false;
  }

  private boolean hash(int head, int to) {
    failed.begin();
    int hashed = 0;
    for (int tensor = head;
        tensor < problem.count() && problem.first(tensor) <= to;
        tensor = state.next(tensor)) {
      if (++hashed > MAX_REMEMBERED) {
        return false;
      }
      failed.add(tensor, state.floor(tensor));
    }
    return true;
  }

  private boolean tryAll(int from, int to) {
    int begin = stackTop;
    pushChoices();
    int end = stackTop;
    int mark = state.mark();
    for (int i = begin; i < end; i++) {
      int before = state.mark();
      boolean isPossible = state.place(stack[i]);
      if (!isPossible) {
        failures[state.failedSection()]++;
      }
      if (isPossible && placeAll(from, to)) {
        stackTop = begin;
        return true;
      }
      state.undo(before);
      if (givenUp || (sleeps && i + 1 < end && !state.sleep(stack[i]))) {
        break;
      }
    }
    state.undo(mark);
    stackTop = begin;
    return false;
  }

  private void pushChoices() {
    int count = chooser.chosenCount();
    if (stackTop + count > stack.length) {
      stack = Arrays.copyOf(stack, 2 * (stackTop + count));
    }
    int begin = stackTop;
    for (int i = 0; i < count; i++) {
      int tensor = chooser.chosen(i);
      int place = stackTop++;
      while (place > begin && isBefore(tensor, stack[place - 1])) {
        stack[place] = stack[place - 1];
        place--;
      }
      stack[place] = tensor;
    }
  }

  private boolean isBefore(int one, int other) {
    long difference = state.floor(one) - state.floor(other);
    if (difference == 0 && order.slackFirst()) {
      difference = state.slack(one) - state.slack(other);
    }
    return difference == 0 ? order.places()[one] < order.places()[other] : difference < 0;
  }
}
