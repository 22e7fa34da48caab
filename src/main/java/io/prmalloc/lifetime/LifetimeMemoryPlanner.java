package io.prmalloc.lifetime;

import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.block.StepSource;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.internal.jfr.FlightEvents.PlanKind;
import io.prmalloc.internal.lifecycle.PlanListener;
import io.prmalloc.internal.lifecycle.PlannerBinding;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/** The planner that learns; see {@link MemoryPlanner}. */
final class LifetimeMemoryPlanner extends MemoryPlanner implements PlannerBinding {

  // There are two locks, never held together:
  //
  //   statistics  what the server's threads touch: the clock, the open steps, the lives that have
  //               not ended, the queue of closed steps. Held for a few instructions at a time, and
  //               only while collecting: afterwards every call ends at the first look at `phase`.
  //   packing     the policies and what is counted about them. Held by the executor's thread for as
  //               long as a packing takes.
  //
  // The clock ticks once per event, under the lock of the statistics, so ticks are distinct, lives
  // end in the order of their releases, and concurrent steps are seen to overlap exactly. (DeepRec
  // reads a microsecond clock, where distinct events collide.)
  //
  // DeepRec pauses collecting while it packs, and one collector's close ends the step of every
  // thread. Here a closed step's lives go into the queue and the others go on collecting; the queue
  // is bounded by the most steps that are ever counted.
  //
  // If steps have nothing to plan, they are not observed after a while: that would cost each of
  // them a lock and some heap. The first life to be tracked then wakes the planner; it belongs to
  // the next step that closes.
  //
  // A packed life is forgotten once nothing that is still to be packed can have begun before its
  // end, so memory holds a step or two and not the whole warm-up. If packing is slower than the
  // traffic, steps that open while very many lives wait are not collected.
  //
  // An attempt to learn ends in one of three ways, in a bounded number of steps, and of seconds as
  // long as there is traffic:
  //
  //   a plan serves   DONE, for ever
  //   out of time     what was packed by then is the plan
  //   anything else   GAVE_UP: nothing packed in time, a listener that does not take the plan, an
  //                   executor that refuses, and whatever is thrown, of whatever type, by whatever
  //                   stage. It is logged, counted and told; a step that opens after the wait
  //                   begins the next attempt.
  //
  // Attempts are numbered, and steps, lives and packings know theirs: what is left of an attempt
  // that is over finds another number and changes nothing.

  private static final Logger LOGGER = SafeLog.logger(LifetimeMemoryPlanner.class);

  // The steps that the pool rehearses: enough to see what varies, with few enough lives to be
  // quick.
  private static final int RECENT_STEPS = 16;
  private static final int RECENT_LIVES = 1 << 18;

  // After so many steps without anything to plan the planner is dormant, until there is something.
  private static final int DORMANT_AFTER = 256;

  // The most lives that are kept for a step that may never open.
  private static final int MAX_STRAYS = 1 << 18;

  // The most lives that are kept of open steps and of closed ones that wait; a million lives are 40
  // MiB.
  private static final int MAX_WAITING_LIVES = 1 << 20;

  private static final int NO_ATTEMPT = -1;

  /** The time is looked at when so many events passed, if no step opens or closes. */
  private static final int TICKS_PER_LOOK = 1024;

  /** The longest wait is the first one times two to the power of this. */
  private static final int MAX_DOUBLINGS = 8;

  /** A step that is collected. Guarded by the lock of the statistics. */
  private static final class Step implements OpenStep {
    private final LifetimeMemoryPlanner planner;
    private final int number;
    private final Thread thread;
    private final Step outer;
    private List<AllocStats> finished = new ArrayList<>();
    private long earliestTick = Long.MAX_VALUE;

    Step(LifetimeMemoryPlanner planner, int number, Thread thread, Step outer) {
      this.planner = planner;
      this.number = number;
      this.thread = thread;
      this.outer = outer;
    }

    @Override
    public void end() {
      planner.closeStep(this);
    }
  }

  /**
   * A life that has not ended, linked in the order of begins. Guarded by the lock of the
   * statistics.
   */
  private static final class Life extends Tracked {
    private final int attempt;
    private final Step step;
    private final long beginTick;
    private final long totalBytes;
    private final long alignment;
    private Life older;
    private Life newer;

    Life(int attempt, Step step, long beginTick, long totalBytes, long alignment) {
      this.attempt = attempt;
      this.step = step;
      this.beginTick = beginTick;
      this.totalBytes = totalBytes;
      this.alignment = alignment;
    }
  }

