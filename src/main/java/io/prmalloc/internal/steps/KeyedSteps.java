package io.prmalloc.internal.steps;

import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.StepMemory;
import io.prmalloc.internal.steps.StepPlan.Recording;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.pool.StepStats;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The steps of one key: learns which structures they have, and chooses the one by which a step is
 * planned.
 *
 * <p>Threading: any thread.
 */
public final class KeyedSteps implements Retirable {

  // LEARNING   each step writes down its requests and is served by blocks of its own. It is added
  //            to the structure that is the same apart from the sizes (see StepSequence), or
  //            becomes a structure of its own. A structure that REPEATS steps had is planned. From
  //            then on it serves the steps with the size of its first request, unless one of them
  //            departs: then another structure begins with that size, which must be learnt too.
  //            Learning ends when there are more plans than when it began, and as many steps in a
  //            row as structures were seen meanwhile had a structure that REPEATS steps had. So two
  //            models that take turns are both learnt. After MAX_LEARNING_STEPS it ends in vain.
  // PLANNED    a step leases an arena of the structure that it is expected to have.
  // SHARED     steps are served by the shared pool, and nothing is written down. After a while
  //            they are learnt again; each time that was in vain, it takes twice as long.
  //
  // From PLANNED it goes back to LEARNING when DEPARTURES of the last 32 steps were of a structure
  // that is not known. The plans that are there stay.
  //
  // Steps whose thread asks the pool (see ImplicitSteps) are learnt while the pool serves them, and
  // only structures whose sizes vary are planned: the pool's own plan serves exact repeats better,
  // for it serves threads without steps too. The sizes must also vary together, and requests and
  // releases must have the same order: if any request may have any size, the envelope is far larger
  // than a step, and the pool's plan has blocks for each size. As soon as REPEATS steps in a row
  // were exactly like others before, learning ends, in SHARED. It stays there until it is told to
  // learn anew. When there is a plan, such a kind is like any other.
  //
  // The structure of a step is predicted from the size of its first request: it is that of the last
  // step with the same size that was learnt or served as planned, or else that of the latest step.

  /** So many steps of a structure are learnt before it is planned. */
  public static final int REPEATS = 3;

  /** So many steps are learnt in vain before it is given up for a while. */
  public static final int MAX_LEARNING_STEPS = 24;

  /** So many of the last 32 steps must have departed for steps to be learnt anew. */
  public static final int DEPARTURES = 8;

  /** So many steps are shared before they are learnt again, the first time. */
  public static final int MIN_SHARED_STEPS = 256;

  /** No more structures than this are remembered at a time. */
  public static final int MAX_STRUCTURES = 8;

  private static final int MAX_SHARED_STEPS = 1 << 20;

  /** How many first sizes are remembered; a power of two. */
  private static final int GUESSES = 64;

  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private enum Phase {
    LEARNING,
    PLANNED,
    SHARED
  }

  private final PlannedSteps owner;
  private final Object key;
  private final long firstBytes;

  /** Null of steps that are asked for memory themselves. */
  private final Runnable changed;

  private volatile Phase phase = Phase.LEARNING;

  /** Replaced as a whole, under the lock. */
  private volatile StepSequence[] sequences = {};

  /** Whether a step was leased since the last search for one to forget. */
  private volatile boolean used = true;

  // The structures that followed first sizes; null for a size that several begin with, of which one
  // is still learnt. Without a lock: a guess that is wrong costs a departure.
  private final long[] guessedBytes = new long[GUESSES];
  private final StepSequence[] guesses = new StepSequence[GUESSES];
  private StepSequence latest;

  private final StepCounts counts = new StepCounts();

  // Under the lock of this object, which is taken before that of a sequence.

  /** Structures that are no longer remembered and whose memory is about to be freed. */
  private final List<StepSequence> leaving = new ArrayList<>();

  /** Whether a structure must not be added any more. Under the lock. */
  private boolean retired;

  private final StepStatsSum gone = new StepStatsSum();
  private final PoolCounts goneCounts = new PoolCounts();
  private final Set<StepSequence> seen = new HashSet<>();
  private int learningSteps;
  private int settled;
  private int repeats;
  private long plansBefore;
  private int outcomes;
  private int waited;
  private int wait;

  /**
   * @param firstBytes size of the first request of the first step, for reports
   * @param changed told, without a lock, when what steps of this kind need of the pool may have
   *     changed; null if they are asked for memory themselves
   */
  KeyedSteps(PlannedSteps owner, Object key, long firstBytes, Runnable changed) {
    this.owner = owner;
    this.key = key;
    this.firstBytes = firstBytes;
    this.changed = changed;
  }

  boolean matches(Object itsKey) {
    return Objects.equals(key, itsKey);
  }

