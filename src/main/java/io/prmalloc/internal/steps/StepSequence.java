package io.prmalloc.internal.steps;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.extent.Backoff;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.internal.jfr.FlightEvents.PlanKind;
import io.prmalloc.internal.steps.StepPlan.Recording;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The steps of one structure: the same requests in the same order, of any sizes. Serves them from a
 * plan for the largest size that was seen of each request.
 *
 * <p>Threading: any thread.
 */
public final class StepSequence implements Retirable {

  // The envelope is what was seen: of each request the largest size and the longest life. Its load
  // is the most bytes that live at once in it, and so the least that any plan for it needs. A step
  // belongs to this structure if the load of both together is at most SAME times the larger of
  // their two loads. The factor is 1 if sizes change together, as those of a model do with its
  // batch.
  //
  // Raising. A request that is larger than its place shows that the plan is too low. The plan that
  // takes over has a load that is larger by GROWTH at least, so the number of plans is logarithmic
  // in the largest load. It is exactly the envelope's if that is larger by so much already, as
  // after a change from one batch size to another; but if sizes changed more often than once they
  // will do so again, and the plan is made larger than what was seen. Steps that are longer by an
  // eighth are planned anew at once, too; tensors that are released later than planned, and steps
  // that are a bit longer, when DEPARTURES of the last 32 steps departed for such a reason.
  //
  // Lowering. Blocks know the largest size of their uses. A step that ends reads and clears it, a
  // few times within the time after which idle arenas are freed. If in all that time the load of
  // the used sizes was less than LOW times that of the plan, the plan is made anew for the used
  // sizes. When it was raised again after that, the next time is twice as long.
  //
  // A step leases an arena. If none is free one more is made on the executor for short tasks, up
  // to a limit; if it is not there at once the step gets shared memory. The arenas of a plan that
  // was replaced go when they are free; those of one that was lowered or improved serve on until
  // there are as many of the new plan, made one for one, for what fits into the new fits into the
  // old.
  // Memory is freed on the executor too, and not under the lock, so that no step waits for it.

  private static final Logger LOGGER = SafeLog.logger(StepSequence.class);

  /** Steps of one structure have at most so many times the load of the larger one together. */
  public static final double SAME = 1.1;

  /** By how much a plan that is raised grows at least. */
  public static final double GROWTH = 1.125;

  /** A plan is lowered if less than this part of its load was used. */
  static final double LOW = 0.8;

  private static final int MAX_GIVEN_UP = 3;

  /** Usually more steps than run at a time. */
  private static final int TRIM_STEPS = 32;

  /** The wait before a plan is lowered is doubled so often. */
  private static final int MAX_DOUBLINGS = 6;

  /** How often idle arenas are looked for in the time after which they go. */
  private static final int IDLE_LOOKS = 4;

  private static final StepArena[] NO_ARENAS = {};

  private final KeyedSteps kind;
  private final PlannedSteps owner;

  /** Read without the lock by every lease. */
  private volatile StepArena[] arenas = NO_ARENAS;

  /** Arenas of the plan before, which serve steps that find no arena of this plan. */
  private volatile StepArena[] previous = NO_ARENAS;

  /** Whether a step that ends has more to do than to end itself. */
  private volatile boolean troubled;

  private volatile long lastIdleLook = System.nanoTime();

  /** Whether a step was leased or taken in since the last search for a structure to forget. */
  private volatile boolean used = true;

  private final StepCounts counts = new StepCounts();

  /** Written under the lock. */
  private volatile StepPlan plan;

  /** How many more steps end until the heap memory of steps without a plan is given back. */
  private volatile int stepsToTrim;

  /** The heap's mark when the plan began to serve. */
  private volatile int heapMark;

  /**
   * Whether a plan is being made, or about to be. Set under the lock, and cleared without it if the
   * executor refuses.
   */
  private volatile boolean planning;

  /** The same of one more arena. */
  private volatile boolean growing;

  // Under the lock of this object. The executor is asked without it, for that may do its work at
  // once and on the same thread; so is the kind, whose lock is taken first.
  private Recording envelope;
  private Recording latest;
  private long largestLoad;
  private int count;
  private int changes;
  private boolean lowering;
  private int doublings;
  private int failures;
  private int outcomes;
  private int givenUp;