  /**
   * A closed step that waits to be packed; nothing packed later begins before {@code horizonTick}.
   */
  private record ClosedStep(int attempt, int number, List<AllocStats> lives, long horizonTick) {}

  private final PlannerSettings settings;
  private final Executor executor;
  private final LongSupplier nanoClock;
  private final AtomicInteger openedSteps = new AtomicInteger();
  private volatile Phase phase = Phase.WAITING;
  private volatile int packedSteps;
  private volatile boolean dormant;

  // Written under the lock of the statistics. Attempts are numbered from 0.
  private volatile int attempt;
  private volatile int failures;
  private volatile String lastFailure;
  private volatile long retryNanos;

  private final ReentrantLock statistics = new ReentrantLock();
  private final Map<Thread, Step> innermost = new HashMap<>();
  private final Set<Step> openSteps = new LinkedHashSet<>();
  private final ArrayDeque<ClosedStep> closedSteps = new ArrayDeque<>();
  private List<AllocStats> strays = new ArrayList<>();
  private Step newestStep;
  private Life oldestLife;
  private Life newestLife;
  private long tick;
  private int countedSteps;
  private int waitingLives;
  private boolean timed;
  private long startNanos;
  private boolean outOfTime;
  private int refusals;
  private int emptySteps;
  private int concurrentSteps = 1;
  private PlanListener listener;
  private LifetimePlan plan;

  private final ReentrantLock packing = new ReentrantLock();
  private final ArrayDeque<List<AllocStats>> recentSteps = new ArrayDeque<>();
  private int recentLives;
  private List<LifetimePolicy> policies = LifetimePolicy.referencePolicies();
  private int stableSteps;
  private int packedAttempt;
  private int packedInAttempt;

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  LifetimeMemoryPlanner(PlannerSettings settings, Executor executor, LongSupplier nanoClock) {
    this.settings = settings;
    this.executor = executor;
    this.nanoClock = nanoClock;
  }

  @Override
  public Phase phase() {
    return phase;
  }

  @Override
  public int packedSteps() {
    return packedSteps;
  }

  @Override
  public int failures() {
    return failures;
  }

  @Override
  public Optional<String> lastFailure() {
    return Optional.ofNullable(lastFailure);
  }

  @Override
  public void bind(PlanListener bound, StepSource steps) {
    listen(bound);
    setSource(steps);
  }

  private void listen(PlanListener bound) {
    LifetimePlan ready;
    int of;
    statistics.lock();
    try {
      if (listener != null) {
        throw new IllegalStateException("this planner belongs to an allocator already");
      }
      listener = bound;
      ready = plan;
      plan = null;
      of = attempt;
    } finally {
      statistics.unlock();
    }
    if (ready != null) {
      try {
        executor.execute(() -> serve(of, bound, ready));
      } catch (Throwable e) {
        giveUp(of, "the executor refused to put the plan in force", e);
      }
    }
  }

  @Override
  OpenStep openStep() {
    Phase now = phase;
    if (now == Phase.DONE || now == Phase.CHOOSING || dormant) {
      return null;
    }
    int of = attempt;
    try {
      return now == Phase.GAVE_UP && isTooEarly() ? null : openNextStep();
    } catch (Throwable e) {
      giveUp(of, "a step could not be collected", e);
      return null;
    }
  }

  private OpenStep openNextStep() {
    int number = openedSteps.getAndIncrement();
    if (number < settings.startStep() && attempt == 0) {
      return null;
    }
    endIfOutOfTime();
    statistics.lock();
    try {
      if (!isOpenToSteps()) {
        return null;
      }
      phase = Phase.COLLECTING;
      Thread thread = Thread.currentThread();
      Step step = new Step(this, number, thread, innermost.get(thread));
      innermost.put(thread, step);
      openSteps.add(step);
      newestStep = step;
      concurrentSteps = Math.max(concurrentSteps, openSteps.size());
      return step;
    } finally {
      statistics.unlock();
    }
  }

  /** Whether the next attempt has to wait. */
  private boolean isTooEarly() {
    return nanoClock.getAsLong() - retryNanos < 0;
  }

  private boolean isOpenToSteps() {
    return phase != Phase.DONE
        && phase != Phase.CHOOSING
        && (phase != Phase.GAVE_UP || !isTooEarly())
        && !outOfTime
        && countedSteps <= settings.maxSteps()
        && waitingLives < MAX_WAITING_LIVES;
  }

