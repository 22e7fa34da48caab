package io.prmalloc.internal.steps;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.StepMemory;
import io.prmalloc.internal.observe.ObserverRegistry;
import io.prmalloc.internal.steps.StepPlan.Recording;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Serves requests that a thread makes of the pool from the plan of the step that it has open. They
 * belong to the step implicitly; explicitly do those that are made of the step itself.
 *
 * <p>Threading: any thread.
 */
public final class ImplicitSteps {

  // The pool's fast path does not check whether a thread has a step open. So the fast path is
  // closed while such a check is needed, and every request takes SlowPath:
  //
  //   learning   as long as a step is open that is to be recorded, an ImplicitStepObserver is told
  //              of the requests, which the pool serves as usual. It is attached when the step
  //              opens and detached when the last of them closes, so a pool without further steps
  //              is as quick as before.
  //   serving    as long as some kind has a plan. Steps that open are found by their thread, and
  //              lease an arena of their kind with their first request. Further kinds are learnt by
  //              LearningStep, like steps that are asked for memory themselves.
  //   neither    a step costs the read of one field.
  //
  // Learning begins with the pool, and begins again when the plan of the pool no longer fits the
  // traffic (see Replanner). It ends when no kind learns any more, when the pool has a plan before
  // that, or when so many steps were recorded; a step without requests counts for several. Only
  // kinds whose sizes vary get plans (see KeyedSteps), so what repeats exactly is served by the
  // pool's plan.
  //
  // The state of the kinds decides what is to be done. A thread that changes that state notes the
  // change, and then tries to adjust under the pool's lifecycle lock. No thread waits for that
  // lock: a thread that does not get it leaves the work to the next step that opens or closes.

  /** So many steps are recorded, of all kinds together, before learning ends in any case. */
  public static final int MAX_RECORDED_STEPS = 8 * KeyedSteps.MAX_LEARNING_STEPS;

  /** A step that cannot be planned, for instance one without requests, counts for so many. */
  private static final int WEIGHT_OF_NONE = 8;

  /**
   * So many requests are observed that belong to no recorded step, while none opens or closes,
   * before learning ends.
   */
  public static final int MAX_FOREIGN_REQUESTS = 1 << 14;

  /** With more steps open than this, further ones are not served from plans. */
  private static final int MAX_OPEN = 1 << 14;

  /** So many unclosed steps are kept below the one that a thread has open. */
  private static final int MAX_DEPTH = 64;

  /** Requests of a larger alignment are not planned. */
  private static final long ALIGNMENT = StepPlan.ALIGNMENT;

  /** A step that is open on its thread. */
  final class Open implements Runnable {
    private final Thread thread = Thread.currentThread();
    private final Object key;

    /** Null if the step is not recorded. */
    private final StepRecorder recorder;

    /** Names the recorder to the observer. */
    private final long number;

    private final int attachment;

    /** The step of this thread that was open before, or null. */
    private Open outer;

    private int depth;

    /** Leased with the first request; under the lock, but for a look of the thread. */
    private StepMemory memory;

    /** Whether a lease was asked for. Used by the thread only. */
    private boolean asked;

    private volatile boolean closed;

    Open(Object key, StepRecorder recorder, long number, int attachment) {
      this.key = key;
      this.recorder = recorder;
      this.number = number;
      this.attachment = attachment;
    }

    StepRecorder recorder() {
      return recorder;
    }

    long number() {
      return number;
    }

    /**
     * The memory that serves the next request of the calling thread, whose step this is; null for
     * the pool.
     */
    private StepMemory memory(long bytes) {
      StepMemory leased = memory;
      if (leased == null) {
        leased = asked ? null : lease(bytes);
      }
      // Whether it is closed is checked last: a step that another thread has ended may still be
      // visible here.
      return leased != null && leased.isMine() && !closed ? leased : null;
    }

    /** What is leased is given back, whichever thread closes the step, and when. */
    private StepMemory lease(long bytes) {
      asked = true;
      if (closed || recorder != null) {
        return null;
      }
      StepMemory leased = ImplicitSteps.this.lease(key, bytes);
      synchronized (this) {
        if (!closed) {
          memory = leased;
          return leased;
        }
      }
      if (leased != null) {
        leased.end();
      }
      return null;
    }

    /** The thread asks for no more from here on. */
    private void endLease() {
      StepMemory leased;
      synchronized (this) {
        asked = true;
        leased = memory;
        memory = null;
      }
      if (leased != null) {
        leased.end();
      }
    }