  /** Whether it no longer serves, so that an arena that is being made must not serve either. */
  private boolean retired;

  private final List<StepArena> leaving = new ArrayList<>();

  /** Those that leases no longer find, while their memory is freed. */
  private final List<StepArena> releasing = new ArrayList<>();

  /** How long no more arenas are made, after memory was refused or an arena was given back. */
  private final Backoff backoff = new Backoff();

  /** Whether the executor is to look for arenas to be released. */
  private final AtomicBoolean sweeping = new AtomicBoolean();

  /** The largest size of each block of the plan since the window began; null for no window. */
  private long[] largest;

  private long windowBegin;

  StepSequence(KeyedSteps kind) {
    this.kind = kind;
    this.owner = kind.owner();
  }

  /** An arena for a step of the calling thread, or null. */
  StepArena lease(long firstBytes) {
    if (!used) {
      used = true;
    }
    StepArena arena = leaseArena();
    if (arena == null) {
      grow();
      // It is there already if the executor does its work at once. A step without it could take so
      // long that the arena would be freed as idle.
      arena = leaseArena();
    }
    if (arena != null) {
      arena.begin(firstBytes);
    }
    return arena;
  }

  /** Whether there is a plan. */
  boolean isPlanned() {
    return plan != null;
  }

  /** Whether a plan is being made. */
  boolean isPlanning() {
    return planning;
  }

  /**
   * Whether a step that found no arena is one of few: there will be one for it. Then it gets blocks
   * of its own, like a step that is learnt; else the shared pool would make a plan for requests
   * that do not come again.
   */
  boolean isGrowing() {
    return isPlanned()
        && !backoff.isWaiting()
        && arenas.length < owner.maxArenas()
        && !owner.isPooling();
  }

  private StepArena leaseArena() {
    StepArena arena = leaseOf(arenas);
    return arena != null ? arena : leaseOf(previous);
  }

  private static StepArena leaseOf(StepArena[] some) {
    for (StepArena arena : some) {
      if (arena.tryLease()) {
        return arena;
      }
    }
    for (StepArena arena : some) {
      if (arena.tryLeaseAgain()) {
        return arena;
      }
    }
    return null;
  }

  /** Has one more arena made, up to the limit. */
  private void grow() {
    StepPlan wanted = beginGrowing();
    if (wanted == null) {
      return;
    }
    boolean asked = false;
    try {
      asked = owner.later(() -> addArena(wanted));
    } finally {
      if (!asked) {
        growing = false;
      }
    }
  }

  /** The plan of which one more arena is wanted, or null. */
  private synchronized StepPlan beginGrowing() {
    int made = arenas.length + previous.length + leaving.size();
    if (plan == null || retired || growing || made >= owner.maxArenas()) {
      return null;
    }
    // The plan may have been replaced since the caller looked.
    if (Arrays.stream(arenas).anyMatch(StepArena::isFree)) {
      return null;
    }
    growing = backoff.isOver();
    return growing ? plan : null;
  }

  /** How many steps were taken in. */
  synchronized int count() {
    return count;
  }

  /**
   * The load of the envelope and a step together, as a multiple of the larger load; infinite if
   * nothing was taken in.
   */
  synchronized double growthBy(Recording step) {
    if (envelope == null) {
      return Double.POSITIVE_INFINITY;
    }
    if (envelope.repeats(step)) {
      return 1;
    }
    long most = Math.max(envelope.loadBytes(), step.loadBytes());
    return (double) envelope.envelope(step).loadBytes() / most;
  }

  /** Whether requests come and go in the same order as in the latest step. */
  synchronized boolean hasOrderOf(Recording step) {
    return latest != null && latest.hasOrderOf(step);
  }

  /** Takes in a step of this structure; whether it has the sizes of the one before. */
  synchronized boolean takeIn(Recording step) {
    used = true;
    boolean repeated = latest != null && latest.repeats(step);
    if (latest != null && !repeated) {
      changes++;
    }
    envelope = envelope == null ? step : envelope.envelope(step);
    latest = step;
    largestLoad = Math.max(largestLoad, step.loadBytes());
    count++;
    return repeated;
  }