  @Override
  public Tracked trackAllocate(long alignment, long totalBytes) {
    if (phase != Phase.COLLECTING) {
      return null;
    }
    if (dormant) {
      dormant = false;
    }
    int of = attempt;
    try {
      return beginLife(alignment, totalBytes);
    } catch (Throwable e) {
      giveUp(of, "an allocation could not be collected", e);
      return null;
    }
  }

  private Tracked beginLife(long alignment, long totalBytes) {
    boolean look;
    Life life;
    statistics.lock();
    try {
      if (phase != Phase.COLLECTING) {
        return null;
      }
      if (!timed) {
        startNanos = nanoClock.getAsLong();
        timed = true;
      }
      Step own = innermost.get(Thread.currentThread());
      look = tick % TICKS_PER_LOOK == 0;
      life = new Life(attempt, own != null ? own : newestStep, tick++, totalBytes, alignment);
      life.older = newestLife;
      if (newestLife != null) {
        newestLife.newer = life;
      } else {
        oldestLife = life;
      }
      newestLife = life;
    } finally {
      statistics.unlock();
    }
    if (look) {
      endIfOutOfTime();
    }
    return life;
  }

  @Override
  public void trackFree(Tracked tracked) {
    Life life = (Life) tracked;
    if (phase != Phase.COLLECTING || life.attempt != attempt) {
      return;
    }
    try {
      endLife(life);
    } catch (Throwable e) {
      giveUp(life.attempt, "a release could not be collected", e);
    }
  }

  private void endLife(Life life) {
    statistics.lock();
    try {
      if (phase != Phase.COLLECTING || life.attempt != attempt) {
        return;
      }
      unlink(life);
      AllocStats stats = new AllocStats(life.beginTick, tick++, life.totalBytes, life.alignment);
      if (waitingLives >= MAX_WAITING_LIVES) {
        return;
      }
      if (life.step != null && openSteps.contains(life.step)) {
        life.step.finished.add(stats);
        life.step.earliestTick = Math.min(life.step.earliestTick, life.beginTick);
        waitingLives++;
      } else if (!openSteps.isEmpty() || strays.size() < MAX_STRAYS) {
        strays.add(stats);
        waitingLives++;
      }
    } finally {
      statistics.unlock();
    }
  }

  @Override
  public void trackFailure(Tracked tracked) {
    // Null if nothing was collected when it was asked for.
    if (!(tracked instanceof Life life)) {
      return;
    }
    statistics.lock();
    try {
      if (phase == Phase.COLLECTING && life.attempt == attempt) {
        unlink(life);
      }
    } finally {
      statistics.unlock();
    }
  }

  private void unlink(Life life) {
    if (life.older != null) {
      life.older.newer = life.newer;
    } else {
      oldestLife = life.newer;
    }
    if (life.newer != null) {
      life.newer.older = life.older;
    } else {
      newestLife = life.older;
    }
  }

  private void closeStep(Step step) {
    int of = attempt;
    ClosedStep closed = null;
    try {
      closed = close(step);
      endIfOutOfTime();
    } catch (Throwable e) {
      giveUp(of, "a step could not be collected", e);
    }
    if (closed == null) {
      return;
    }
    try {
      executor.execute(this::packAll);
    } catch (Throwable e) {
      // The server is shutting down, its executor is full, or there can be no thread: a step less
      // to learn from is no reason to fail a request. It does not count, so that another one may
      // take its place.
      Level level = withdraw(closed) == 1 ? Level.WARNING : Level.DEBUG;
      SafeLog.log(LOGGER, level, "the executor refused to pack a step", e);
    }
  }

  /** The lives of a closing step that are to be packed, or null. */
  private ClosedStep close(Step step) {
    statistics.lock();
    try {
      if (!openSteps.remove(step)) {
        return null;
      }
      leave(step);
      return phase == Phase.COLLECTING ? enqueue(step) : null;
    } finally {
      statistics.unlock();
    }
  }

  /** Returns how often a step was refused so far. */
  private int withdraw(ClosedStep refused) {
    statistics.lock();
    try {
      if (closedSteps.removeIf(waiting -> waiting.number() == refused.number())) {
        countedSteps--;
        waitingLives -= refused.lives().size();
      }
      return ++refusals;
    } finally {
      statistics.unlock();
    }
  }

