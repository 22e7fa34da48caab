package io.prmalloc.fault;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import io.prmalloc.recording.Recording;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One pool, the memory that its user holds, and the checks that must pass whatever was thrown.
 *
 * <p>Threading: the thread that made it.
 */
final class PoolScenario implements FaultScenario {

  /** Something that a scenario does with the pool. */
  interface Part {
    void run(PoolScenario scenario) throws Exception;
  }

  static final int[] MODEL = {100_000, 400_000, 50_000, 300_000, 700, 200_000};

  private static final int LONG_STEP = 130;

  /** So many steps are enough to learn, also after failures. */
  private static final int MANY_STEPS = 300;

  /** More than any work of the pool's own threads takes; who waits longer waits for ever. */
  private static final int MOST_MILLIS = 60_000;

  private final Path directory;
  private final Supplier<SubAllocator> memory;
  private final Function<TensorPoolBuilder, TensorPoolBuilder> settings;
  private final Part before;
  private final Part work;

  private HeldSource source;
  private TensorPoolAllocator pool;

  /** One more pool, or null. */
  private TensorPoolAllocator warm;

  private final MemoryStore store = new MemoryStore();
  private ExecutorService planning;
  private boolean plansSteps = true;
  private boolean closing;
  private boolean closesForcibly;
  private final List<Allocation> handles = new ArrayList<>();
  private final List<Long> addresses = new ArrayList<>();
  private final List<ScopedMemoryCollector> steps = new ArrayList<>();
  private final List<Recording> recordings = new ArrayList<>();
  private int files;

  PoolScenario(
      Path directory,
      Supplier<SubAllocator> memory,
      Function<TensorPoolBuilder, TensorPoolBuilder> settings,
      Part before,
      Part work) {
    this.directory = directory;
    this.memory = memory;
    this.settings = settings;
    this.before = before;
    this.work = work;
  }

  /** Learns at once, and again at once after a failure, on the thread that closes a step. */
  static TensorPoolBuilder quick(TensorPoolBuilder builder, Executor executor) {
    PlannerSettings planner =
        PlannerSettings.DEFAULTS.withStartStep(0).withStableSteps(1).withRetrySeconds(0);
    Executor supplied =
        task -> {
          InjectionPoints.userCode();
          executor.execute(task);
        };
    return builder
        .executor(supplied)
        .planner(MemoryPlannerFactory.create(planner, supplied))
        .startStatisticStep(0)
        .stableStatisticStep(1)
        .stepPlanningTime(Duration.ZERO);
  }

  // ---- what a scenario is made of

  TensorPoolAllocator pool() {
    return pool;
  }

  /** Plans on a thread of its own. */
  Executor planning() {
    if (planning == null) {
      planning =
          Executors.newSingleThreadExecutor(
              task -> {
                Thread thread = new Thread(task, "planning");
                thread.setDaemon(true);
                thread.setUncaughtExceptionHandler((dead, thrown) -> {});
                return thread;
              });
    }
    return planning;
  }

  /** Until the executor has nothing more to do. */
  private void awaitPlanning() throws Exception {
    if (planning != null) {
      // What one task hands over is run behind what is there already.
      for (int i = 0; i < 3; i++) {
        planning.submit(() -> {}).get();
      }
    }
  }

  /** Waits for what a thread of the pool does, be it at the second attempt. */
  static void await(String what, BooleanSupplier done) throws InterruptedException {
    for (int i = 0; i < MOST_MILLIS && !done.getAsBoolean(); i++) {
      Thread.sleep(1);
    }
    check(done.getAsBoolean(), "never: " + what);
  }

  /** A request that a limit refuses. */
  void beRefused(long bytes) {
    try {
      take(bytes);
    } catch (OutOfNativeMemoryException refused) {
      return;
    }
    throw new AssertionError(bytes + " bytes were granted");
  }

  MemoryStore store() {
    return store;
  }

  Path newFile() {
    return directory.resolve("file-" + files++);
  }

  Allocation take(long bytes) {
    Allocation handle = pool.allocate(bytes);
    handles.add(handle);
    return handle;
  }