  /** Whether the plan serves such a step. */
  synchronized boolean covers(Recording step) {
    return plan != null && plan.recording().covers(step);
  }

  /** Has a plan made if there is none yet that is right; not under the kind's lock. */
  void planIfWanted() {
    if (beginPlanning()) {
      planLater();
    }
  }

  private void planLater() {
    boolean asked = false;
    try {
      asked = owner.later(this::makePlan);
    } finally {
      if (!asked) {
        planning = false;
      }
    }
  }

  private synchronized boolean beginPlanning() {
    boolean wanted = !planning && !retired && (plan == null ? isLearnt() : isTooLow());
    planning |= wanted;
    return wanted;
  }

  private boolean isLearnt() {
    return count >= KeyedSteps.REPEATS && (kind.plansExact() || variesTogether());
  }

  /** Whether sizes vary, and a plan for all steps needs hardly more than the largest of them. */
  private boolean variesTogether() {
    return changes > 1 && envelope.loadBytes() <= SAME * largestLoad;
  }

  private boolean isTooLow() {
    // A failed plan is tried again after twice as many departures each time.
    if (failures > 0 && (count & ((1 << failures) - 1)) != 0) {
      return false;
    }
    Recording planned = plan.recording();
    return !hasPlaces(planned)
        || envelope.requests() >= GROWTH * planned.requests()
        || (Integer.bitCount(outcomes) >= KeyedSteps.DEPARTURES && !planned.covers(envelope));
  }

  /** Whether no request of the envelope is larger than its place, if it has one. */
  private boolean hasPlaces(Recording planned) {
    return planned.fits(envelope.first(planned.requests()));
  }

  /** The recording that the next plan is to be for. */
  private synchronized Recording places() {
    boolean raised = plan != null && !lowering && !hasPlaces(plan.recording());
    double factor = changes > 1 ? GROWTH : 1;
    if (raised) {
      double least = GROWTH * plan.recording().loadBytes();
      factor = Math.max(factor, least / envelope.loadBytes());
    }
    return factor > 1 ? envelope.times(factor) : envelope;
  }

  private void makePlan() {
    StepPlan made = null;
    StepArena first = null;
    boolean moves = false;
    try {
      if (isPlanned()) {
        // The departed step is over, and its memory must not stay beside two arenas.
        owner.purgeOutside();
      }
      Recording places = places();
      made = new StepPlan(places, StepPlacer.place(StepPlan.records(places)));
      owner.gate().beginMove();
      moves = true;
      first = reserve(made);
    } catch (OutOfNativeMemoryException | IllegalStateException e) {
      SafeLog.log(LOGGER, Level.WARNING, "no memory for a planned step, going on without", e);
    } finally {
      try {
        planned(made, first);
      } finally {
        if (moves) {
          owner.gate().endMove();
        }
        try {
          release();
        } finally {
          kind.planned(this);
        }
      }
    }
    if (first == null) {
      return;
    }
    exchange(made);
    owner.purgeOutside();
    // Steps may have asked for more meanwhile.
    planIfWanted();
    improveLater(made);
  }

  private StepArena reserve(StepPlan made) {
    return StepArena.reserve(this, made, owner.source());
  }

  private synchronized void planned(StepPlan made, StepArena first) {
    planning = false;
    boolean lowered = lowering;
    lowering = false;
    if (first == null) {
      failures = Math.min(failures + 1, MAX_DOUBLINGS);
      return;
    }
    failures = 0;
    try {
      if (owner.isClosed() || retired) {
        leaving.add(first);
        return;
      }
      if (plan != null) {
        (lowered ? counts.lowered : counts.raised).increment();
        doublings = lowered ? Math.min(doublings + 1, MAX_DOUBLINGS) : doublings;
      }
      serve(made, first, lowered);
    } finally {
      freeUnlessKnown(first);
    }
  }

