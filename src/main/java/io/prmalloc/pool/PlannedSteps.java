package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.Isolation;
import io.prmalloc.SubAllocator;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.lifetime.StepMemory;
import io.prmalloc.lifetime.StepSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * The planned steps of a pool: which kinds of them there are, and what they share.
 *
 * <p>Threading: any thread.
 */
final class PlannedSteps implements StepSource {

  // What kind a step is of is told by the user's key alone, which may be null; within a kind there
  // may be several structures (see KeyedSteps). There are few kinds, so they lie in an array that
  // is
  // searched from the front; it is replaced as a whole.

  private static final Logger LOGGER = System.getLogger(PlannedSteps.class.getName());

  /** More kinds of steps than this are not kept in mind at a time. */
  static final int MAX_KINDS = 64;

  /** What the pool does for steps. */
  interface Pool {
    /** A block at home. */
    Block take(long bytes, long alignment);

    /** An address, or 0. */
    long allocateRaw(long bytes);

    /** Takes back what {@link #allocateRaw} gave. */
    void deallocateRaw(long address);

    /** Whether it has a plan. */
    boolean isPooling();
  }

  private final Pool pool;
  private final SubAllocator source;
  private final LiveHeap outside;
  private final Executor executor;
  private final StepSettings settings;

  private volatile KeyedSteps[] kinds = {};

  /** What kinds counted that are not kept in mind any more. Under the lock. */
  private final StepStats.Sum gone = new StepStats.Sum();

  private final PoolCounts goneCounts = new PoolCounts();

  private volatile boolean closed;

  /** While somebody observes the pool, steps get shared memory, which is seen. */
  private volatile boolean observed;

  PlannedSteps(
      Pool pool, SubAllocator source, LiveHeap outside, Executor executor, StepSettings settings) {
    this.pool = pool;
    this.source = source;
    this.outside = outside;
    this.executor = executor;
    this.settings = settings;
  }

  /** Whether steps that begin from now on get shared memory. */
  void observe(boolean value) {
    observed = value;
  }

  @Override
  public StepMemory lease(Object key, long firstBytes) {
    KeyedSteps kind = settings.enabled() && !closed && !observed ? find(key, firstBytes) : null;
    return kind == null ? new SharedStep(this) : kind.lease(firstBytes);
  }

  private KeyedSteps find(Object key, long firstBytes) {
    KeyedSteps found = find(kinds, key);
    return found != null ? found : add(key, firstBytes);
  }

  private static KeyedSteps find(KeyedSteps[] kinds, Object key) {
    for (KeyedSteps kind : kinds) {
      if (kind.matches(key)) {
        return kind;
      }
    }
    return null;
  }

  /** Null if there is no room for one more. */
  private synchronized KeyedSteps add(Object key, long firstBytes) {
    KeyedSteps[] known = kinds;
    KeyedSteps found = find(known, key);
    if (found != null || closed) {
      return found;
    }
    if (known.length == MAX_KINDS) {
      known = withoutUnused(known);
      if (known.length == MAX_KINDS) {
        return null;
      }
    }
    KeyedSteps added = new KeyedSteps(this, key, firstBytes);
    KeyedSteps[] more = Arrays.copyOf(known, known.length + 1);
    more[known.length] = added;
    kinds = more;
    return added;
  }

  /** Second chance: one that was not used since the last time somebody looked here goes. */
  private KeyedSteps[] withoutUnused(KeyedSteps[] known) {
    for (KeyedSteps kind : known) {
      if (!kind.wasUsed() && kind.retire()) {
        kind.free();
        kind.addTo(gone);
        kind.addTo(goneCounts);
        return Arrays.stream(known).filter(other -> other != kind).toArray(KeyedSteps[]::new);
      }
    }
    return known;
  }

  /**
   * Starts with plans that were kept; what there is no room for is learnt as usual. Of plans of one
   * key the larger ones come first: steps that those serve need no other.
   *
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory
   */
  void adopt(List<KeptStep> kept) {
    // What was kept has no room for canaries: such steps are learnt as usual.
    if (!settings.enabled() || isolation().roomBytes() > 0) {
      return;
    }
    List<StepPlan> plans = new ArrayList<>();
    IdentityHashMap<StepPlan, KeyedSteps> kindOf = new IdentityHashMap<>();
    for (KeptStep step : kept) {
      StepPlan plan = StepPlan.of(step);
      plans.add(plan);
      kindOf.put(plan, find(step.key(), plan.recording().sizeBytes(0)));
    }
    plans.sort(StepPlan.LARGEST_FIRST);
    for (StepPlan plan : plans) {
      KeyedSteps kind = kindOf.get(plan);
      if (kind != null) {
        kind.adopt(plan);
      }
    }
  }

