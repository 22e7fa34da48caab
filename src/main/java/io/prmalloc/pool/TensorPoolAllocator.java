package io.prmalloc.pool;

import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.AllocationLog;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.HeaderDescriptor;
import io.prmalloc.internal.block.NoInline;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.extent.SourceBesideHeap;
import io.prmalloc.internal.freelist.FreeIndex;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.lifecycle.BackgroundExecutor;
import io.prmalloc.internal.lifecycle.CgroupCheck;
import io.prmalloc.internal.lifecycle.DrainingPlans;
import io.prmalloc.internal.lifecycle.PlannerBinding;
import io.prmalloc.internal.lifecycle.PoolTrim;
import io.prmalloc.internal.lifecycle.Replanner;
import io.prmalloc.internal.lifecycle.SwitchOverMemory;
import io.prmalloc.internal.memory.DeferredFreeSubAllocator;
import io.prmalloc.internal.observe.ObserverRegistry;
import io.prmalloc.internal.slab.SlabFronts;
import io.prmalloc.internal.slab.SmallBlocks;
import io.prmalloc.internal.steps.PlannedSteps;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.recording.Recording;
import io.prmalloc.recording.RecordingOptions;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The pool: an allocator that learns. During warm-up it serves requests from a general heap and
 * records their lifetimes. When its planner has a plan, it serves planned tensors from one
 * reservation, without system calls, page faults or zeroing. A handle costs no heap if it does not
 * escape its method.
 *
 * <pre>{@code
 * try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
 *   while (serving()) {
 *     try (ScopedMemoryCollector step = pool.collect()) {
 *       try (Allocation input = pool.allocate(inputBytes)) {
 *         infer(input.byteBuffer());
 *       }
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>Modelled on DeepRec's {@code TensorPoolAllocator} (PRMalloc).
 *
 * <p>Threading: as {@link Allocator} says.
 */
public final class TensorPoolAllocator implements Allocator {

  // Three sources, by size and by what the plan knows:
  //
  //   up to 32 KiB   SmallBlocks: slabs by size class, from the first request on
  //   planned        BinTable: published by volatile writes when it is complete; from then on
  //                  every request that reads it is served from it. Requests that were a moment
  //                  too early go outside, and are freed there, because a block knows where it
  //                  belongs. So the switch-over neither waits for a thread nor stops one.
  //   all the rest   LiveHeap: extents of a few large regions, tracked by the planner while it
  //                  collects
  //
  // A hit updates no counter: blocks count their own uses.
  //
  // Whether a request is small is decided by the bytes asked for, its bin by the bytes and the
  // header together. A handle has no header; a raw address has 64 bytes, or as much as its
  // alignment.

  static final String NAME = "tensorpool_cpu";

  private final DeferredFreeSubAllocator memory;
  private final MemoryPlanner planner;

  // Both end with the pool; unused if the builder was given an executor.

  /** Long tasks: the pool's plans, and better plans of steps. */
  private final BackgroundExecutor ownPlanExecutor = new BackgroundExecutor("prmalloc-planner");

  /** Tasks that do not wait for a long one: first plans of steps, arenas, memory that goes back. */
  private final BackgroundExecutor ownArenaExecutor = new BackgroundExecutor("prmalloc-arenas");

  private final AddressDirectory directory = new AddressDirectory();
  private final SmallBlocks small;
  private final SlabFronts fronts;

  /** Where the fast path looks for a chunk of the plan; null while it is closed. */
  private volatile FreeIndex planned;

  private final LiveHeap outside;
  private final PoolAccounting accounting;
  private final AllocationLog log = new AllocationLog();
  private final ObserverRegistry registry;
  private final RawAddresses raw;
  private final SlowPath slowPath;
  private final PlanSwitchOver switchOver;
  private final Replanner replanner;
  private final PlannedSteps steps;
  private final PoolMaintenance maintenance;

  private volatile BinTable bins;

  /** How many plans served so far. Written under the lifecycle's lock. */
  private volatile long plansServed;

  /** The bins once they are closed, for what they counted. */
  private volatile BinTable closedBins;

  private final ReentrantLock lifecycle = new ReentrantLock();
  private final DrainingPlans retired;
  private volatile boolean closed;

  /** Whether all memory was given back, or the system refused it. Under the lifecycle's lock. */
  private boolean released;

  /** Whether the threads that wait for the close were notified. */
  private final AtomicBoolean ended = new AtomicBoolean();

  /** Run once the pool is closed. */
  private volatile Runnable afterClose = () -> {};

  private volatile Optional<Supplier<EngineStats>> engine = Optional.empty();

  TensorPoolAllocator(TensorPoolBuilder builder) {
    this.memory = new DeferredFreeSubAllocator(builder.source());
    Executor users = builder.executor();
    Executor planExecutor = users != null ? users : ownPlanExecutor;
    Executor arenaExecutor = users != null ? users : ownArenaExecutor;
    this.planner = builder.makePlanner(planExecutor);
    this.retired = new DrainingPlans(lifecycle, arenaExecutor);
    BlockIsolation isolation = BlockIsolation.of(builder.isolation());
    this.outside = new LiveHeap(memory, isolation, directory, this::released);
    ReservationGate gate = new ReservationGate();
    SubAllocator source = new SourceBesideHeap(memory, outside, gate, true);
    this.registry = new ObserverRegistry(NAME, outside, planner, lifecycle, this::observe);
    this.small =
        new SmallBlocks(
            new SourceBesideHeap(memory, outside, gate, false),
            isolation,
            directory,
            gate,
            outside::noteReserved);
    this.fronts = small.fronts();
    this.steps =
        new PlannedSteps(
            new StepPool(this),
            registry,
            source,
            outside,
            gate,
            arenaExecutor,
            planExecutor,
            builder.stepSettings());
    // An address with no header of ours in front may be one that was logged, or of a step.
    this.raw = new RawAddresses(this, directory, this::closeElsewhere);
    this.accounting =
        new PoolAccounting(source, small, outside, steps, directory, this::countedBins, retired);
    CgroupCheck cgroup = new CgroupCheck(builder.cgroupLimit());
    memory.bytesLimit().ifPresent(most -> cgroup.check(most, "its limit of"));
    this.switchOver =
        new PlanSwitchOver(
            this,
            builder,
            () -> new SwitchOverMemory(source, outside, planExecutor, cgroup),
            retired,
            lifecycle);
    this.replanner =
        new Replanner(
            registry,
            builder.replanSettings(),
            builder.replanWhen(),
            planExecutor,
            lifecycle,
            this::bytesBeside,
            steps.implicit()::learnAnew,
            switchOver::next);
    Growth growth = new Growth(this, source, outside, replanner, gate, lifecycle);
    Reclaim reclaim = new Reclaim(this, source, outside, small, steps, retired, growth, lifecycle);
    RefusedRequests refusals = new RefusedRequests(accounting, reclaim, gate);
    this.slowPath =
        new SlowPath(this, small, outside, registry, steps.implicit(), replanner, growth, refusals);
    outside.insistWhen(gate::isClosed);
    this.maintenance =
        new PoolMaintenance(this, accounting, steps, small, outside, replanner, builder);
    begin(builder);
  }

  /** A pool that cannot begin has no user, so it keeps nothing. */
  private void begin(TensorPoolBuilder builder) {
    try {
      PlannerBinding.bind(planner, switchOver::first, steps);
      registry.detectLeaks(builder.leakDetection(), builder.leakListener());
      builder
          .kept()
          .ifPresent(kept -> switchOver.adopt(kept, builder.isKeptIfUsable(), planner, steps));
      maintenance.start();
      maintenance.awaitPlanStore();
    } catch (Throwable e) {
      closeForcibly();
      throw e;
    }
  }

  /** The bytes that a request needs beside its own. */
  private int bytesBeside() {
    int room = outside.isolation().roomBytes();
    return directory.isEnabled() ? HeaderDescriptor.FULL_BYTES + room : room;
  }

  private void released(Object ticket) {
    registry.released(ticket);
  }

  /** Starts a new allocator. Threading: any thread; a builder itself is not safe. */
  public static TensorPoolBuilder builder() {
    return new TensorPoolBuilder();
  }

  @Override
  public String name() {
    return NAME;
  }

  /** The planner of this allocator. Threading: any thread. */
  public MemoryPlanner planner() {
    return planner;
  }

  /** Opens a step: {@code planner().collect()}. Threading: any thread. */
  public ScopedMemoryCollector collect() {
    return planner.collect();
  }

  /** {@link #record(Path, RecordingOptions)} by default. Threading: any thread. */
  public Recording record(Path file) {
    return record(file, RecordingOptions.DEFAULT);
  }

  /**
   * Records allocations and releases from now on. Memory that is allocated already is not recorded.
   * Requests take a longer way meanwhile, and as long as before when it is over.
   *
   * <p>Threading: any thread.
   *
   * @param file must not be there yet
   * @param options how large the file may become, and what happens when it is written too slowly
   * @return to be closed when there is enough; closed with the allocator else
   * @throws UncheckedIOException if the file is there already or cannot be written
   * @throws IllegalStateException if the allocator is closed
   */
  public Recording record(Path file, RecordingOptions options) {
    return registry.record(file, options);
  }

  /** How many leaks were reported; what is too old by now is first. Threading: any thread. */
  public long leaks() {
    return registry.leaks();
  }

  /** Observers were attached or detached. Under the lifecycle's lock. */
  private void observe(boolean stepsObserved) {
    steps.observe(stepsObserved);
    adjustFastPaths();
  }

  /** As {@link PlannedSteps.Pool#tryAdjust}. */
  boolean tryAdjust(Runnable change) {
    if (!lifecycle.tryLock()) {
      return false;
    }
    try {
      if (!closed) {
        change.run();
        adjustFastPaths();
      }
      return !closed;
    } finally {
      lifecycle.unlock();
    }
  }

  /** As {@link RawAddresses} wants it. */
  private long closeElsewhere(long address) {
    long bytes = log.release(address);
    if (bytes < 0) {
      bytes = steps.implicit().closeRaw(address);
    }
    return bytes < 0 ? steps.closeRaw(address) : bytes;
  }

  private void adjustFastPaths() {
    small.observe(registry.isObserved() || steps.implicit().isServing());
    adjustFastPath();
  }

  /** Opens the fast path, which calls no observers and isolates nothing, or closes it. */
  private void adjustFastPath() {
    BinTable table = bins;
    boolean open =
        table != null
            && !registry.isObserved()
            && !steps.implicit().isServing()
            && outside.isolation().isNone();
    planned = open ? table.freeIndex() : null;
  }

  /**
   * Opens a step of a kind: {@link MemoryPlanner#collect(Object) planner().collect(key)}.
   * Threading: any thread.
   */
  public ScopedMemoryCollector collect(Object key) {
    return planner.collect(key);
  }

  /**
   * Whether requests are served from a plan by now: from the pool's own, or, where sizes vary, from
   * that of the step in which they are made. Threading: any thread; once true, true until closed.
   */
  public boolean isPooling() {
    return bins != null || (!closed && steps.implicit().hasServed());
  }

  // The fast path. A free block is found, its use begins, and last the handle is made, in one
  // place, or the JIT would not see that it need not be made at all.

  @Override
  public Allocation allocate(long bytes) {
    FreeIndex index = indexFor(bytes);
    PooledBlock found = index.removeFirst(bytes);
    long stamp = found == null ? 0 : found.claimAndBegin(bytes);
    Block block =
        stamp != 0 ? found : takeForHandle(bytes, (int) DEFAULT_ALIGNMENT, NoInline.DEPTH);
    return block.handle(bytes);
  }

  private FreeIndex indexFor(long bytes) {
    return SlabFronts.areFor(bytes) ? fronts.frontFor((int) bytes) : plannedIndex();
  }

  private FreeIndex plannedIndex() {
    // Compiled code has never seen anything but null before the first plan, and is compiled anew
    // then. Else the JIT would keep the code that it compiled while only small requests reached the
    // end of this method: it inlines nothing into a method of which it saw fewer than a thousand
    // runs.
    FreeIndex open = planned;
    return open != null ? open : FreeIndex.NONE;
  }

  @Override
  public Allocation allocate(long bytes, long alignment) {
    Requests.checkBytes(bytes);
    Requests.checkAlignment(alignment);
    // For small ones, too, there would be too much code here.
    FreeIndex index = alignment <= DEFAULT_ALIGNMENT ? plannedIndex() : FreeIndex.NONE;
    PooledBlock found = index.removeFirst(bytes);
    long stamp = found == null ? 0 : found.claimAndBegin(bytes);
    Block block = stamp != 0 ? found : takeForHandle(bytes, (int) alignment, NoInline.DEPTH);
    return block.handle(bytes);
  }

  private Block takeForHandle(long bytes, int alignment, int depth) {
    return depth > 0 ? takeForHandle(bytes, alignment, depth - 1) : takeForHandle(bytes, alignment);
  }

  private Block takeForHandle(long bytes, int alignment) {
    Block block = slowPath.takeForHandle(bytes, alignment);
    block.beginOrAbandon(bytes);
    return block;
  }

  /** Whether the fast path finds nothing that is planned, also where there is something. */
  boolean isFastPathClosed() {
    return planned == null;
  }

  Block take(long bytes, int alignment) {
    Block block = takeReady(bytes, alignment, 0, 0);
    return block != null ? block : takeSlowly(bytes, alignment, 0, 0);
  }

  Block takeSlowly(long bytes, int alignment, int smallHeader, int largeHeader) {
    return slowPath.take(bytes, alignment, smallHeader, largeHeader, NoInline.DEPTH);
  }

  /** {@link SlowPath#takeOutside} for a step. */
  Block takeOutside(long bytes, int headerBytes, Object ticket) {
    return slowPath.takeOutside(bytes, (int) DEFAULT_ALIGNMENT, headerBytes, ticket);
  }

  /** {@link RawAddresses#allocateOutside}. */
  long allocateRawOutside(long bytes, Object ticket) {
    return raw.allocateOutside(bytes, ticket);
  }

  /** A block of the fast path, or null; {@link #takeSlowly} serves the request then. */
  PooledBlock takeReady(long bytes, int alignment, int smallHeader, int largeHeader) {
    if (alignment > DEFAULT_ALIGNMENT) {
      return null;
    }
    return bytes <= LifetimePolicy.SMALL_BYTES
        ? small.take((int) bytes + smallHeader, alignment)
        : plannedIndex().take(bytes + largeHeader);
  }

  /** An address of the calling thread's step, or 0. */
  long takeRawOfStep(long bytes, int alignment) {
    return steps.implicit().takeRaw(bytes, alignment);
  }

  @Override
  public long allocateRaw(long alignment, long bytes) {
    return raw.allocate(alignment, bytes);
  }

  @Override
  public long allocateRaw(long alignment, long bytes, AllocationAttributes attributes) {
    return log.allocateRaw(this, alignment, bytes, attributes);
  }

  @Override
  public void deallocateRaw(long address) {
    if (address != 0) {
      raw.deallocate(address);
    }
  }

  /**
   * {@link #deallocateRaw} that tells the {@link #requestedSize}, without a second search for the
   * address. For adapters that count bytes.
   *
   * <p>Threading: any thread.
   *
   * @return how many bytes were asked for; 0 for the address 0, which is not allocated
   * @throws IllegalArgumentException as {@link #deallocateRaw}
   * @throws io.prmalloc.CorruptedHeaderException as {@link #deallocateRaw}
   */
  public long deallocateRawSized(long address) {
    return address == 0 ? 0 : raw.deallocate(address);
  }

  @Override
  public boolean tracksAllocationSizes() {
    return true;
  }

  @Override
  public long requestedSize(long address) {
    return accounting.chunkAt(address).requestedBytes();
  }

  @Override
  public long allocatedSize(long address) {
    return accounting.chunkAt(address).allocatedBytes();
  }

  @Override
  public long allocationId(long address) {
    return accounting.chunkAt(address).allocationId();
  }

  @Override
  public long allocatedSizeSlow(long address) {
    return accounting.usableBytesAt(address);
  }

  /** {@inheritDoc} Not an atomic snapshot while others allocate all the time. */
  @Override
  public AllocatorStats stats() {
    return accounting.stats();
  }

  /** {@inheritDoc} What {@link #poolStats} counts is not touched. */
  @Override
  public boolean clearStats() {
    accounting.clearStats();
    return true;
  }

  /** The plan that serves now, or null. Acquires what {@link #publish} released. */
  BinTable bins() {
    return bins;
  }

  /** Puts a plan in force. Under the lifecycle's lock. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lifecycle's lock only
  void publish(BinTable table) {
    bins = table;
    plansServed++;
    adjustFastPath();
    outside.noteReserved();
  }

  /** Whether it was closed, by either way; once true, always true. Threading: any thread. */
  public boolean isClosed() {
    return closed;
  }

  /** The block of an arena in which an address lies, or null. */
  PooledBlock findPlanned(long address) {
    BinTable table = bins;
    PooledBlock block = table == null ? null : table.find(address);
    return block != null ? block : retired.find(address);
  }

  private BinTable countedBins() {
    BinTable table = bins;
    return table != null ? table : closedBins;
  }

  /** How well the pool serves. Costs a walk over its blocks. Threading: any thread. */
  public PoolStats poolStats() {
    return accounting.poolStats(planner.packedSteps());
  }

  /**
   * The plans that this pool has learnt, for the next process or for replicas; empty before it has
   * a plan. Threading: any thread.
   */
  public KeptPlan plan() {
    return new KeptPlan(Optional.ofNullable(bins).map(BinTable::keep), steps.keep());
  }

  /** {@link PlanSwitchOver#take}. */
  boolean take(KeptPlan kept) {
    return switchOver.take(kept, planner, steps);
  }

  /** How many plans served so far, those of planned steps among them. */
  long plansServed() {
    return plansServed + steps.plansServed();
  }

  /**
   * Collects statistics anew, in the following steps, for a plan that replaces the one that serves.
   * Happens by itself where requests find no block too often; see {@link TensorPoolBuilder#replan}.
   *
   * <p>Threading: any thread.
   *
   * @return false if there is no plan to replace yet, or if it is going on already
   */
  public boolean replan() {
    return bins != null && replanner.request();
  }

  /** How steps that ask for memory were served. Threading: any thread. */
  public StepStats stepStats() {
    return steps.stats();
  }

  /**
   * All that the pool reports about itself. Costs a few walks over its blocks. Threading: any
   * thread, also when the pool is closed.
   */
  public PoolSnapshot snapshot() {
    return accounting.snapshot(
        planner, replanner, engine.map(Supplier::get), maintenance.planStoreCounts());
  }

  /**
   * Gives back step arenas that no step has wanted for so long. Threading: any thread.
   *
   * @throws IllegalArgumentException if {@code idle} is negative
   * @return how many bytes were given back
   */
  public long trimSteps(Duration idle) {
    return steps.trim(Requests.notNegative("idle", idle).toNanos());
  }

  /**
   * Gives unused memory back: step arenas, empty slabs, free memory of the heap under the plan, the
   * pages of the plan's free blocks, and memory that the C library keeps. Other threads continue
   * meanwhile. Costs some milliseconds, and page faults later; {@code docs/observability.md} and
   * {@link TensorPoolBuilder#trimAfterIdle}.
   *
   * <p>Threading: any thread.
   *
   * @return how many bytes were given back, without the C library's; of an allocator that is closed
   *     what the system refused to take before
   */
  public long trim() {
    lifecycle.lock();
    try {
      long bytes = memory.retry();
      return closed
          ? bytes
          : bytes + retired.trim() + new PoolTrim(steps, small, bins, outside).run();
    } finally {
      lifecycle.unlock();
    }
  }

  /** Gives back what is free of the heap under the plan; how many bytes that is. */
  long trimHeap() {
    return outside.trim();
  }

  /**
   * A table for people: what is reserved and in use, every bin with its blocks, borrowings and
   * uses, and every kind of steps. Its form may change. Threading: any thread.
   */
  public String dumpStats() {
    return PoolReport.of(snapshot(), small.slabs(), countedBins(), steps.kinds());
  }

  /** Has something done when the pool is closed; replaces what was to be done before. */
  void afterClose(Runnable value) {
    afterClose = value;
  }

  /**
   * {@inheritDoc} Returns when the threads that worked for this pool have ended, and so may wait
   * for planning that goes on. What a thread of the user reserves or gives back at that moment goes
   * as soon as that thread is done.
   */
  @Override
  public void close() {
    lifecycle.lock();
    try {
      if (!closed && (!retired.tryFreeAll() || !Retirable.retireAll(parts()))) {
        registry.stillInUse();
        throw accounting.stillInUse();
      }
      release();
    } finally {
      lifecycle.unlock();
    }
    closedNow();
  }

  /** Without the lifecycle's lock, which those threads may need. */
  private void closedNow() {
    if (ended.compareAndSet(false, true)) {
      try {
        registry.poolClosed();
      } finally {
        try {
          maintenance.join();
          ownPlanExecutor.close();
          ownArenaExecutor.close();
        } finally {
          afterClose.run();
        }
      }
    }
    memory.returnAll(name());
  }

  /**
   * Notes that an engine outside of Java takes memory of this pool: {@link #snapshot} and {@link
   * #dumpStats} tell of it, and {@link #closeForcibly} is refused while it has tensors here. For
   * adapters. Replaces the one before.
   *
   * <p>Threading: any thread.
   *
   * @param stats asked at any time by any thread
   */
  public void attachEngine(Supplier<EngineStats> stats) {
    engine = Optional.of(stats);
  }

  /**
   * Gives every byte back to the system although some may be in use. Handles that are still open
   * are closed from then on; the use of a buffer or an address from this pool is undefined.
   *
   * <p>Handles may be requested and closed at the same time: each call works or throws {@link
   * IllegalStateException}, with isolation too. This method waits for blocks that are being filled
   * or checked. What another thread reserves or gives back at that moment goes as soon as that
   * thread is done. All that does not hold for raw addresses, in front of which {@link
   * #allocateRaw} writes a header that {@link #deallocateRaw} reads.
   *
   * <p>Threading: any thread, after the last use of the memory and the last call by raw addresses.
   *
   * @throws IllegalStateException if an engine outside of Java uses some; nothing has changed then
   */
  public void closeForcibly() {
    lifecycle.lock();
    try {
      if (!closed) {
        engine.map(Supplier::get).ifPresent(this::checkUnused);
      }
      if (!closed) {
        registry.stillInUse();
        // All blocks of the pool have the heap's isolation.
        outside.isolation().close();
        outside.closeForcibly();
      }
      release();
      log.forget();
    } finally {
      lifecycle.unlock();
    }
    closedNow();
  }

  private void checkUnused(EngineStats stats) {
    if (stats.tensors() > 0) {
      throw new IllegalStateException(
          "pool "
              + name()
              + " is in use by "
              + stats.tensors()
              + " tensors of "
              + stats.engine()
              + "; close its sessions and their results first");
    }
  }

  /** What must not be in use when the pool is closed. */
  private List<Retirable> parts() {
    // The heap comes last: it gives its regions back at once.
    BinTable table = bins;
    return table == null ? List.of(steps, small, outside) : List.of(steps, small, table, outside);
  }

  /** Continues where the last call failed. */
  private void release() {
    if (released) {
      return;
    }
    closed = true;
    registry.close();
    maintenance.stop();
    if (bins != null) {
      closedBins = bins;
      bins = null;
    }
    adjustFastPath();
    if (closedBins != null) {
      closedBins.free();
    }
    retired.free();
    small.free();
    steps.free();
    released = true;
  }
}