  /** Frees an arena that no list has because of an error. Takes no heap. */
  private void freeUnlessKnown(StepArena made) {
    boolean known = leaving.contains(made);
    for (StepArena arena : arenas) {
      known |= arena == made;
    }
    if (!known) {
      made.free();
    }
  }

  /**
   * @param fits whether steps of this plan fit into the arenas of the one before
   */
  private void serve(StepPlan made, StepArena first, boolean fits) {
    StepArena[] serving = {first};
    leaving.addAll(Arrays.asList(previous));
    previous = NO_ARENAS;
    if (fits) {
      previous = arenas;
    } else {
      leaving.addAll(Arrays.asList(arenas));
    }
    plan = made;
    // Release: publishes the arena; its acquire is the read in lease.
    arenas = serving;
    outcomes = 0;
    largest = null;
    heapMark = owner.markOutside();
    stepsToTrim = TRIM_STEPS;
    noteTrouble();
    FlightEvents.planMade(PlanKind.STEP, made.offsets().totalBytes(), made.blocks());
    owner.notePlan();
    owner.noteReserved();
  }

  /** Has an arena of a plan made for each of the one before, which then leaves. */
  private void exchange(StepPlan made) {
    try {
      while (letOnePreviousLeave(made)) {
        addArena(made);
      }
    } catch (Throwable e) {
      letPreviousLeave();
      throw e;
    }
  }

  /** Lets one of those before leave, for which there is another; whether there are more. */
  private synchronized boolean letOnePreviousLeave(StepPlan made) {
    if (plan != made || retired || owner.isClosed()) {
      letPreviousLeave();
    }
    if (previous.length == 0) {
      return false;
    }
    StepArena[] fewer = Arrays.copyOf(previous, previous.length - 1);
    leaving.add(previous[fewer.length]);
    previous = fewer;
    noteTrouble();
    growing = fewer.length > 0;
    return growing;
  }

  private synchronized void letPreviousLeave() {
    leaving.addAll(Arrays.asList(previous));
    previous = NO_ARENAS;
    noteTrouble();
  }

  private void improveLater(StepPlan served) {
    if (!owner.planningTime().isZero()) {
      owner.longTaskLater(() -> improve(served));
    }
  }

  /** Looks for a plan of fewer bytes, while the one that was found at once serves. */
  private void improve(StepPlan served) {
    List<TensorUsageRecord> records = StepPlan.records(served.recording());
    if (!isServing(served) || served.offsets().totalBytes() <= LowerBounds.loadBytes(records)) {
      return;
    }
    OffsetsAssignment better =
        StepPlacer.improve(records, owner.planningTime(), () -> planning || !isServing(served));
    if (better.totalBytes() < served.offsets().totalBytes()) {
      // Where arenas are made one after the other, or there would be more than are wanted.
      owner.later(() -> replace(served, better));
    }
  }

  private void replace(StepPlan served, OffsetsAssignment better) {
    if (!isServing(served)) {
      return;
    }
    try {
      StepPlan made = new StepPlan(served.recording(), better);
      owner.gate().beginMove();
      try {
        replace(served, made, reserve(made));
      } finally {
        owner.gate().endMove();
      }
      exchange(made);
      release();
    } catch (OutOfNativeMemoryException | IllegalStateException e) {
      SafeLog.log(LOGGER, Level.DEBUG, "no memory for a better plan of a step", e);
    }
  }

  /** Without the lock, for a thread that has the lock may wait for the calling thread. */
  private boolean isServing(StepPlan served) {
    return served != null && plan == served && !owner.isClosed();
  }

  private synchronized void replace(StepPlan served, StepPlan better, StepArena first) {
    try {
      if (isServing(served) && !retired) {
        serve(better, first, true);
      } else {
        leaving.add(first);
      }
    } finally {
      freeUnlessKnown(first);
    }
  }

  /**
   * Serves from a plan that was made elsewhere, unless there is one or one is being made. Not under
   * the kind's lock, for it reserves memory.
   *
   * @return whether it serves
   * @throws OutOfNativeMemoryException if there is no memory; all is as before then
   */
  boolean adopt(StepPlan kept) {
    if (!beginAdoption()) {
      return false;
    }
    StepArena first = null;
    boolean moves = false;
    try {
      owner.gate().beginMove();
      moves = true;
      first = reserve(kept);
      return true;
    } finally {
      try {
        adopted(kept, first);
      } finally {
        if (moves) {
          owner.gate().endMove();
        }
      }
      release();
    }
  }

