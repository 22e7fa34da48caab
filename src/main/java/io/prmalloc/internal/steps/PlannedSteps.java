package io.prmalloc.internal.steps;

import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.block.StepMemory;
import io.prmalloc.internal.block.StepSource;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.observe.ObserverRegistry;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.pool.StepStats;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * The planned steps of a pool: those that are asked for memory themselves, those whose thread asks
 * the pool (see {@link ImplicitSteps}), and what they share.
 *
 * <p>Threading: any thread.
 */
public final class PlannedSteps implements StepSource, Retirable {

  private static final Logger LOGGER = SafeLog.logger(PlannedSteps.class);

  /** If less of the heap was given back, the C library is not asked to do the same. */
  private static final long MIN_TRIMMED_BYTES = 8L << 20;

  /** The services of the pool for steps. */
  public interface Pool {
    /** A free block. */
    Block take(long bytes, long alignment);

    /** An address, or 0. */
    long allocateRaw(long bytes);

    /** Takes back what {@link #allocateRaw} gave. */
    void deallocateRaw(long address);

    /**
     * A block of the heap, at the alignment of steps, that is freed with a ticket. Where there is
     * no memory it may be another block, whose end nobody is told of.
     */
    Block takeOutside(long bytes, Object ticket);

    /** The address of such a block, or 0; taken back by {@link #deallocateRaw}. */
    long allocateRawOutside(long bytes, Object ticket);

    /** Whether it has a plan. */
    boolean isPooling();

    /** Whether it may ever have one. */
    boolean isPlanned();

    /**
     * Updates the observers of the pool, and after that which paths are closed.
     *
     * @param change what to do; not done if the pool is closed
     * @return false, and nothing is done, if another thread does such a thing
     */
    boolean tryAdjust(Runnable change);
  }

  private final Pool pool;
  private final SubAllocator source;
  private final LiveHeap outside;
  private final ReservationGate gate;
  private final Executor arenaExecutor;
  private final Executor planExecutor;
  private final StepSettings settings;

  /** The kinds of steps that are asked for memory themselves. */
  private final StepKinds kinds = new StepKinds(this, null);

  private final ImplicitSteps implicit;

  private final AtomicLong plansServed = new AtomicLong();

  private volatile boolean closed;

  /** While the pool is observed, steps get shared memory, which observers see. */
  private volatile boolean observed;

  /**
   * @param arenaExecutor runs what does not take long: first plans, arenas, memory that goes back
   * @param planExecutor runs what takes long: the search for better plans
   */
  public PlannedSteps(
      Pool pool,
      ObserverRegistry registry,
      SubAllocator source,
      LiveHeap outside,
      ReservationGate gate,
      Executor arenaExecutor,
      Executor planExecutor,
      StepSettings settings) {
    this.pool = pool;
    this.source = source;
    this.outside = outside;
    this.gate = gate;
    this.arenaExecutor = arenaExecutor;
    this.planExecutor = planExecutor;
    this.settings = settings;
    this.implicit = new ImplicitSteps(this, pool, registry, settings.enabled());
  }

  /** The steps whose thread asks the pool for memory. */
  public ImplicitSteps implicit() {
    return implicit;
  }

  /** Whether steps that begin from now on get shared memory. */
  public void observe(boolean value) {
    boolean before = observed;
    observed = value;
    if (before && !value) {
      implicit.noteChange();
    }
  }

  /** Whether observers are to see what steps ask for. */
  boolean isObserved() {
    return observed;
  }

  @Override
  public Runnable opened(Object key) {
    return implicit.opened(key);
  }

  @Override
  public StepMemory lease(Object key, long firstBytes) {
    KeyedSteps kind =
        settings.enabled() && !closed && !observed ? kinds.find(key, firstBytes) : null;
    return kind == null ? new SharedStep(this) : kind.lease(firstBytes);
  }

  /**
   * Serves from plans that were kept, where there is none for the same structure; what there is no
   * room for is learnt as usual. Larger plans of a key come first: steps that those serve need no
   * other.
   *
   * @return how many serve
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory
   */
  public int adopt(List<KeptStep> kept) {
    // Kept plans have no room for canaries: such steps are learnt as usual.
    if (!settings.enabled() || isolation().roomBytes() > 0) {
      return 0;
    }
    List<StepPlan> plans = new ArrayList<>();
    IdentityHashMap<StepPlan, KeyedSteps> kindOf = new IdentityHashMap<>();
    for (KeptStep step : kept) {
      StepPlan plan = StepPlan.of(step);
      plans.add(plan);
      StepKinds among = step.isImplicit() ? implicit.kinds() : kinds;
      kindOf.put(plan, among.find(step.key(), plan.recording().sizeBytes(0)));
    }
    plans.sort(StepPlan.LARGEST_FIRST);
    int adopted = 0;
    for (StepPlan plan : plans) {
      KeyedSteps kind = kindOf.get(plan);
      adopted += kind != null && kind.adopt(plan) ? 1 : 0;
    }
    implicit.adjust();
    return adopted;
  }

  /** Another plan serves. */
  void notePlan() {
    plansServed.incrementAndGet();
  }

