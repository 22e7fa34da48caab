package io.prmalloc.lifetime;

import io.prmalloc.jfr.FlightEvents;
import io.prmalloc.jfr.FlightEvents.PlanKind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/** The planner that plans. */
final class LifetimeMemoryPlanner extends MemoryPlanner {

  // Two worlds, a lock each, never held together:
  //
  //   books     what the server's threads touch: the clock, the open steps, the lives that have
  //             not ended, the queue of closed steps. Held for a few instructions at a time, and
  //             only while collecting: afterwards every call ends at the first look at `phase`.
  //   packing   the policies and what is counted about them. Held by the executor's thread for as
  //             long as a packing takes.
  //
  // The clock ticks once per event, under the books' lock, so ticks are distinct, lives end in the
  // order of their releases, and concurrent steps are seen to overlap exactly as they did. (DeepRec
  // reads a microsecond clock, where distinct events collide.)
  //
  // DeepRec pauses collecting while it packs, and one collector's close ends everybody's step. Here
  // a closed step's lives go into the queue and the others go on collecting; the queue is bounded
  // by the most steps that are ever counted.
  //
  // Where steps have nothing to plan, they are not looked at after a while: that would cost each of
  // them a lock and some heap. The first life to be tracked then wakes the planner; it belongs to
  // the next step that closes.
  //
  // A packed life is forgotten once nothing that is still to be packed can have begun before its
  // end, so memory holds a step or two and not the whole warm-up.

  private static final Logger LOGGER = System.getLogger(LifetimeMemoryPlanner.class.getName());

  // What the pool rehearses: enough steps to see what varies, few enough lives to be quick.
  private static final int RECENT_STEPS = 16;
  private static final int RECENT_LIVES = 1 << 18;

  // After so many steps without anything to plan it goes to sleep, until there is something.
  private static final int DORMANT_AFTER = 256;

  // What is kept for a step that may never come.
  private static final int MAX_STRAYS = 1 << 18;

  /** A step that is collected. Guarded by the books' lock. */
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

  /** A life that has not ended, linked in the order of begins. Guarded by the books' lock. */
  private static final class Life extends Tracked {
    private final Step step;
    private final long beginTick;
    private final long totalBytes;
    private final long alignment;
    private Life older;
    private Life newer;

    Life(Step step, long beginTick, long totalBytes, long alignment) {
      this.step = step;
      this.beginTick = beginTick;
      this.totalBytes = totalBytes;
      this.alignment = alignment;
    }
  }

  /**
   * A closed step that waits to be packed; nothing packed later begins before {@code horizonTick}.
   */
  private record ClosedStep(int number, List<AllocStats> lives, long horizonTick) {}

  private final PlannerSettings settings;
  private final Executor executor;
  private final AtomicInteger openedSteps = new AtomicInteger();
  private volatile Phase phase = Phase.WAITING;
  private volatile int packedSteps;
  private volatile boolean dormant;

  private final ReentrantLock books = new ReentrantLock();
  private final Map<Thread, Step> innermost = new HashMap<>();
  private final Set<Step> openSteps = new LinkedHashSet<>();
  private final ArrayDeque<ClosedStep> closedSteps = new ArrayDeque<>();
  private List<AllocStats> strays = new ArrayList<>();
  private Step newestStep;
  private Life oldestLife;
  private Life newestLife;
  private long tick;
  private int countedSteps;
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