  private synchronized boolean beginAdoption() {
    boolean wanted = !planning && !retired && plan == null;
    planning |= wanted;
    return wanted;
  }

  private synchronized void adopted(StepPlan kept, StepArena first) {
    planning = false;
    if (first == null) {
      return;
    }
    try {
      if (owner.isClosed() || retired) {
        leaving.add(first);
        return;
      }
      Recording places = kept.recording();
      envelope = envelope == null ? places : envelope.envelope(places);
      latest = latest == null ? places : latest;
      count = Math.max(count, KeyedSteps.REPEATS);
      serve(kept, first, false);
    } finally {
      freeUnlessKnown(first);
    }
  }

  private void addArena(StepPlan wanted) {
    StepArena made = null;
    boolean moves = false;
    try {
      owner.gate().beginMove();
      moves = true;
      made = reserve(wanted);
    } catch (OutOfNativeMemoryException e) {
      backoff.refused();
      SafeLog.log(LOGGER, Level.DEBUG, "no memory for one more planned step", e);
    } finally {
      try {
        added(wanted, made);
      } finally {
        if (moves) {
          owner.gate().endMove();
        }
        release();
      }
    }
  }

  private synchronized void added(StepPlan wanted, StepArena made) {
    growing = false;
    if (made == null) {
      return;
    }
    try {
      if (owner.isClosed() || retired || plan != wanted) {
        leaving.add(made);
        return;
      }
      StepArena[] more = Arrays.copyOf(arenas, arenas.length + 1);
      more[more.length - 1] = made;
      arenas = more;
      owner.noteReserved();
    } finally {
      freeUnlessKnown(made);
    }
  }

  /**
   * A step has ended on its own thread.
   *
   * @param departed whether it departed from the plan
   * @param step what it asked for then, or null if that cannot be planned
   */
  void ended(StepArena arena, boolean departed, Recording step) {
    trimIfDue();
    boolean isSweepDue =
        arena.lastStepNanos() - lastIdleLook > owner.idleNanos() / IDLE_LOOKS
            || ((departed || troubled) && noteEnd(departed));
    if (departed) {
      departed(arena, step);
    } else {
      kind.remember(arena.firstBytes(), this);
      kind.known(this);
    }
    if (isSweepDue) {
      sweepLater();
    }
  }

  /** A request of a step that has an arena was served from elsewhere. */
  void countDeparted() {
    counts.departedRequests.increment();
  }

  private void departed(StepArena arena, Recording step) {
    counts.departures.increment();
    if (step == null) {
      return;
    }
    if (growthBy(step) <= SAME) {
      kind.known(this);
      takeIn(step);
      planIfWanted();
    } else {
      kind.foreign(step, arena.firstBytes());
    }
  }

  /** Whether an arena may go now. */
  private synchronized boolean noteEnd(boolean departed) {
    outcomes = (outcomes << 1) | (departed ? 1 : 0);
    noteTrouble();
    leaving.forEach(StepArena::noteThread);
    return leaving.stream().anyMatch(StepArena::isReleasable);
  }

  private void noteTrouble() {
    troubled = outcomes != 0 || !leaving.isEmpty();
  }

  /** How long a step's arena may go without {@link #used}. */
  long lookNanos() {
    long idle = owner.idleNanos();
    return idle == 0 ? Long.MAX_VALUE : idle / IDLE_LOOKS;
  }

  /**
   * Reports what the steps of an arena used since the last report.
   *
   * @param served the arena's plan
   * @param most the most bytes that each of its blocks was asked for
   */
  void used(StepPlan served, long[] most, long now) {
    if (beginLowering(served, most, now)) {
      planLater();
    }
  }