    /** The step is closed. Threading: any thread. */
    @Override
    public void run() {
      closed = true;
      unlink();
      try {
        endLease();
        if (recorder != null) {
          recorded(this);
        }
      } finally {
        adjust();
      }
    }

    private void unlink() {
      Open next = outer;
      while (next != null && next.closed) {
        next = next.outer;
      }
      // Another one is on top if steps are not closed in the order of their nesting; that one skips
      // this one when it is closed.
      if (next == null) {
        open.remove(thread, this);
      } else {
        open.replace(thread, this, next);
      }
    }
  }

  private final PlannedSteps owner;
  private final PlannedSteps.Pool pool;
  private final ObserverRegistry registry;
  private final boolean enabled;
  private final StepKinds kinds;
  private final ImplicitStepObserver observer = new ImplicitStepObserver(this);

  /** The innermost step of each thread that has one. */
  private final ConcurrentHashMap<Thread, Open> open = new ConcurrentHashMap<>();

  /** Steps that asked while others are served, and of no kind that the pool remembers. */
  private final LongAdder unrememberedSteps = new LongAdder();

  private final AtomicLong lastNumber = new AtomicLong();

  /** Steps that are open and recorded. */
  private final AtomicInteger recording = new AtomicInteger();

  /** How many steps may be recorded until learning ends. */
  private final AtomicInteger budget = new AtomicInteger(MAX_RECORDED_STEPS);

  /** Whether there may be something to adjust. Written by any thread. */
  private volatile boolean changed = true;

  /** Whether the pool's plan is known to be none for the traffic. Written by any thread. */
  private volatile boolean anew;

  /**
   * Whether a step that opens is of any interest. Written under the lifecycle's lock, and set
   * without it when something may have changed.
   */
  private volatile boolean active;

  // Written under the lifecycle's lock.

  private volatile boolean serving;

  private volatile boolean hasServed;
  private volatile boolean attached;

  /** Counts how often the observer was attached. */
  private volatile int attachments;

  ImplicitSteps(
      PlannedSteps owner, PlannedSteps.Pool pool, ObserverRegistry registry, boolean enabled) {
    this.owner = owner;
    this.pool = pool;
    this.registry = registry;
    this.enabled = enabled;
    this.active = enabled;
    this.kinds = new StepKinds(owner, this::changed);
  }

  StepKinds kinds() {
    return kinds;
  }

  void addTo(StepStatsSum sum) {
    kinds.addTo(sum);
    sum.unplannedSteps += unrememberedSteps.sum();
  }

  /** Whether requests are to ask here first. */
  public boolean isServing() {
    return serving;
  }

  /** Whether that ever was so. */
  public boolean hasServed() {
    return hasServed;
  }

  /** A step opens on the calling thread; what to do when it is closed, or null. */
  Runnable opened(Object key) {
    return active ? openedNow(key) : null;
  }

  private Open openedNow(Object key) {
    adjust();
    if (serving) {
      return open.size() < MAX_OPEN ? put(new Open(key, null, 0, 0)) : null;
    }
    return mayLearn(key) ? record(key) : null;
  }

  private Open put(Open step) {
    Open before = open.put(step.thread, step);
    if (before != null && before.depth < MAX_DEPTH) {
      step.outer = before;
      step.depth = before.depth + 1;
    }
    return step;
  }

  private boolean mayLearn(Object key) {
    KeyedSteps kind = kinds.find(key);
    return mayLearn() && (kind == null || kind.isLearning());
  }

  private boolean mayLearn() {
    return budget.get() > 0
        && (anew || !pool.isPooling())
        && pool.isPlanned()
        && !owner.isObserved();
  }

  /** Null if the step cannot be recorded, since it would be observed too late. */
  private Open record(Object key) {
    long number = lastNumber.incrementAndGet();
    Open step = null;
    recording.incrementAndGet();
    try {
      changed();
      int now = attachments;
      if (attached) {
        Open made = new Open(key, new StepRecorder(), number, now);
        observer.begin(number, made.recorder);
        step = put(made);
      }
      return step;
    } finally {
      if (step == null) {
        observer.end(number);
        recording.decrementAndGet();
        changed();
      }
    }
  }