  PlannedSteps owner() {
    return owner;
  }

  Object key() {
    return key;
  }

  /** Memory for a step of the calling thread. */
  StepMemory lease(long bytes) {
    if (!used) {
      used = true;
    }
    Phase now = phase;
    StepSequence chosen = null;
    if (now == Phase.PLANNED) {
      chosen = choose(bytes);
    } else if (now == Phase.LEARNING) {
      chosen = guess(bytes);
    }
    StepMemory arena = chosen == null ? null : chosen.lease(bytes);
    if (arena != null) {
      return arena;
    }
    counts.unplannedSteps.increment();
    if (now == Phase.SHARED) {
      noteShared();
    }
    return now == Phase.LEARNING || (chosen != null && chosen.isGrowing())
        ? new LearningStep(owner, this)
        : new SharedStep(owner);
  }

  /**
   * Memory for a step whose thread asks the pool; null where the pool is to serve it.
   *
   * @param mayLearn whether a step may be learnt if there is no plan yet
   */
  StepMemory leaseImplicit(long bytes, boolean mayLearn) {
    if (!isServing() && !(mayLearn && isLearning())) {
      counts.unplannedSteps.increment();
      return null;
    }
    StepMemory leased = lease(bytes);
    // One that is shared would ask the pool, which would ask it.
    return leased instanceof SharedStep ? null : leased;
  }

  /** The structure that a step is expected to have, or null. */
  private StepSequence choose(long bytes) {
    StepSequence[] known = sequences;
    if (known.length == 1) {
      return known[0];
    }
    StepSequence guess = guess(bytes);
    if (guess != null) {
      return guess;
    }
    StepSequence last = latest;
    return last != null && last.isPlanned()
        ? last
        : Arrays.stream(known).filter(StepSequence::isPlanned).findFirst().orElse(null);
  }

  /** The planned structure that followed this first size, or null. */
  private StepSequence guess(long bytes) {
    int slot = slotOf(bytes);
    StepSequence guess = guesses[slot];
    return guess != null && guessedBytes[slot] == bytes && guess.isPlanned() ? guess : null;
  }

  private static int slotOf(long bytes) {
    return (int) ((bytes * SPREAD) >>> (Long.SIZE - Integer.numberOfTrailingZeros(GUESSES)));
  }

  /** A step with such a first request had this structure. */
  void remember(long bytes, StepSequence sequence) {
    if (sequences.length > 1) {
      latest = sequence;
      int slot = slotOf(bytes);
      boolean several = guesses[slot] == null && guessedBytes[slot] == bytes;
      guesses[slot] = several && phase == Phase.LEARNING ? null : sequence;
      guessedBytes[slot] = bytes;
    }
  }

  private synchronized void noteShared() {
    if (phase == Phase.SHARED && ++waited >= wait) {
      startLearning();
    }
  }

  private void startLearning() {
    phase = Phase.LEARNING;
    learningSteps = 0;
    seen.clear();
    settled = 0;
    repeats = 0;
    plansBefore = plans();
    outcomes = 0;
  }

  private long plans() {
    return Arrays.stream(sequences).filter(StepSequence::isPlanned).count();
  }

  private boolean any(Predicate<StepSequence> question) {
    for (StepSequence sequence : sequences) {
      if (question.test(sequence)) {
        return true;
      }
    }
    return false;
  }

  /** Whether there is a plan. */
  boolean isServing() {
    return any(StepSequence::isPlanned);
  }

  /** Whether steps are to be recorded for a first plan. */
  boolean isLearning() {
    return phase == Phase.LEARNING && !isServing() && !any(StepSequence::isPlanning);
  }

  /** Whether a structure that repeats exactly is planned, too. */
  boolean plansExact() {
    return changed == null || isServing();
  }

  /** Whether a step ever got memory here. */
  boolean hasServed() {
    StepStats stats = kind().stats();
    return stats.plannedSteps() + stats.unplannedSteps() > 0;
  }

  /** Begins to learn, if that has ended without a plan. */
  synchronized void learnAnew() {
    if (phase == Phase.SHARED && !owner.isClosed()) {
      startLearning();
    }
  }

  private void tellOfChange() {
    if (changed != null) {
      changed.run();
    }
  }

  /** Ends learning; if it was in vain, the next time comes later. */
  private void stopLearning(boolean vain) {
    phase = plans() > 0 ? Phase.PLANNED : Phase.SHARED;
    waited = 0;
    outcomes = 0;
    wait = vain ? Math.min(MAX_SHARED_STEPS, Math.max(MIN_SHARED_STEPS, 2 * wait)) : 0;
    if (vain) {
      Arrays.stream(sequences)
          .filter(
              sequence ->
                  !sequence.isPlanned() && !sequence.isPlanning() && sequence.retireWhileOpen())
          .forEach(this::forget);
    }
  }