  private synchronized boolean beginLowering(StepPlan served, long[] most, long now) {
    if (served != plan || planning) {
      return false;
    }
    if (largest == null) {
      largest = most;
      windowBegin = now;
      return false;
    }
    Arrays.setAll(largest, block -> Math.max(largest[block], most[block]));
    if (now - windowBegin < owner.idleNanos() << doublings) {
      return false;
    }
    Recording lower = served.used(largest);
    largest = null;
    planning = lower.requests() > 0 && lower.loadBytes() < LOW * served.recording().loadBytes();
    if (planning) {
      lowering = true;
      envelope = lower;
      latest = null;
      changes = 0;
    }
    return planning;
  }

  /** A step has ended on another thread than its own. */
  void gaveUp(StepArena arena) {
    counts.departures.increment();
    if (giveUp(arena)) {
      kind.stop();
    }
    sweepLater();
  }

  private synchronized boolean giveUp(StepArena arena) {
    StepArena[] others = without(List.of(arena), arenas);
    StepArena[] othersBefore = without(List.of(arena), previous);
    // One of a plan that was replaced is leaving already.
    if (!leaving.contains(arena)) {
      leaving.add(arena);
    }
    arenas = others;
    previous = othersBefore;
    boolean tooOften = ++givenUp >= MAX_GIVEN_UP;
    if (tooOften) {
      plan = null;
      letPreviousLeave();
      leaving.addAll(Arrays.asList(arenas));
      arenas = NO_ARENAS;
      count = 0;
      givenUp = 0;
    }
    noteTrouble();
    return tooOften;
  }

  /** The memory of an arena goes before its step ends; false if another thread ended the step. */
  synchronized boolean letGo(StepArena arena) {
    StepArena[] others = without(List.of(arena), arenas);
    StepArena[] othersBefore = without(List.of(arena), previous);
    if (!arena.spend()) {
      return false;
    }
    arenas = others;
    previous = othersBefore;
    leaving.remove(arena);
    counts.forget(arena);
    backoff.used(arena.steps());
    backoff.refused();
    return true;
  }

  private static StepArena[] without(List<StepArena> gone, StepArena... some) {
    return Arrays.stream(some).filter(arena -> !gone.contains(arena)).toArray(StepArena[]::new);
  }

  /**
   * A step has ended. After the first step under this plan, its thread has no step any more that
   * began without the plan; after the last of so many, no thread has. So their memory is not in
   * use. By then steps of other kinds have shown what they still need of the heap.
   */
  void trimIfDue() {
    if (stepsToTrim > 0) {
      int mark = heapMark;
      int left = countDownToTrim();
      if (left == TRIM_STEPS - 1) {
        owner.later(owner::purgeOutside);
      } else if (left == 0) {
        owner.later(() -> owner.releaseOutside(mark));
      }
    }
  }

  /** How many steps are left; -1 if none was before. */
  private synchronized int countDownToTrim() {
    return stepsToTrim == 0 ? -1 : --stepsToTrim;
  }

  private void sweepLater() {
    if (sweeping.getAndSet(true)) {
      return;
    }
    boolean asked = false;
    try {
      asked = owner.later(this::sweep);
    } finally {
      if (!asked) {
        sweeping.set(false);
      }
    }
  }

  private void sweep() {
    sweeping.set(false);
    releaseIdle(owner.idleNanos());
  }

  /**
   * Gives back the arenas that no step has wanted for so long, and all that are leaving; how many
   * bytes those were.
   */
  long releaseIdle(long idleNanos) {
    letIdleLeave(idleNanos);
    long bytes = release();
    if (bytes > 0 && owner.gate().isClosed()) {
      // A request needed the memory.
      backoff.refused();
    }
    return bytes;
  }

  private synchronized void letIdleLeave(long idleNanos) {
    long now = System.nanoTime();
    lastIdleLook = now;
    List<StepArena> idle = new ArrayList<>();
    for (StepArena arena : arenas) {
      if (now - arena.lastStepNanos() >= idleNanos && arena.isReleasable()) {
        idle.add(arena);
      }
    }
    if (!idle.isEmpty()) {
      StepArena[] fewer = without(idle, arenas);
      leaving.addAll(idle);
      arenas = fewer;
    }
  }