  /** How many plans have served so far, those among them that were kept. */
  public long plansServed() {
    return plansServed.get();
  }

  /** The plans that serve now, for another process. */
  public List<KeptStep> keep() {
    return Stream.concat(
            kinds.all().flatMap(kind -> kind.keep(false).stream()),
            implicit.kinds().all().flatMap(kind -> kind.keep(true).stream()))
        .toList();
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

  /** A block outside the pool that reports its release. */
  Block takeWatched(long bytes, LearningStep.Life life) {
    return pool.takeOutside(bytes, life);
  }

  /** The address of such a block, or 0. */
  long takeWatchedRaw(long bytes, LearningStep.Life life) {
    return pool.allocateRawOutside(bytes, life);
  }

  /** How long a better plan is looked for. */
  Duration planningTime() {
    return settings.planningTime();
  }

  /**
   * Runs short tasks: first plans, arenas, memory that goes back; false if the executor refuses.
   */
  boolean later(Runnable task) {
    return run(task, arenaExecutor);
  }

  /** Runs what takes long, and is of no use if the executor refuses. */
  void longTaskLater(Runnable task) {
    run(task, planExecutor);
  }

  /** What a task throws on an executor that runs it at once goes to the caller. */
  private static boolean run(Runnable task, Executor executor) {
    AtomicBoolean begun = new AtomicBoolean();
    try {
      executor.execute(
          () -> {
            begun.set(true);
            task.run();
          });
      return true;
    } catch (Throwable e) {
      if (begun.get()) {
        throw e;
      }
      SafeLog.log(LOGGER, Level.DEBUG, "the executor refused to plan a step", e);
      return false;
    }
  }

  /** Frees memory on an executor, or here if it refuses. */
  void freeLater(Runnable free) {
    if (!later(free)) {
      free.run();
    }
  }

  /** Whether the shared pool has a plan. */
  boolean isPooling() {
    return pool.isPooling();
  }

  SubAllocator source() {
    return source;
  }

  /** Whether so little memory is available that requests may be refused. */
  boolean isShort(long bytes) {
    return gate.isClosed() || source.bytesAvailable() < bytes;
  }

  /** Notes threads that reserve arenas, or give them back. */
  ReservationGate gate() {
    return gate;
  }

  BlockIsolation isolation() {
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

  /** A moment, for {@link #releaseOutside}. */
  int markOutside() {
    return outside.mark();
  }

  /**
   * A plan serves what the heap served before: memory that the heap has not needed since a moment
   * is given back. May take milliseconds.
   */
  void releaseOutside(int mark) {
    long bytes = outside.releaseUnusedSince(mark);
    outside.purgeFree();
    // A C library that got so much back keeps more of all memory that is freed from then on.
    if (source.isResident() && bytes >= MIN_TRIMMED_BYTES) {
      OperatingSystem.trimHeap();
    }
  }

  /** Gives back pages; the regions stay, for steps of other kinds may need them at once. */
  void purgeOutside() {
    outside.purgeFree();
  }

  /**
   * Frees the block at an address, if it belongs to a planned step and is allocated.
   *
   * @return how many bytes were asked for; −1 if it does not
   */
  public long closeRaw(long address) {
    return StepArena.closeRaw(blockAt(address));
  }

  /** The block at an address, if it belongs to a planned step and is allocated; else null. */
  public StepArena.PlannedBlock blockAt(long address) {
    StepArena.PlannedBlock block = kinds.blockAt(address);
    return block != null ? block : implicit.kinds().blockAt(address);
  }

  /** Gives back the arenas that no step has wanted for so long; how many bytes those were. */
  public long trim(long idleNanos) {
    return kinds.trim(idleNanos) + implicit.kinds().trim(idleNanos);
  }

  public StepStats stats() {
    StepStatsSum sum = new StepStatsSum();
    kinds.addTo(sum);
    implicit.addTo(sum);
    return sum.toStats();
  }

  /** The remembered kinds, in the order in which they came. */
  public List<StepKind> kinds() {
    return Stream.concat(kinds.all(), implicit.kinds().all().filter(KeyedSteps::hasServed))
        .map(KeyedSteps::kind)
        .toList();
  }

  public void addTo(PoolCounts counts) {
    kinds.addTo(counts);
    implicit.kinds().addTo(counts);
  }

  public void clearPeaks() {
    kinds.clearPeaks();
    implicit.kinds().clearPeaks();
  }

  /** Ensures that no step is open and nothing is allocated; else leaves everything as it was. */
  @Override
  public boolean retire() {
    implicit.endOwnLeases();
    closed = true;
    boolean all = false;
    try {
      all = Retirable.retireAll(List.of(kinds, implicit.kinds()));
      return all;
    } finally {
      closed = all;
    }
  }

  /** Undoes {@link #retire}. */
  @Override
  public void reopen() {
    closed = false;
    kinds.reopen();
    implicit.kinds().reopen();
  }

  /** Gives every arena back, whatever is in use. */
  public void free() {
    closed = true;
    kinds.free();
    implicit.kinds().free();
  }
}