  /**
   * A step that was written down has ended.
   *
   * @param step what it asked for, or null if that cannot be planned
   */
  void learnt(Recording step) {
    StepSequence sequence = takeIn(step);
    if (sequence != null) {
      sequence.trimIfDue();
      sequence.planIfWanted();
    }
    endLearning();
    tellOfChange();
  }

  /** Has a structure take a step in; null for none. */
  private synchronized StepSequence takeIn(Recording step) {
    StepSequence sequence = step == null ? null : nearest(step);
    if (phase == Phase.LEARNING) {
      learningSteps++;
      if (step != null && sequence == null) {
        sequence = add();
      }
    }
    boolean repeated = sequence != null && sequence.takeIn(step);
    repeats = repeated ? repeats + 1 : 0;
    if (sequence != null) {
      seen.add(sequence);
      remember(step.sizeBytes(0), sequence);
    }
    settled = sequence != null && sequence.count() >= REPEATS ? settled + 1 : 0;
    return sequence;
  }

  /** Ends learning if there is a plan for the steps that follow, or if it has taken too long. */
  private synchronized void endLearning() {
    if (phase == Phase.SHARED && plans() > 0) {
      phase = Phase.PLANNED;
    }
    if (phase != Phase.LEARNING) {
      return;
    }
    boolean waiting = Arrays.stream(sequences).anyMatch(StepSequence::isPlanning);
    boolean more = plans() > plansBefore;
    boolean exact = !plansExact() && repeats >= REPEATS;
    boolean settledOnPlans = more && settled >= seen.size();
    if (!waiting && (settledOnPlans || exact || learningSteps >= MAX_LEARNING_STEPS)) {
      stopLearning(!more);
    }
  }

  /** The structure to which a step adds the least, or null if none is the same. */
  private StepSequence nearest(Recording step) {
    StepSequence nearest = null;
    double least = StepSequence.SAME;
    for (StepSequence sequence : sequences) {
      boolean same = plansExact() || sequence.hasOrderOf(step);
      double growth = same ? sequence.growthBy(step) : Double.POSITIVE_INFINITY;
      if (growth < least || (growth == least && nearest == null)) {
        nearest = sequence;
        least = growth;
      }
    }
    return nearest;
  }

  /** One more structure; null if there is no room. */
  private StepSequence add() {
    if (retired || owner.isClosed()) {
      return null;
    }
    if (sequences.length == MAX_STRUCTURES) {
      Arrays.stream(sequences)
          .filter(sequence -> !sequence.wasUsed() && !sequence.isPlanning())
          .filter(StepSequence::retireWhileOpen)
          .findFirst()
          .ifPresent(this::forget);
      if (sequences.length == MAX_STRUCTURES) {
        return null;
      }
    }
    StepSequence added = new StepSequence(this);
    StepSequence[] more = Arrays.copyOf(sequences, sequences.length + 1);
    more[more.length - 1] = added;
    sequences = more;
    return added;
  }

  /** Forgets a structure that serves no more, or never did. */
  private void forget(StepSequence sequence) {
    leaving.add(sequence);
    sequences =
        Arrays.stream(sequences).filter(other -> other != sequence).toArray(StepSequence[]::new);
    owner.freeLater(
        () -> {
          sequence.free();
          freed(sequence);
        });
  }

  private synchronized void freed(StepSequence sequence) {
    if (leaving.remove(sequence)) {
      sequence.addTo(gone);
      sequence.addTo(goneCounts);
    }
  }

  /** The plan of a structure serves, or could not be made. */
  void planned(StepSequence sequence) {
    if (sequence.isPlanned()) {
      endLearning();
    } else if (Arrays.asList(sequences).contains(sequence)) {
      stopUnlessClosed();
    }
    tellOfChange();
  }

  /** Leaves these steps to the shared pool for a while, unless another structure has a plan. */
  void stop() {
    stopUnlessClosed();
    tellOfChange();
  }

  private synchronized void stopUnlessClosed() {
    // One wait for all that fail together.
    if (!owner.isClosed() && phase != Phase.SHARED) {
      stopLearning(true);
    }
  }

  /**
   * A step has departed from a structure, and is not the same.
   *
   * @param step what it asked for
   * @param bytes size of its first request
   */
  synchronized void foreign(Recording step, long bytes) {
    StepSequence other = nearest(step);
    if (other != null && other.isPlanned()) {
      remember(bytes, other);
      return;
    }
    if (phase == Phase.LEARNING) {
      learningSteps++;
      settled = 0;
      guesses[slotOf(bytes)] = null;
      guessedBytes[slotOf(bytes)] = bytes;
      return;
    }
    waited++;
    outcomes = (outcomes << 1) | 1;
    if (phase == Phase.PLANNED && Integer.bitCount(outcomes) >= DEPARTURES && waited >= wait) {
      startLearning();
      counts.replans.increment();
    }
  }

