package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.jfr.FlightEvents;
import io.prmalloc.jfr.FlightEvents.PlanKind;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.lifetime.StepMemory;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.pool.StepPlan.Recording;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The steps of one kind: those with the same key and the same size of the first request. First they
 * are learnt, then planned; if they never repeat, or no longer do, they are served by the shared
 * pool.
 *
 * <p>Threading: any thread.
 */
final class StepSequence {

  // LEARNING   each step writes down its requests and is served by regions of its own. After
  //            REPEATS steps in a row that asked for the same, the plan is made, on the planner's
  //            executor; steps go on writing down meanwhile. A tensor's life is the longest one
  //            that was seen.
  // PLANNED    a step leases an arena. If none is free one more is made on that executor, up to a
  //            limit; if it is not there at once the step gets shared memory.
  // SHARED     steps are served by the shared pool, and nothing is written down. After a while
  //            they are learnt again; each time that was in vain, it takes twice as long.
  //
  // From PLANNED it goes back to LEARNING when DEPARTURES of the last 32 steps departed from the
  // plan: so often that the traffic has changed, and not so seldom that a step cut short by an
  // error, or a request of another model once in a while, makes a good plan go. The old arenas go
  // when they are home.

  private static final Logger LOGGER = System.getLogger(StepSequence.class.getName());

  /** So many steps in a row must have asked for the same. */
  static final int REPEATS = 3;

  /** So many steps are learnt in vain before it is given up for a while. */
  static final int MAX_LEARNING_STEPS = 24;

  /** So many of the last 32 steps must have departed for the plan to go. */
  static final int DEPARTURES = 8;

  /** So many steps are shared before they are learnt again, the first time. */
  static final int MIN_SHARED_STEPS = 256;

  private static final int MAX_SHARED_STEPS = 1 << 20;
  private static final int MAX_GIVEN_UP = 3;

  /** How often idle arenas are looked for in the time after which they go. */
  private static final int IDLE_LOOKS = 4;

  private enum Phase {
    LEARNING,
    PLANNED,
    SHARED
  }

  private static final StepArena[] NO_ARENAS = {};

  private final PlannedSteps owner;
  private final Object key;
  private final long firstBytes;

  /** Read without the lock by every lease. */
  private volatile StepArena[] arenas = NO_ARENAS;

  private volatile Phase phase = Phase.LEARNING;

  /** Whether a step that ends has to look after more than itself. */
  private volatile boolean troubled;

  private volatile long lastIdleLook = System.nanoTime();

  /** Whether a step was leased since the last time somebody looked for one to forget. */
  private volatile boolean used = true;

  private final StepCounts counts = new StepCounts();

  /** Written under the lock. */
  private volatile StepPlan plan;

  // Under the lock of this object. The executor is asked without it, for that may do its work at
  // once and on the same thread.
  private final StepRepeats latest = new StepRepeats();
  private volatile boolean planning;
  private volatile boolean growing;
  private int outcomes;
  private int sharedSteps;
  private int sharedStepsWanted = MIN_SHARED_STEPS;
  private int givenUp;
  private final List<StepArena> leaving = new ArrayList<>();

  StepSequence(PlannedSteps owner, Object key, long firstBytes) {
    this.owner = owner;
    this.key = key;
    this.firstBytes = firstBytes;
  }

  boolean matches(Object itsKey, long itsFirstBytes) {
    return firstBytes == itsFirstBytes && Objects.equals(key, itsKey);
  }

  /** Memory for a step of the calling thread. */
  StepMemory lease() {
    if (!used) {
      used = true;
    }
    StepArena arena = leaseArena();
    if (arena == null && phase == Phase.PLANNED) {
      grow();
      // It is there already if the executor does its work at once. A step that went without it
      // could take so long that the arena would go as idle.
      arena = leaseArena();
    }
    if (arena != null) {
      return arena;
    }
    counts.unplannedSteps.increment();
    return phase == Phase.LEARNING ? new LearningStep(owner, this) : share();
  }

  /**
   * Whether a step that found no arena is one of few: there will be one for it. Then it gets
   * regions of its own, as one that is learnt; or else the shared pool would make a plan for what
   * it will not be asked for again.
   */
  private boolean isGrowing() {
    return phase == Phase.PLANNED && arenas.length < owner.maxArenas() && !owner.isPooling();
  }

  private StepArena leaseArena() {
    for (StepArena arena : arenas) {
      if (arena.tryLease()) {
        return arena;
      }
    }
    for (StepArena arena : arenas) {
      if (arena.tryLeaseAgain()) {
        return arena;
      }
    }
    return null;
  }

  private StepMemory share() {
    noteShared();
    return isGrowing() ? new LearningStep(owner, this) : new SharedStep(owner);
  }