  Allocation take(ScopedMemoryCollector step, long bytes) {
    Allocation handle = step.allocate(bytes);
    handles.add(handle);
    return handle;
  }

  void close(Allocation handle) {
    handle.close();
    handles.remove(handle);
  }

  void takeAndCloseRaw(long bytes) {
    Long address = pool.allocateRaw(64, bytes);
    addresses.add(address);
    pool.deallocateRaw(address);
    addresses.remove(address);
  }

  void takeAndCloseRaw(ScopedMemoryCollector step, long bytes) {
    Long address = step.allocateRaw(bytes);
    addresses.add(address);
    step.deallocateRaw(address);
    addresses.remove(address);
  }

  Recording record() {
    Recording recording = pool.record(newFile());
    recordings.add(recording);
    return recording;
  }

  ScopedMemoryCollector open(Object key) {
    ScopedMemoryCollector step = pool.collect(key);
    steps.add(step);
    return step;
  }

  void close(ScopedMemoryCollector step) throws Exception {
    step.close();
    steps.remove(step);
    awaitPlanning();
  }

  /** A step that asks the pool; two tensors are out at a time. */
  void stepOfPool(double factor) throws Exception {
    ScopedMemoryCollector step = open(null);
    Allocation last = null;
    for (int bytes : MODEL) {
      Allocation next = take((long) (factor * bytes));
      if (last != null) {
        close(last);
      }
      last = next;
    }
    close(last);
    close(step);
  }

  /** A step that is asked itself. */
  void plannedStep(double factor) throws Exception {
    ScopedMemoryCollector step = open("planned");
    Allocation last = null;
    for (int bytes : MODEL) {
      Allocation next = take(step, (long) (factor * bytes));
      if (last != null) {
        close(last);
      }
      last = next;
    }
    close(last);
    close(step);
  }

  /**
   * A step of more requests than a recorder has room for at first; all tensors are out until its
   * end.
   */
  void longStep(int firstBytes, boolean raw) throws Exception {
    ScopedMemoryCollector step = open("long");
    for (int request = 0; request < LONG_STEP; request++) {
      int bytes = request == 0 ? firstBytes : 40_000;
      if (raw) {
        addresses.add(step.allocateRaw(bytes));
      } else {
        take(step, bytes);
      }
    }
    while (!handles.isEmpty()) {
      close(handles.get(handles.size() - 1));
    }
    while (!addresses.isEmpty()) {
      Long address = addresses.get(addresses.size() - 1);
      step.deallocateRaw(address);
      addresses.remove(address);
    }
    close(step);
  }

  void learnPool() throws Exception {
    for (int i = 0; i < MANY_STEPS && !pool.isPooling(); i++) {
      stepOfPool(1);
    }
    check(pool.isPooling(), "no plan for the pool after " + MANY_STEPS + " steps");
  }

  /** Somebody observes to the end, and then steps are not planned. */
  void planNoSteps() {
    plansSteps = false;
  }

  void learnPlanned() throws Exception {
    long before = pool.stepStats().plannedSteps();
    for (int i = 0; i < MANY_STEPS && pool.stepStats().plannedSteps() == before; i++) {
      plannedStep(1);
    }
    check(pool.stepStats().plannedSteps() > before, "no plan for steps: " + pool.stepStats());
  }

  void learnImplicit() throws Exception {
    for (double factor : new double[] {1, 0.5, 0.75, 0.6}) {
      stepOfPool(factor);
    }
    check(pool.stepStats().plans() > 0, "no plan for implicit steps: " + pool.stepStats());
  }

  /** Another plan in the place of the first. */
  void replan() throws Exception {
    int replans = pool.poolStats().replans();
    for (int i = 0; i < MANY_STEPS && pool.poolStats().replans() == replans; i++) {
      pool.replan();
      stepOfPool(1);
    }
    check(
        pool.poolStats().replans() > replans,
        "no other plan after " + MANY_STEPS + " steps: " + pool.snapshot());
  }

  void closePool() {
    closing = true;
    pool.close();
  }

  void closeForcibly() {
    closing = true;
    closesForcibly = true;
    pool.closeForcibly();
    handles.clear();
    addresses.clear();
  }