  /** A step that was served from a plan was of a structure that is known. */
  void known(StepSequence sequence) {
    if (phase == Phase.LEARNING) {
      noteServed(sequence);
      endLearning();
    } else if (outcomes != 0) {
      noteKnown();
    }
  }

  private synchronized void noteServed(StepSequence sequence) {
    learningSteps++;
    settled++;
    seen.add(sequence);
  }

  private synchronized void noteKnown() {
    outcomes <<= 1;
  }

  /**
   * Serves from a plan made elsewhere, unless there is one for its structure, or one that serves
   * its steps too. Reserves memory, but not under the lock.
   *
   * @return whether it serves
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory; all is as before then
   */
  boolean adopt(StepPlan kept) {
    StepSequence sequence = sequenceFor(kept.recording());
    boolean adopted = false;
    try {
      adopted = sequence != null && sequence.adopt(kept);
    } finally {
      adopted(kept.recording(), sequence, adopted);
    }
    if (adopted) {
      tellOfChange();
    }
    return adopted;
  }

  /** The structure that a plan made elsewhere is for, if it needs one; else null. */
  private synchronized StepSequence sequenceFor(Recording step) {
    if (any(sequence -> sequence.covers(step))) {
      return null;
    }
    StepSequence nearest = nearest(step);
    return nearest != null ? nearest : add();
  }

  private synchronized void adopted(Recording step, StepSequence sequence, boolean adopted) {
    if (adopted) {
      stopLearning(false);
      remember(step.sizeBytes(0), sequence);
    } else if (sequence != null
        && sequence.count() == 0
        && !sequence.isPlanning()
        && sequence.retireWhileOpen()) {
      forget(sequence);
    }
  }

  /** The plans that serve now, for another process; the largest first. */
  List<KeptStep> keep(boolean implicit) {
    return Arrays.stream(sequences)
        .map(StepSequence::plan)
        .filter(Objects::nonNull)
        .sorted(StepPlan.LARGEST_FIRST)
        .map(plan -> plan.keep(key, implicit))
        .toList();
  }

  /** The block at an address, if it belongs to these steps and is allocated; else null. */
  StepArena.PlannedBlock blockAt(long address) {
    for (StepSequence sequence : sequences) {
      StepArena.PlannedBlock block = sequence.blockAt(address);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /** Gives back the arenas that no step has wanted for so long, and all that are leaving. */
  long releaseIdle(long idleNanos) {
    return Arrays.stream(sequences).mapToLong(sequence -> sequence.releaseIdle(idleNanos)).sum();
  }

  StepKind kind() {
    StepStatsSum sum = new StepStatsSum();
    addTo(sum);
    return new StepKind(key, firstBytes, phase.name(), sum.toStats());
  }

  synchronized void addTo(StepStatsSum sum) {
    sum.add(gone);
    counts.addTo(sum, List.of());
    for (StepSequence sequence : sequences) {
      sequence.addTo(sum);
    }
    leaving.forEach(sequence -> sequence.addTo(sum));
  }

  synchronized void addTo(PoolCounts sum) {
    sum.addPast(goneCounts);
    for (StepSequence sequence : sequences) {
      sequence.addTo(sum);
    }
    leaving.forEach(sequence -> sequence.addTo(sum));
  }

  synchronized void clearLargest() {
    goneCounts.largestBytes = 0;
    for (StepSequence sequence : sequences) {
      sequence.clearLargest();
    }
  }

  /** Whether it was leased since this was asked last. */
  boolean wasUsed() {
    boolean was = used;
    used = false;
    return was;
  }

  /**
   * Makes sure that no step has an arena and none can be leased, and nothing of them is in use;
   * else leaves everything as it was.
   */
  @Override
  public synchronized boolean retire() {
    retired = Retirable.retireAll(Arrays.asList(sequences));
    return retired;
  }

  /** As {@link StepSequence#retireWhileOpen}, of all structures. */
  synchronized boolean retireWhileOpen() {
    retired = Retirable.retireAll(Arrays.asList(sequences), StepSequence::retireWhileOpen);
    return retired;
  }

  /** Undoes {@link #retire}. */
  @Override
  public synchronized void reopen() {
    retired = false;
    for (StepSequence sequence : sequences) {
      sequence.reopen();
    }
  }

  /** Gives all arenas back, whatever is in use. */
  synchronized void free() {
    for (StepSequence sequence : sequences) {
      sequence.free();
    }
    leaving.forEach(StepSequence::free);
    phase = Phase.SHARED;
  }
}