  private synchronized void noteShared() {
    if (phase == Phase.SHARED && ++sharedSteps >= sharedStepsWanted) {
      sharedStepsWanted = Math.min(MAX_SHARED_STEPS, 2 * sharedStepsWanted);
      startLearning();
    }
  }

  /** Has one more arena made, up to the limit. */
  private void grow() {
    StepPlan wanted = wanted();
    if (wanted != null && !owner.later(() -> addArena(wanted))) {
      growing = false;
    }
  }

  /** The plan of which one more arena is wanted, or null. */
  private synchronized StepPlan wanted() {
    if (phase != Phase.PLANNED || growing || arenas.length + leaving.size() >= owner.maxArenas()) {
      return null;
    }
    growing = true;
    return plan;
  }

  private void startLearning() {
    phase = Phase.LEARNING;
    latest.begin();
  }

  /**
   * A step that was learnt has ended.
   *
   * @param step what it asked for, or null if that cannot be planned
   */
  void learnt(Recording step) {
    if (isToBePlanned(step) && !owner.later(this::makePlan)) {
      planning = false;
    }
  }

  private synchronized boolean isToBePlanned(Recording step) {
    if (phase != Phase.LEARNING) {
      return false;
    }
    latest.add(step);
    if (latest.count() >= REPEATS && !planning) {
      planning = true;
      return true;
    }
    if (latest.steps() >= MAX_LEARNING_STEPS && latest.count() < REPEATS) {
      stopPlanning();
    }
    return false;
  }

  private void stopPlanning() {
    phase = Phase.SHARED;
    sharedSteps = 0;
    latest.begin();
  }

  private void makePlan() {
    Recording planned;
    synchronized (this) {
      planned = latest.recording();
      if (planned == null) {
        planning = false;
        return;
      }
    }
    StepPlan made = null;
    StepArena first = null;
    try {
      made = new StepPlan(planned, StepPlacer.place(StepPlan.records(planned)));
      first = StepArena.reserve(this, made, owner.source());
    } catch (OutOfNativeMemoryException | IllegalStateException e) {
      LOGGER.log(Level.WARNING, "no memory for a planned step, going on without", e);
    } finally {
      planned(planned, made, first);
    }
    if (isServing(made) && !owner.planningTime().isZero()) {
      improve(made);
    }
  }

  private synchronized void planned(Recording planned, StepPlan made, StepArena first) {
    planning = false;
    if (owner.isClosed() || phase != Phase.LEARNING || first == null) {
      if (first != null) {
        first.tryRelease();
      }
      if (phase == Phase.LEARNING) {
        stopPlanning();
      }
      return;
    }
    if (!latest.isOf(planned)) {
      // The traffic has changed while the plan was made.
      first.tryRelease();
      return;
    }
    serve(made, first);
  }

  private void serve(StepPlan made, StepArena first) {
    FlightEvents.planMade(PlanKind.STEP, made.offsets().totalBytes(), made.blocks());
    plan = made;
    outcomes = 0;
    // Release: publishes the arena; its acquire is the read in lease.
    arenas = new StepArena[] {first};
    phase = Phase.PLANNED;
    owner.noteReserved();
  }

  /** Looks for a plan of fewer bytes, while the one that was found at once serves. */
  private void improve(StepPlan served) {
    List<TensorUsageRecord> records = StepPlan.records(served.recording());
    if (served.offsets().totalBytes() <= LowerBounds.loadBytes(records)) {
      return;
    }
    OffsetsAssignment better =
        StepPlacer.improve(records, owner.planningTime(), () -> !isServing(served));
    if (better.totalBytes() >= served.offsets().totalBytes()) {
      return;
    }
    try {
      StepPlan made = new StepPlan(served.recording(), better);
      replace(served, made, StepArena.reserve(this, made, owner.source()));
    } catch (OutOfNativeMemoryException | IllegalStateException e) {
      LOGGER.log(Level.DEBUG, "no memory for a better plan of a step", e);
    }
  }

  /** Without the lock, for it is asked by threads that somebody waits for who may have it. */
  private boolean isServing(StepPlan served) {
    return served != null && plan == served && !owner.isClosed();
  }

  private synchronized void replace(StepPlan served, StepPlan better, StepArena first) {
    if (!isServing(served)) {
      first.tryRelease();
      return;
    }
    dropPlan();
    serve(better, first);
  }

  /** Starts with a plan made elsewhere. */
  synchronized void adopt(StepPlan kept) {
    serve(kept, StepArena.reserve(this, kept, owner.source()));
  }

  private void addArena(StepPlan wanted) {
    StepArena made = null;
    try {
      made = StepArena.reserve(this, wanted, owner.source());
    } catch (OutOfNativeMemoryException e) {
      LOGGER.log(Level.DEBUG, "no memory for one more planned step", e);
    } finally {
      added(wanted, made);
    }
  }