  /** Goes on with a pool that was started with the plan of the one before. */
  void restart() throws IOException {
    Path file = newFile();
    pool.plan().save(file);
    KeptPlan kept = KeptPlan.load(file);
    warm = settings.apply(TensorPoolAllocator.builder().subAllocator(source)).plan(kept).build();
    warm.allocate(100_000).close();
    warm.close();
  }

  /** Goes on with one more pool that asks the same store for a plan. */
  void share() {
    warm = settings.apply(TensorPoolAllocator.builder().subAllocator(source)).build();
    warm.allocate(100_000).close();
    warm.close();
  }

  // ---- the life of a scenario

  @Override
  public void prepare() throws Exception {
    source = new HeldSource(memory.get());
    TensorPoolBuilder builder = TensorPoolAllocator.builder().subAllocator(source);
    pool = settings.apply(builder).build();
    before.run(this);
  }

  @Override
  public void work() throws Exception {
    work.run(this);
  }

  @Override
  public void check() throws Exception {
    try {
      awaitPlanning();
      giveBack();
      check(0, pool.stats().bytesInUse(), "bytes in use");
      if (!closing) {
        goesOn();
        check(0, pool.stats().bytesInUse(), "bytes in use at the end");
      }
      if (warm != null) {
        warm.closeForcibly();
      }
      pool.stats();
      pool.snapshot();
      pool.dumpStats();
      if (closesForcibly) {
        pool.closeForcibly();
      }
      pool.close();
      awaitPlanning();
      check(0, source.regions(), "regions after close");
      check(0, source.bytesReserved(), "bytes reserved after close");
    } finally {
      if (planning != null) {
        planning.shutdown();
      }
      cleanUp();
    }
  }

  private void cleanUp() throws IOException {
    try (var all = Files.list(directory)) {
      for (Path file : all.toList()) {
        Files.delete(file);
      }
    }
  }

  /** A close that failed is tried once more: it has closed, or it closes now. */
  private void giveBack() throws Exception {
    for (Allocation handle : handles) {
      closeIfOpen(handle::close);
    }
    for (long address : addresses) {
      closeIfOpen(() -> pool.deallocateRaw(address));
    }
    for (ScopedMemoryCollector step : steps) {
      step.close();
    }
    for (Recording recording : recordings) {
      recording.close();
    }
    handles.clear();
    addresses.clear();
    steps.clear();
    awaitPlanning();
  }

  private static void closeIfOpen(Runnable close) {
    try {
      close.run();
    } catch (IllegalStateException | IllegalArgumentException closedAlready) {
      // The close that failed has done its work.
    }
  }

  private void goesOn() throws Exception {
    onAnotherThread();
    anyRequests();
    if (pool.stepStats().plans() > 0) {
      learnPlanned();
      return;
    }
    learnPool();
    long hits = pool.poolStats().hits();
    stepOfPool(1);
    check(pool.poolStats().hits() >= hits + 4, "no hits: " + pool.poolStats());
    replan();
    if (plansSteps) {
      learnPlanned();
    }
  }

  private void anyRequests() throws Exception {
    for (int bytes : new int[] {100, 65_536, 3 << 20}) {
      close(take(bytes));
      takeAndCloseRaw(bytes);
    }
    stepOfPool(1);
    plannedStep(1);
    pool.trim();
    pool.trimSteps(Duration.ofDays(1));
  }

  /** No lock is held: another thread that waits for one that this thread has is stuck. */
  private void onAnotherThread() throws Exception {
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              anyRequests();
              return null;
            });
    Thread other = new Thread(task, "other");
    other.setDaemon(true);
    other.start();
    while (!task.isDone()) {
      ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(other.getId());
      if (info != null && info.getLockOwnerId() == Thread.currentThread().getId()) {
        throw new AssertionError(
            "a lock is held: " + info.getLockName() + Arrays.toString(other.getStackTrace()));
      }
      Thread.onSpinWait();
    }
    task.get();
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new AssertionError(message);
    }
  }

  private static void check(long wanted, long is, String what) {
    check(wanted == is, what + ": " + is);
  }
}