  /**
   * Has the executor end the attempt if its time is up. If it was asked before, and the same time
   * has passed again, it is not to be waited for.
   */
  private void endIfOutOfTime() {
    boolean askedBefore;
    int of;
    statistics.lock();
    try {
      long limit = TimeUnit.SECONDS.toNanos(settings.maxSeconds());
      long passed = timed ? nanoClock.getAsLong() - startNanos : 0;
      askedBefore = outOfTime;
      if (phase != Phase.COLLECTING || !timed || passed < (askedBefore ? 2 * limit : limit)) {
        return;
      }
      outOfTime = true;
      of = attempt;
    } finally {
      statistics.unlock();
    }
    if (askedBefore) {
      giveUp(of, "the executor packed nothing in " + 2L * settings.maxSeconds() + " s", null);
      return;
    }
    try {
      executor.execute(this::packAll);
    } catch (Throwable e) {
      giveUp(of, "the executor refused to pack what was collected", e);
    }
  }

  private void leave(Step step) {
    Step outer = step.outer;
    while (outer != null && !openSteps.contains(outer)) {
      outer = outer.outer;
    }
    if (innermost.get(step.thread) == step) {
      if (outer != null) {
        innermost.put(step.thread, outer);
      } else {
        innermost.remove(step.thread);
      }
    }
    if (newestStep == step) {
      newestStep = null;
      for (Step open : openSteps) {
        newestStep = open;
      }
    }
  }

  /**
   * Queues what a step collected; null if there was nothing, in which case the step does not count.
   */
  private ClosedStep enqueue(Step step) {
    List<AllocStats> lives = step.finished;
    // A tensor that lives on knows its step, but the step need not know the others any more.
    step.finished = List.of();
    if (!strays.isEmpty()) {
      lives.addAll(strays);
      lives.sort(Comparator.comparingLong(AllocStats::endTick));
      strays = new ArrayList<>();
    }
    if (lives.isEmpty()) {
      // A server whose steps ask for planned memory has nothing for us, maybe for ever.
      emptySteps++;
      dormant = emptySteps >= DORMANT_AFTER && oldestLife == null;
      return null;
    }
    emptySteps = 0;
    long horizon = oldestLife != null ? oldestLife.beginTick : tick;
    for (Step open : openSteps) {
      horizon = Math.min(horizon, open.earliestTick);
    }
    ClosedStep closed = new ClosedStep(attempt, step.number, lives, horizon);
    closedSteps.add(closed);
    countedSteps++;
    return closed;
  }

  /** Packs all that waits: a task that was refused leaves its step to the others. */
  private void packAll() {
    int of = attempt;
    packing.lock();
    try {
      ClosedStep step = pollClosedStep();
      while (step != null) {
        of = step.attempt();
        packNext(step);
        step = pollClosedStep();
      }
      of = attempt;
      if (isOutOfTime()) {
        finish(of);
      }
    } catch (Throwable e) {
      giveUp(of, "the steps could not be packed", e);
    } finally {
      packing.unlock();
    }
  }

  private void packNext(ClosedStep step) {
    beginPacking(step.attempt());
    pack(step);
    remember(step.lives());
    if (stableSteps > settings.stableSteps()
        || packedInAttempt > settings.maxSteps()
        || (step.attempt() == 0 && step.number() >= settings.stopStep())
        || isOutOfTime()) {
      finish(step.attempt());
    }
  }

  /** Forgets what was packed for other attempts. */
  private void beginPacking(int of) {
    if (packedAttempt != of) {
      packedAttempt = of;
      packedInAttempt = 0;
      stableSteps = 0;
      recentSteps.clear();
      recentLives = 0;
      policies = LifetimePolicy.referencePolicies();
    }
  }

  private boolean isOutOfTime() {
    statistics.lock();
    try {
      return phase == Phase.COLLECTING
          && timed
          && nanoClock.getAsLong() - startNanos >= TimeUnit.SECONDS.toNanos(settings.maxSeconds());
    } finally {
      statistics.unlock();
    }
  }