  private synchronized void added(StepPlan wanted, StepArena made) {
    growing = false;
    if (made == null) {
      return;
    }
    if (owner.isClosed() || plan != wanted) {
      made.tryRelease();
      return;
    }
    StepArena[] more = Arrays.copyOf(arenas, arenas.length + 1);
    more[more.length - 1] = made;
    arenas = more;
    owner.noteReserved();
  }

  /** A step has ended on its own thread. */
  void ended(StepArena arena, boolean whole) {
    if (!whole || troubled) {
      note(arena, whole);
    }
    if (arena.lastStepNanos() - lastIdleLook > owner.idleNanos() / IDLE_LOOKS) {
      releaseIdle(owner.idleNanos());
    }
  }

  private synchronized void note(StepArena arena, boolean whole) {
    if (!whole) {
      counts.departures.increment();
    }
    outcomes = (outcomes << 1) | (whole ? 0 : 1);
    if (phase == Phase.PLANNED
        && arena.plan() == plan
        && Integer.bitCount(outcomes) >= DEPARTURES) {
      outcomes = 0;
      dropPlan();
      startLearning();
      counts.replans.increment();
    }
    releaseLeaving();
  }

  private void dropPlan() {
    plan = null;
    leaving.addAll(Arrays.asList(arenas));
    arenas = NO_ARENAS;
    releaseLeaving();
  }

  /** A step has ended on another thread than its own. */
  synchronized void gaveUp(StepArena arena) {
    counts.departures.increment();
    arenas = Arrays.stream(arenas).filter(other -> other != arena).toArray(StepArena[]::new);
    leaving.add(arena);
    if (++givenUp >= MAX_GIVEN_UP) {
      dropPlan();
      stopPlanning();
    }
  }

  private void releaseLeaving() {
    leaving.removeIf(
        arena -> {
          boolean released = arena.tryRelease();
          if (released) {
            counts.forget(arena);
          }
          return released;
        });
    troubled = outcomes != 0 || !leaving.isEmpty();
  }

  /** Gives back the arenas that no step has wanted for so long, and all that are leaving. */
  synchronized long releaseIdle(long idleNanos) {
    long before = reservedBytes();
    releaseLeaving();
    long now = System.nanoTime();
    lastIdleLook = now;
    // Leases begin with the first, so the last ones are those that are not wanted.
    int kept = arenas.length;
    while (kept > 0
        && arenas[kept - 1].isFree()
        && now - arenas[kept - 1].lastStepNanos() >= idleNanos
        && arenas[kept - 1].tryRelease()) {
      counts.forget(arenas[--kept]);
    }
    if (kept < arenas.length) {
      arenas = Arrays.copyOf(arenas, kept);
    }
    return before - reservedBytes();
  }

  PlannedSteps owner() {
    return owner;
  }

  private synchronized List<StepArena> all() {
    List<StepArena> all = new ArrayList<>(leaving);
    all.addAll(Arrays.asList(arenas));
    return all;
  }

  /** Closes the block at an address, if it is one of this sequence and out. */
  boolean closeRaw(long address) {
    return all().stream().anyMatch(arena -> arena.closeRaw(address));
  }

  /** The plan that serves now, for another process. */
  synchronized Optional<KeptStep> keep() {
    return Optional.ofNullable(plan).map(served -> served.keep(key));
  }

  synchronized StepKind kind() {
    StepStats.Sum sum = new StepStats.Sum();
    addTo(sum);
    return new StepKind(key, firstBytes, phase.name(), sum.toStats());
  }

  synchronized void addTo(StepStats.Sum sum) {
    counts.addTo(sum, all());
    sum.plans += plan == null ? 0 : 1;
  }

  synchronized void addTo(PoolCounts sum) {
    counts.addTo(sum, all());
  }

  synchronized void clearLargest() {
    counts.clearLargest(all());
  }

  synchronized long reservedBytes() {
    return all().stream().mapToLong(StepArena::bytes).sum();
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
  synchronized boolean retire() {
    List<StepArena> retired = new ArrayList<>();
    for (StepArena arena : all()) {
      if (!arena.retire()) {
        retired.forEach(StepArena::reopen);
        return false;
      }
      retired.add(arena);
    }
    return true;
  }

  /** Undoes {@link #retire}. */
  synchronized void reopen() {
    all().forEach(StepArena::reopen);
  }

  /** Gives all arenas back, whatever is in use. */
  synchronized void free() {
    for (StepArena arena : all()) {
      arena.free();
      counts.forget(arena);
    }
    leaving.clear();
    arenas = NO_ARENAS;
    plan = null;
    phase = Phase.SHARED;
  }
}