  private void recorded(Open step) {
    // First, for it must be done even if the rest fails.
    recording.decrementAndGet();
    noteChange();
    boolean whole = step.thread == Thread.currentThread() && isStillObserved(step.attachment);
    observer.end(step.number);
    Recording made = whole ? step.recorder.recording(owner.isolation().roomBytes()) : null;
    budget.addAndGet(made == null ? -WEIGHT_OF_NONE : -1);
    KeyedSteps kind = made == null ? null : kinds.find(step.key, made.sizeBytes(0));
    if (kind != null) {
      kind.learnt(made);
    }
  }

  private boolean isStillObserved(int attachment) {
    return attached && attachments == attachment;
  }

  private StepMemory lease(Object key, long bytes) {
    boolean mayLearn = mayLearn();
    KeyedSteps kind = mayLearn ? kinds.find(key, bytes) : kinds.find(key);
    if (kind == null) {
      unrememberedSteps.increment();
      return null;
    }
    StepMemory leased = kind.leaseImplicit(bytes, mayLearn);
    if (leased instanceof LearningStep && !kind.isServing()) {
      budget.decrementAndGet();
    }
    return leased;
  }

  /**
   * A free block of the step that the calling thread has open; null for the pool's.
   *
   * @param bytes not more than an allocation holds
   */
  public Block take(long bytes, long alignment) {
    StepMemory memory = memoryFor(bytes, alignment);
    try {
      return memory == null ? null : memory.take(bytes);
    } catch (OutOfNativeMemoryException refused) {
      // The pool may find some, and throws if not.
      return null;
    }
  }

  /** The same by its address; 0 for the pool's. */
  public long takeRaw(long bytes, long alignment) {
    StepMemory memory = memoryFor(bytes, alignment);
    return memory == null ? 0 : memory.takeRaw(bytes);
  }

  private StepMemory memoryFor(long bytes, long alignment) {
    if (!serving || bytes <= 0 || alignment > ALIGNMENT || owner.isObserved()) {
      return null;
    }
    Open step = open.get(Thread.currentThread());
    return step == null ? null : step.memory(bytes);
  }

  /**
   * Closes the block at an address if it is one of the calling thread's step.
   *
   * @return how many bytes were asked for; −1 if it is none
   */
  public long closeRaw(long address) {
    Open step = serving ? open.get(Thread.currentThread()) : null;
    return step != null && step.memory instanceof StepArena arena ? arena.closeRaw(address) : -1;
  }

  /** The recorded step of the calling thread, or null. */
  Open recordedStep() {
    Open step = open.get(Thread.currentThread());
    return step == null || step.closed || step.recorder == null ? null : step;
  }

  /** Ends learning, if so many requests took the slow path in vain. */
  void foreignRequests(int since) {
    if (recording.get() == 0) {
      changed();
    } else if (since >= MAX_FOREIGN_REQUESTS) {
      budget.set(0);
      changed();
    }
  }

  /** Learns anew which kinds are to have a plan. */
  public void learnAnew() {
    if (enabled) {
      anew = true;
      budget.set(MAX_RECORDED_STEPS);
      kinds.all().forEach(KeyedSteps::learnAnew);
      changed();
    }
  }

  /** The calling thread's steps lease nothing more: the pool is to be closed. */
  void endOwnLeases() {
    for (Open step = open.get(Thread.currentThread()); step != null; step = step.outer) {
      step.endLease();
    }
  }

  /** Notes that something may have changed, for an adjustment with the next step. */
  void noteChange() {
    changed = true;
    active = enabled;
  }

  private void changed() {
    noteChange();
    adjust();
  }

  /** Does what the kinds call for, if there was a change. */
  void adjust() {
    // Again if there was a change meanwhile: the thread that made it did not get the lock.
    boolean done = true;
    while (changed && done) {
      done = pool.tryAdjust(this::adjustNow);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lifecycle's lock only
  private void adjustNow() {
    // Before anything is read: changes from here on lead to another adjustment.
    changed = false;
    try {
      setRight();
    } catch (Throwable e) {
      // A failed adjustment is tried again.
      changed = true;
      throw e;
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lifecycle's lock only
  private void setRight() {
    boolean serve = enabled && kinds.any(KeyedSteps::isServing);
    boolean attach = !serve && recording.get() > 0 && mayLearn();
    if (attach && !attached) {
      attachments++;
      registry.attach(observer);
    } else if (!attach && attached) {
      registry.detach(observer);
    }
    attached = attach;
    serving = serve;
    hasServed |= serve;
    boolean learn = mayLearn() && (kinds.isEmpty() || kinds.any(KeyedSteps::isLearning));
    active = enabled && (serve || learn || attach);
  }
}