  /** Gives back the arenas that are leaving and in which nothing is in use. */
  private long release() {
    if (!isReleaseDue()) {
      return 0;
    }
    owner.gate().beginMove();
    try {
      return releaseAll();
    } finally {
      owner.gate().endMove();
    }
  }

  private synchronized boolean isReleaseDue() {
    return !leaving.isEmpty();
  }

  private long releaseAll() {
    long bytes = 0;
    StepArena over = takeReleasable();
    while (over != null) {
      // Read before it is freed, and one by one: an error leaves the others for the next time.
      long its = over.bytes();
      backoff.used(over.steps());
      try {
        over.free();
      } finally {
        released(over);
      }
      bytes += its;
      over = takeReleasable();
    }
    return bytes;
  }

  /** An arena without an owner, for the caller to free; null if there is none. */
  private synchronized StepArena takeReleasable() {
    for (int i = 0; i < leaving.size(); i++) {
      StepArena arena = leaving.get(i);
      if (arena.claim()) {
        try {
          releasing.add(arena);
        } catch (Throwable e) {
          arena.reopen();
          throw e;
        }
        leaving.remove(i);
        counts.forget(arena);
        noteTrouble();
        return arena;
      }
    }
    return null;
  }

  private synchronized void released(StepArena over) {
    releasing.remove(over);
  }

  PlannedSteps owner() {
    return owner;
  }

  KeyedSteps kind() {
    return kind;
  }

  /** Whether what was seen had sizes that changed more often than once. */
  synchronized boolean varies() {
    return changes > 1;
  }

  private synchronized List<StepArena> all() {
    List<StepArena> all = new ArrayList<>(leaving);
    all.addAll(Arrays.asList(arenas));
    all.addAll(Arrays.asList(previous));
    return all;
  }

  /** The block at an address, if it belongs to this sequence and is allocated; else null. */
  StepArena.PlannedBlock blockAt(long address) {
    for (StepArena arena : all()) {
      StepArena.PlannedBlock block = arena.find(address);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /** The plan that serves now, or null. */
  StepPlan plan() {
    return plan;
  }

  synchronized void addTo(StepStatsSum sum) {
    counts.addTo(sum, all());
    sum.plans += plan == null ? 0 : 1;
  }

  synchronized void addTo(PoolCounts sum) {
    counts.addTo(sum, all());
  }

  synchronized void clearLargest() {
    counts.clearLargest(all());
  }

  /** Whether it was leased, or took a step in, since this was asked last. */
  boolean wasUsed() {
    boolean was = used;
    used = false;
    return was;
  }

  /**
   * Ensures that no step has an arena, that none can be leased, arenas that are being made
   * included, and that no memory of them is in use; else leaves everything as it was.
   */
  @Override
  public synchronized boolean retire() {
    retired = Retirable.retireAll(all());
    return retired;
  }

  /** As {@link StepArena#retireWhileOpen}, of all arenas. */
  synchronized boolean retireWhileOpen() {
    retired = Retirable.retireAll(all(), StepArena::retireWhileOpen);
    return retired;
  }

  /** Undoes {@link #retire}. */
  @Override
  public synchronized void reopen() {
    retired = false;
    for (int i = 0; i < leaving.size(); i++) {
      leaving.get(i).reopen();
    }
    for (StepArena arena : arenas) {
      arena.reopen();
    }
    for (StepArena arena : previous) {
      arena.reopen();
    }
  }

  /** Gives all arenas back, whatever is in use. */
  synchronized void free() {
    retired = true;
    plan = null;
    StepArena[] serving = arenas;
    StepArena[] before = previous;
    arenas = NO_ARENAS;
    previous = NO_ARENAS;
    free(serving);
    free(before);
    for (int i = 0; i < leaving.size(); i++) {
      leaving.get(i).free();
      counts.forget(leaving.get(i));
    }
    leaving.clear();
    // Waits for the thread that frees it.
    for (int i = 0; i < releasing.size(); i++) {
      releasing.get(i).free();
    }
  }

  private void free(StepArena... some) {
    // Without a stream: this takes no heap, of which there may be none.
    for (StepArena arena : some) {
      arena.free();
      counts.forget(arena);
    }
  }
}