  private ClosedStep pollClosedStep() {
    statistics.lock();
    try {
      ClosedStep step = closedSteps.poll();
      waitingLives -= step == null ? 0 : step.lives().size();
      return step;
    } finally {
      statistics.unlock();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the packing lock only
  private void pack(ClosedStep step) {
    boolean stable = true;
    for (LifetimePolicy policy : policies) {
      for (AllocStats life : step.lives()) {
        policy.add(life);
      }
      stable &= policy.bestFit();
      policy.forgetBefore(step.horizonTick());
    }
    stableSteps = stable ? stableSteps + 1 : 0;
    packedInAttempt++;
    packedSteps++;
  }

  private void remember(List<AllocStats> lives) {
    recentSteps.add(lives);
    recentLives += lives.size();
    while (recentSteps.size() > RECENT_STEPS
        || (recentSteps.size() > 1 && recentLives > RECENT_LIVES)) {
      recentLives -= recentSteps.poll().size();
    }
  }

  /** Makes a plan of what is packed. */
  private void finish(int of) {
    beginPacking(of);
    if (packedInAttempt == 0) {
      giveUp(
          of,
          "no step that allocated planned memory was closed in " + settings.maxSeconds() + " s",
          null);
      return;
    }
    int concurrent;
    statistics.lock();
    try {
      if (of != attempt || phase != Phase.COLLECTING) {
        return;
      }
      phase = Phase.CHOOSING;
      concurrent = concurrentSteps;
      forget();
    } finally {
      statistics.unlock();
    }
    LifetimePlan made =
        LifetimePlan.of(LifetimePolicy.best(policies), List.copyOf(recentSteps), concurrent);
    policies = List.of();
    recentSteps.clear();
    packedAttempt = NO_ATTEMPT;
    int blocks = made.bins().stream().mapToInt(LifetimePlan.BinPlan::blocks).sum();
    FlightEvents.planMade(PlanKind.POOL, made.totalBytes(), blocks);
    PlanListener bound = publish(made);
    if (bound != null) {
      serve(of, bound, made);
    }
  }

  private void serve(int of, PlanListener bound, LifetimePlan made) {
    try {
      if (bound.onPlan(made)) {
        done(of);
      } else {
        giveUp(of, "the allocator did not take the plan", null);
      }
    } catch (Throwable e) {
      giveUp(of, "the plan could not be put in force", e);
    }
  }

  @Override
  public void skip() {
    packing.lock();
    try {
      policies = List.of();
      recentSteps.clear();
      packedAttempt = NO_ATTEMPT;
      done(attempt);
    } finally {
      packing.unlock();
    }
  }

  private PlanListener publish(LifetimePlan made) {
    statistics.lock();
    try {
      plan = listener == null ? made : null;
      return listener;
    } finally {
      statistics.unlock();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock of the statistics only
  private void done(int of) {
    statistics.lock();
    try {
      if (of == attempt) {
        attempt++;
        phase = Phase.DONE;
        forget();
      }
    } finally {
      statistics.unlock();
    }
  }

  /**
   * Ends an attempt without a plan; does nothing if it is over already. Throws nothing.
   *
   * @param what what went wrong
   * @param cause what was thrown, or null
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock of the statistics only
  private void giveUp(int of, String what, Throwable cause) {
    PlanListener bound;
    statistics.lock();
    try {
      if (of != attempt || phase == Phase.DONE) {
        return;
      }
      attempt++;
      long wait = (long) settings.retrySeconds() << Math.min(failures, MAX_DOUBLINGS);
      failures++;
      retryNanos = nanoClock.getAsLong() + TimeUnit.SECONDS.toNanos(wait);
      plan = null;
      forget();
      phase = Phase.GAVE_UP;
      bound = listener;
    } finally {
      statistics.unlock();
    }
    try {
      String reason = cause == null ? what : what + ": " + cause;
      lastFailure = reason;
      SafeLog.log(
          LOGGER,
          cause == null ? Level.INFO : Level.WARNING,
          "no plan came of learning, which begins anew later: " + what,
          cause);
      FlightEvents.learningFailed(reason, failures);
      if (bound != null) {
        bound.onFailure(reason);
      }
    } catch (Throwable e) {
      // No heap for the message, say: the statistics are right.
      SafeLog.log(LOGGER, Level.DEBUG, "a failure could not be told", e);
    }
  }

  /** Forgets what is collected. Under the lock of the statistics. */
  private void forget() {
    openSteps.clear();
    innermost.clear();
    closedSteps.clear();
    strays = new ArrayList<>();
    newestStep = null;
    oldestLife = null;
    newestLife = null;
    countedSteps = 0;
    waitingLives = 0;
    emptySteps = 0;
    refusals = 0;
    concurrentSteps = 1;
    timed = false;
    outOfTime = false;
    dormant = false;
  }
}