  List<KeptStep> keep() {
    return Arrays.stream(kinds).flatMap(kind -> kind.keep().stream()).toList();
  }

  @Override
  public Block takeShared(long bytes, long alignment) {
    return pool.take(bytes, alignment);
  }

  @Override
  public long takeSharedRaw(long bytes) {
    return pool.allocateRaw(bytes);
  }

  @Override
  public void releaseShared(long address) {
    pool.deallocateRaw(address);
  }

  /** A block outside the pool that tells when it comes back. */
  Block takeWatched(long bytes, int headerBytes, LearningStep.Life life) {
    return outside.acquire(bytes, StepPlan.ALIGNMENT, headerBytes, life);
  }

  /** The address of such a block, or 0. */
  long takeWatchedRaw(long bytes, LearningStep.Life life) {
    return RawAddresses.openOutside(outside, bytes, life);
  }

  /** How long a better plan is looked for. */
  Duration planningTime() {
    return settings.planningTime();
  }

  /** Runs something on the planner's executor; false if it refuses. */
  boolean later(Runnable task) {
    try {
      executor.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      LOGGER.log(Level.DEBUG, "the executor refused to plan a step", e);
      return false;
    }
  }

  /** Whether the shared pool has a plan. */
  boolean isPooling() {
    return pool.isPooling();
  }

  SubAllocator source() {
    return source;
  }

  Isolation isolation() {
    return outside.isolation();
  }

  int maxArenas() {
    return settings.maxArenas();
  }

  long idleNanos() {
    return settings.idle().toNanos();
  }

  boolean isClosed() {
    return closed;
  }

  void noteReserved() {
    outside.noteReserved();
  }

  /** A plan serves what the heap served before: what that does not need any more goes back. */
  void releaseUnused() {
    outside.releaseUnused();
  }

  /** Closes the block at an address, if it is one of a planned step and out. */
  boolean closeRaw(long address) {
    for (KeyedSteps kind : kinds) {
      if (kind.closeRaw(address)) {
        return true;
      }
    }
    return false;
  }

  /** Gives back the arenas that no step has wanted for so long; how many bytes those were. */
  long trim(long idleNanos) {
    long released = 0;
    for (KeyedSteps kind : kinds) {
      released += kind.releaseIdle(idleNanos);
    }
    return released;
  }

  synchronized StepStats stats() {
    StepStats.Sum sum = new StepStats.Sum();
    sum.add(gone);
    for (KeyedSteps kind : kinds) {
      kind.addTo(sum);
    }
    return sum.toStats();
  }

  /** The kinds that are kept in mind, in the order in which they came. */
  List<StepKind> kinds() {
    return Arrays.stream(kinds).map(KeyedSteps::kind).toList();
  }

  synchronized void addTo(PoolCounts counts) {
    counts.addPast(goneCounts);
    for (KeyedSteps kind : kinds) {
      kind.addTo(counts);
    }
  }

  synchronized void clearPeaks() {
    goneCounts.largestBytes = 0;
    for (KeyedSteps kind : kinds) {
      kind.clearLargest();
    }
  }

  /** Makes sure that no step is open and nothing is out; else leaves everything as it was. */
  synchronized boolean retire() {
    closed = true;
    KeyedSteps[] known = kinds;
    for (int i = 0; i < known.length; i++) {
      if (!known[i].retire()) {
        for (int j = 0; j < i; j++) {
          known[j].reopen();
        }
        closed = false;
        return false;
      }
    }
    return true;
  }

  /** Undoes {@link #retire}. */
  synchronized void reopen() {
    closed = false;
    for (KeyedSteps kind : kinds) {
      kind.reopen();
    }
  }

  /** Gives every arena back, whatever is in use. */
  synchronized void free() {
    closed = true;
    for (KeyedSteps kind : kinds) {
      kind.free();
    }
  }
}