  LifetimeMemoryPlanner(PlannerSettings settings, Executor executor) {
    this.settings = settings;
    this.executor = executor;
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
  public void bind(PlanListener bound) {
    LifetimePlan ready;
    books.lock();
    try {
      if (listener != null) {
        throw new IllegalStateException("this planner belongs to an allocator already");
      }
      listener = bound;
      ready = plan;
      plan = null;
    } finally {
      books.unlock();
    }
    if (ready != null) {
      executor.execute(() -> bound.onPlan(ready));
    }
  }

  @Override
  OpenStep openStep() {
    return (phase == Phase.DONE || dormant) ? null : openNextStep();
  }

  private OpenStep openNextStep() {
    int number = openedSteps.getAndIncrement();
    if (number < settings.startStep()) {
      return null;
    }
    books.lock();
    try {
      if (phase == Phase.DONE || countedSteps > settings.maxSteps()) {
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
      books.unlock();
    }
  }

  @Override
  public Tracked trackAllocate(long alignment, long totalBytes) {
    if (phase != Phase.COLLECTING) {
      return null;
    }
    if (dormant) {
      dormant = false;
    }
    books.lock();
    try {
      if (phase != Phase.COLLECTING) {
        return null;
      }
      Step own = innermost.get(Thread.currentThread());
      Life life = new Life(own != null ? own : newestStep, tick++, totalBytes, alignment);
      life.older = newestLife;
      if (newestLife != null) {
        newestLife.newer = life;
      } else {
        oldestLife = life;
      }
      newestLife = life;
      return life;
    } finally {
      books.unlock();
    }
  }

  @Override
  public void trackFree(Tracked tracked) {
    if (phase != Phase.COLLECTING) {
      return;
    }
    books.lock();
    try {
      if (phase != Phase.COLLECTING) {
        return;
      }
      Life life = (Life) tracked;
      unlink(life);
      AllocStats stats = new AllocStats(life.beginTick, tick++, life.totalBytes, life.alignment);
      if (life.step != null && openSteps.contains(life.step)) {
        life.step.finished.add(stats);
        life.step.earliestTick = Math.min(life.step.earliestTick, life.beginTick);
      } else if (!openSteps.isEmpty() || strays.size() < MAX_STRAYS) {
        strays.add(stats);
      }
    } finally {
      books.unlock();
    }
  }

  @Override
  public void trackFailure(Tracked tracked) {
    books.lock();
    try {
      if (phase == Phase.COLLECTING) {
        unlink((Life) tracked);
      }
    } finally {
      books.unlock();
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
    ClosedStep closed;
    books.lock();
    try {
      if (!openSteps.remove(step)) {
        return;
      }
      leave(step);
      closed = phase == Phase.DONE ? null : enqueue(step);
      if (closed == null) {
        return;
      }
    } finally {
      books.unlock();
    }
    try {
      executor.execute(this::packAll);
    } catch (RejectedExecutionException e) {
      // The server is shutting down, or its executor is full: a step less to learn from is no
      // reason to fail a request. It does not count, so that another one may take its place.
      Level level = withdraw(closed) == 1 ? Level.WARNING : Level.DEBUG;
      LOGGER.log(level, "the executor refused to pack step " + step.number, e);
    }
  }

  /** Returns how often a step was refused so far. */
  private int withdraw(ClosedStep refused) {
    books.lock();
    try {
      if (closedSteps.removeIf(waiting -> waiting.number() == refused.number())) {
        countedSteps--;
      }
      return ++refusals;
    } finally {
      books.unlock();
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
    ClosedStep closed = new ClosedStep(step.number, lives, horizon);
    closedSteps.add(closed);
    countedSteps++;
    return closed;
  }

  /** Packs all that waits: a task that was refused leaves its step to the others. */
  private void packAll() {
    packing.lock();
    try {
      ClosedStep step = pollClosedStep();
      while (step != null && !policies.isEmpty()) {
        packNext(step);
        step = pollClosedStep();
      }
    } finally {
      packing.unlock();
    }
  }

  private void packNext(ClosedStep step) {
    pack(step);
    remember(step.lives());
    if (stableSteps > settings.stableSteps()
        || packedSteps > settings.maxSteps()
        || step.number() >= settings.stopStep()) {
      finish();
    }
  }

  private ClosedStep pollClosedStep() {
    books.lock();
    try {
      return closedSteps.poll();
    } finally {
      books.unlock();
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

  private void finish() {
    int concurrent;
    books.lock();
    try {
      concurrent = concurrentSteps;
    } finally {
      books.unlock();
    }
    LifetimePlan made =
        LifetimePlan.of(LifetimePolicy.best(policies), List.copyOf(recentSteps), concurrent);
    policies = List.of();
    recentSteps.clear();
    int blocks = made.bins().stream().mapToInt(LifetimePlan.BinPlan::blocks).sum();
    FlightEvents.planMade(PlanKind.POOL, made.totalBytes(), blocks);
    PlanListener bound = publish(made);
    try {
      if (bound != null) {
        bound.onPlan(made);
      }
    } finally {
      close();
    }
  }

  @Override
  public void skip() {
    packing.lock();
    try {
      policies = List.of();
      recentSteps.clear();
      close();
    } finally {
      packing.unlock();
    }
  }

  private PlanListener publish(LifetimePlan made) {
    books.lock();
    try {
      plan = listener == null ? made : null;
      return listener;
    } finally {
      books.unlock();
    }
  }

  private void close() {
    books.lock();
    try {
      phase = Phase.DONE;
      openSteps.clear();
      innermost.clear();
      closedSteps.clear();
      strays = new ArrayList<>();
      newestStep = null;
      oldestLife = null;
      newestLife = null;
    } finally {
      books.unlock();
    }
  }
}
