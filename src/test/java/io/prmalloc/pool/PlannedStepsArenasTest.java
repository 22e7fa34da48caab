package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.internal.steps.StepKinds;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When planned steps have arenas, and when they give them back. */
class PlannedStepsArenasTest {

  private static final int BYTES = 64 * 1024;

  /** Of two tensors that are there together. */
  private static final int ARENA_BYTES = 2 * BYTES;

  /** Of a request that no step makes. */
  private static final int HEAP_BYTES = 8 * BYTES;

  /** After so many steps under a plan the memory that steps had before it goes back. */
  private static final int STEPS_UNTIL_TRIM = 32;

  /** As often is tried what two threads do at the same time. */
  private static final int ROUNDS = 300;

  private static final int HARD_TENSORS = 300;
  private static final int HARD_ALIVE = 20;

  private final SubAllocator source = SubAllocator.direct();
  private TensorPoolAllocator pool;

  private void open(Executor executor) {
    open(executor, source);
  }

  private void open(Executor executor, SubAllocator memory) {
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(memory)
            .executor(executor)
            .stepPlanningTime(Duration.ZERO)
            .build();
  }

  @AfterEach
  void nothingIsLeft() {
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  private void steps(int count) {
    steps(count, BYTES);
  }

  private void steps(int count, int bytes) {
    for (int i = 0; i < count; i++) {
      try (ScopedMemoryCollector step = pool.collect();
          Allocation first = step.allocate(bytes);
          Allocation second = step.allocate(bytes)) {
        first.byteBuffer().put(0, (byte) 1);
        second.byteBuffer().put(0, (byte) 2);
      }
    }
  }

  @Test
  void shouldGiveIdleArenasBack() {
    open(Runnable::run);
    steps(KeyedSteps.REPEATS + 1);
    assertEquals(0, pool.trimSteps(Duration.ofDays(1)));
    assertEquals(ARENA_BYTES, pool.stepStats().arenaBytes());
    pool.trimHeap();
    assertEquals(ARENA_BYTES, source.bytesReserved());
    assertEquals(ARENA_BYTES, pool.trimSteps(Duration.ZERO));
    assertEquals(0, source.bytesReserved());
    assertEquals(1, pool.stepStats().plans());
    assertEquals(1, pool.stepStats().plannedSteps());
    steps(1);
    assertEquals(2, pool.stepStats().plannedSteps(), "one is made, and at once");
  }

  @Test
  void shouldGiveAnArenaBackWhoseLastTensorOutlivedItsStep() {
    open(Runnable::run);
    steps(KeyedSteps.REPEATS);
    Allocation outliving;
    try (ScopedMemoryCollector step = pool.collect()) {
      Allocation first = step.allocate(BYTES);
      outliving = step.allocate(BYTES);
      first.close();
    }
    assertEquals(0, pool.trimSteps(Duration.ZERO));
    outliving.close();
    assertEquals(ARENA_BYTES, pool.trimSteps(Duration.ZERO));
    pool.trimHeap();
    assertEquals(0, source.bytesReserved());
  }

  /** A step of one model: four tensors are there together. */
  private void wideStep(int firstBytes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      step.allocate(firstBytes).close();
      Allocation[] together = new Allocation[4];
      Arrays.setAll(together, i -> step.allocate(BYTES));
      Arrays.stream(together).forEach(Allocation::close);
    }
  }

  /** A step of another model: one tensor that is larger than those. */
  private void narrowStep(int firstBytes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      step.allocate(firstBytes).close();
      step.allocate(4 * BYTES).close();
    }
  }

  @Test
  void shouldServeOneModelWhileAnotherIsLearnt() {
    Queue<Runnable> tasks = new ArrayDeque<>();
    open(tasks::add);
    for (int step = 0; step < KeyedSteps.REPEATS; step++) {
      wideStep(BYTES);
      narrowStep(2 * BYTES);
    }
    Runnable first = tasks.remove();
    first.run();
    assertEquals(1, pool.stepStats().plans());
    for (int step = 1; step <= 2 * KeyedSteps.MAX_LEARNING_STEPS; step++) {
      wideStep(BYTES);
      narrowStep(2 * BYTES);
      assertEquals(step, pool.stepStats().plannedSteps());
    }
    runAll(tasks);
    assertEquals(2, pool.stepStats().plans());
    long before = pool.stepStats().plannedSteps();
    wideStep(BYTES);
    narrowStep(2 * BYTES);
    assertEquals(before + 2, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldLearnAModelWhoseStepsBeginLikeThoseOfAnother() {
    Queue<Runnable> tasks = new ArrayDeque<>();
    open(tasks::add);
    wideStep(BYTES);
    narrowStep(BYTES);
    wideStep(BYTES);
    wideStep(BYTES);
    runAll(tasks);
    assertEquals(1, pool.stepStats().plans());
    // The first one departs, so it is not learnt.
    for (int step = 0; step < KeyedSteps.REPEATS; step++) {
      narrowStep(BYTES);
      wideStep(BYTES);
    }
    assertEquals(1, pool.stepStats().departedSteps());
    assertEquals(1, pool.stepStats().plannedSteps());
    runAll(tasks);
    assertEquals(2, pool.stepStats().plans());
  }

  @Test
  void shouldEndLearningWhenTheOtherModelStaysAway() {
    Queue<Runnable> tasks = new ArrayDeque<>();
    open(tasks::add);
    wideStep(BYTES);
    narrowStep(2 * BYTES);
    wideStep(BYTES);
    wideStep(BYTES);
    runAll(tasks);
    for (int step = 0; step < 2; step++) {
      wideStep(BYTES);
    }
    // A first size that is not known tells whether it is learnt or served from the plan there is.
    wideStep(BYTES / 2);
    assertEquals(3, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldKeepTheHeapMemoryThatOthersNeedWhenAPlanServes() {
    LongAdder reservations = new LongAdder();
    open(
        Runnable::run,
        source.withVisitors(
            0, RegionVisitor.onAlloc((region, index, bytes) -> reservations.increment())));
    for (int step = 0; step < KeyedSteps.REPEATS; step++) {
      steps(1);
      pool.allocate(HEAP_BYTES).close();
    }
    assertEquals(1, pool.stepStats().plans());
    long before = reservations.sum();
    for (int step = 0; step < 2 * STEPS_UNTIL_TRIM; step++) {
      steps(1);
      pool.allocate(HEAP_BYTES).close();
    }
    assertEquals(before, reservations.sum());
    assertEquals(2 * STEPS_UNTIL_TRIM, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldGiveTheHeapMemoryBackThatNobodyNeedsSinceAPlanServes() {
    open(Runnable::run);
    steps(KeyedSteps.REPEATS);
    assertTrue(source.bytesReserved() > ARENA_BYTES);
    steps(STEPS_UNTIL_TRIM);
    assertEquals(ARENA_BYTES, source.bytesReserved());
  }

  @Test
  void shouldGiveAnIdleArenaBackBesideOneThatIsInUse() {
    open(Runnable::run);
    steps(KeyedSteps.REPEATS);
    ScopedMemoryCollector outer = pool.collect();
    Allocation early = outer.allocate(BYTES);
    ScopedMemoryCollector inner = pool.collect();
    Allocation outliving = inner.allocate(BYTES);
    inner.close();
    early.close();
    outer.close();
    assertEquals(2, pool.stepStats().arenas());
    assertEquals(ARENA_BYTES, pool.trimSteps(Duration.ZERO));
    assertEquals(1, pool.stepStats().arenas());
    outliving.close();
    assertEquals(ARENA_BYTES, pool.trimSteps(Duration.ZERO));
  }

  @Test
  void shouldGiveAnArenaBackOnceWhenAnotherThreadEndsAStepOfAReplacedPlan() throws Exception {
    open(Runnable::run);
    steps(KeyedSteps.REPEATS);
    ScopedMemoryCollector open = pool.collect();
    open.allocate(BYTES).close();
    steps(1, 2 * BYTES);
    assertEquals(2, pool.stepStats().arenas(), "the plan is raised, and the old arena leaves");
    Threads.run(1, thread -> open.close());
    assertEquals(2, pool.stepStats().arenas());
    steps(1, 2 * BYTES);
    assertEquals(1, pool.stepStats().arenas());
    assertEquals(2 * ARENA_BYTES, pool.stepStats().arenaBytes());
  }

  /** They may be in the middle of a request, with a block that is not allocated yet. */
  @Test
  void shouldKeepTheArenasOfThreadsWhoseStepsAnotherThreadEndsUntilTheyAreDone() throws Exception {
    open(Runnable::run);
    steps(KeyedSteps.REPEATS);
    List<ExecutorService> owners = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    try {
      for (int ended = 0; ended < 3; ended++) {
        ExecutorService owner =
            Executors.newSingleThreadExecutor(
                task -> {
                  Thread thread = new Thread(task);
                  threads.add(thread);
                  return thread;
                });
        owners.add(owner);
        ScopedMemoryCollector step = owner.submit(this::openStep).get();
        step.close();
      }
      assertEquals(0, pool.stepStats().plans(), "such steps are no longer planned");
      assertEquals(3 * ARENA_BYTES, pool.stepStats().arenaBytes());
      // Other kinds of steps do not take their place either.
      for (int kind = 0; kind < 2 * StepKinds.MAX_KINDS; kind++) {
        stepOf(kind);
      }
      assertEquals(3 * ARENA_BYTES, pool.stepStats().arenaBytes());
    } finally {
      owners.forEach(ExecutorService::shutdown);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    pool.trimSteps(Duration.ZERO);
    assertEquals(0, pool.stepStats().arenas());
  }

  @Test
  void shouldKeepAnArenaWhoseStepAnotherThreadEndsWhileItsKindIsForgotten() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      open(Runnable::run);
      steps(KeyedSteps.REPEATS);
      ExecutorService owner = Executors.newSingleThreadExecutor();
      try {
        ScopedMemoryCollector step = owner.submit(this::openStep).get();
        // All are remembered, and then none was used since one was looked for.
        for (int kind = 0; kind < StepKinds.MAX_KINDS; kind++) {
          stepOf(kind);
        }
        Threads.run(
            2,
            thread -> {
              if (thread == 0) {
                step.close();
              } else {
                stepOf(StepKinds.MAX_KINDS);
              }
            });
        assertEquals(1, pool.stepStats().arenas(), "its thread may be in a request");
      } finally {
        owner.shutdown();
        assertTrue(owner.awaitTermination(1, TimeUnit.MINUTES));
      }
      pool.close();
    }
  }

  private void stepOf(int kind) {
    try (ScopedMemoryCollector step = pool.collect(kind)) {
      step.allocate(BYTES).close();
    }
  }

  private ScopedMemoryCollector openStep() {
    ScopedMemoryCollector step = pool.collect();
    step.allocate(BYTES).close();
    return step;
  }

  /** A key of the user's own, in whose code another thread may end the step. */
  private static final class Key {
    private static Runnable whenAsked;

    @Override
    public int hashCode() {
      return 1;
    }

    @Override
    public boolean equals(Object other) {
      Runnable now = whenAsked;
      whenAsked = null;
      if (now != null) {
        now.run();
      }
      return other instanceof Key;
    }
  }

  @Test
  void shouldGiveBackWhatAStepLeasesWhileAnotherThreadEndsIt() {
    open(Runnable::run);
    for (int i = 0; i <= KeyedSteps.REPEATS; i++) {
      try (ScopedMemoryCollector step = pool.collect(new Key())) {
        step.allocate(BYTES).close();
      }
    }
    ScopedMemoryCollector step = pool.collect(new Key());
    Key.whenAsked =
        () -> {
          try {
            Threads.run(1, thread -> step.close());
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        };
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> step.allocate(BYTES));
    assertEquals("this step is closed", refused.getMessage());
    assertEquals(1, pool.stepStats().arenas());
    assertEquals(BYTES, pool.trimSteps(Duration.ZERO));
  }

  @Test
  void shouldNotTakeBackAnArenaWhoseStepEndsAfterAForcedClose() {
    open(Runnable::run);
    steps(KeyedSteps.REPEATS);
    ScopedMemoryCollector step = pool.collect();
    step.allocate(BYTES).close();
    pool.closeForcibly();
    step.close();
    assertEquals(0, pool.stepStats().departedSteps());
    assertEquals(0, pool.stepStats().arenas());
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, InternalError.class})
  void shouldServeStepsWhateverTheExecutorThrows(Class<? extends Throwable> type) {
    open(
        task -> {
          if (type == InternalError.class) {
            throw new InternalError("thrown by the test");
          }
          throw new IllegalStateException("thrown by the test");
        });
    steps(KeyedSteps.REPEATS + 1);
    assertEquals(0, pool.stepStats().plans());
    assertEquals(0, pool.stats().bytesInUse());
  }

  /** A step for which the search for the best plan goes on for a long time. */
  private void hardStep(int model) {
    SplittableRandom random = new SplittableRandom(model);
    try (ScopedMemoryCollector step = pool.collect(model)) {
      List<Allocation> live = new ArrayList<>();
      for (int i = 0; i < HARD_TENSORS; i++) {
        if (live.size() == HARD_ALIVE) {
          live.remove(random.nextInt(HARD_ALIVE)).close();
        }
        live.add(step.allocate(random.nextInt(BYTES, 16 * BYTES)));
      }
      live.forEach(Allocation::close);
    }
  }

  @Test
  @Timeout(60) // interrupts the loop, which would not end if steps waited
  void shouldPlanTheNextModelWhileTheLastPlanIsImproved() {
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .stepPlanningTime(Duration.ofDays(1))
            .build();
    for (int model = 1; model <= 3; model++) {
      while (pool.stepStats().plans() < model) {
        hardStep(model);
        assertFalse(Thread.interrupted(), "the plan waits for the search");
      }
    }
  }

  @Test
  @Timeout(60) // interrupts the loop, which would not end if steps waited
  @SuppressWarnings("try") // what is asked of the pool meanwhile belongs to the step
  void shouldPlanStepsWhileThePlanOfThePoolIsMade() throws InterruptedException {
    CountDownLatch making = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    RegionVisitor holdsThePlan =
        RegionVisitor.onAlloc(
            (region, index, bytes) -> {
              if (Thread.currentThread().getName().equals("prmalloc-planner")) {
                making.countDown();
                Threads.await(goOn);
              }
            });
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(source.withVisitors(0, holdsThePlan))
            .startStatisticStep(1)
            .stableStatisticStep(1)
            .stepPlanningTime(Duration.ZERO)
            .build();
    try {
      while (making.getCount() > 0) {
        try (ScopedMemoryCollector step = pool.collect()) {
          pool.allocate(BYTES).close();
        }
      }
      while (pool.stepStats().plannedSteps() == 0) {
        steps(1);
        assertFalse(Thread.interrupted(), "the arena waits for the pool's plan");
      }
      assertFalse(pool.isPooling());
    } finally {
      goOn.countDown();
    }
  }

  @Test
  void shouldNotWaitForAnArena() {
    Queue<Runnable> tasks = new ArrayDeque<>();
    open(tasks::add);
    steps(KeyedSteps.REPEATS);
    tasks.remove().run();
    assertEquals(ARENA_BYTES, pool.trimSteps(Duration.ZERO));
    steps(1);
    assertEquals(0, pool.stepStats().plannedSteps());
    assertEquals(2, tasks.size(), "an arena, and the heap is to be trimmed");
    steps(1);
    assertEquals(2, tasks.size(), "one is on the way");
    tasks.remove().run();
    tasks.remove().run();
    steps(1);
    assertEquals(1, pool.stepStats().plannedSteps());
    assertEquals(0, tasks.size());
  }

  /** Lets one thread that gives memory back wait until it is told to go on. */
  private static final class Hold {
    private final Thread served = Thread.currentThread();
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile boolean holds;
    private volatile boolean wasTold;

    void freeing() {
      if (holds && Thread.currentThread() != served) {
        holds = false;
        arrived.countDown();
        try {
          wasTold = goOn.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  @Test
  void shouldLeaveArenasOfForgottenKindsToTheExecutor() throws Exception {
    Set<Thread> freeing = ConcurrentHashMap.newKeySet();
    ExecutorService planner = Executors.newSingleThreadExecutor();
    try {
      pool =
          TensorPoolAllocator.builder()
              .subAllocator(
                  source.withVisitors(
                      0,
                      RegionVisitor.onFree(
                          (region, index, bytes) -> freeing.add(Thread.currentThread()))))
              .executor(planner)
              .stepPlanningTime(Duration.ZERO)
              .build();
      for (int key = 0; key < 2 * StepKinds.MAX_KINDS; key++) {
        for (int i = 0; i <= KeyedSteps.REPEATS; i++) {
          try (ScopedMemoryCollector step = pool.collect(key)) {
            step.allocate(BYTES).close();
          }
          planner.submit(() -> {}).get();
        }
      }
      assertTrue(pool.stepStats().plans() <= StepKinds.MAX_KINDS);
      assertTrue(pool.stepStats().plannedSteps() > StepKinds.MAX_KINDS);
      assertEquals(1, freeing.size());
      assertFalse(freeing.contains(Thread.currentThread()));
    } finally {
      planner.shutdown();
    }
  }

  @Test
  void shouldServeStepsWhileAnArenaIsGivenBack() throws Exception {
    Hold held = new Hold();
    ExecutorService planner = Executors.newSingleThreadExecutor();
    try {
      pool =
          TensorPoolAllocator.builder()
              .subAllocator(
                  source.withVisitors(
                      0, RegionVisitor.onFree((region, index, bytes) -> held.freeing())))
              .executor(planner)
              .stepPlanningTime(Duration.ZERO)
              .build();
      steps(KeyedSteps.REPEATS);
      planner.submit(() -> {}).get();
      steps(1);
      planner.submit(() -> {}).get();
      pool.trimHeap();
      assertEquals(1, pool.stepStats().plannedSteps());
      held.holds = true;
      steps(1, 2 * BYTES);
      held.arrived.await();
      steps(1, 2 * BYTES);
      held.goOn.countDown();
      planner.submit(() -> {}).get();
      assertTrue(held.wasTold, "the step came in while an arena went");
      steps(1, 2 * BYTES);
      StepStats stats = pool.stepStats();
      assertEquals(1, stats.raisedPlans());
      assertEquals(1, stats.departedSteps());
      assertEquals(0, stats.unplannedSteps() - KeyedSteps.REPEATS);
      assertEquals(1, stats.arenas());
      pool.trimHeap();
      assertEquals(stats.arenaBytes(), source.bytesReserved());
    } finally {
      planner.shutdown();
    }
  }

  /** A step whose request number {@code which} is the large one, and all are alive together. */
  private long structure(int which) {
    try (ScopedMemoryCollector step = pool.collect()) {
      List<Allocation> out = new ArrayList<>();
      long address = 0;
      for (int request = 0; request < 2 * KeyedSteps.MAX_STRUCTURES; request++) {
        int bytes = request == which ? 1 << 20 : 1000 + 64 * which;
        if (request == 0) {
          address = step.allocateRaw(bytes);
        } else {
          out.add(step.allocate(bytes));
        }
      }
      out.forEach(Allocation::close);
      return address;
    }
  }

  private void structures(int which, int count) {
    for (int i = 0; i < count; i++) {
      pool.deallocateRaw(structure(which));
    }
  }

  private static void runAll(Queue<Runnable> tasks) {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private static void runLast(List<Runnable> tasks) {
    tasks.remove(tasks.size() - 1).run();
  }

  /** A structure that no step is expected to have until statistics are collected anew. */
  private void learnAnew(int foreign) {
    int before = (int) pool.stepStats().replans();
    for (int i = 0; i < 100 && pool.stepStats().replans() == before; i++) {
      structures(foreign, 1);
    }
    assertEquals(before + 1, pool.stepStats().replans());
  }

  @Test
  void shouldGetNoArenaWhenItsStructureIsForgottenMeanwhile() throws Exception {
    List<Runnable> tasks = new ArrayList<>();
    open(tasks::add);
    structures(1, KeyedSteps.REPEATS);
    runLast(tasks);
    learnAnew(2);
    structures(2, KeyedSteps.REPEATS);
    runLast(tasks);
    structures(1, 3);
    tasks.clear();
    // Two at a time, so that one more arena is on the way.
    Thread other = new Thread(() -> structures(1, 1));
    try (ScopedMemoryCollector step = pool.collect()) {
      step.allocate(1064).close();
      other.start();
      other.join();
    }
    assertEquals(1, tasks.size(), "one more arena");
    learnAnew(3);
    for (int more = 3; more < KeyedSteps.MAX_STRUCTURES + 3; more++) {
      structures(more, 1);
    }
    assertEquals(2, tasks.size(), "the first structure is forgotten");
    tasks.remove(0).run();
    structures(4, KeyedSteps.REPEATS);
    runLast(tasks);
    // Learning ends.
    structures(4, 40);
    long planned = pool.stepStats().plannedSteps();
    long address = structure(1);
    List.copyOf(tasks).forEach(Runnable::run);
    pool.deallocateRaw(address);
    assertEquals(planned, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stats().bytesInUse());
  }

  @Test
  void shouldPlanWhatWasLearntWhenManyOthersComeMeanwhile() {
    List<Runnable> tasks = new ArrayList<>();
    open(tasks::add);
    structures(1, KeyedSteps.REPEATS);
    assertEquals(1, tasks.size(), "a plan is to be made");
    for (int other = 2; other < KeyedSteps.MAX_STRUCTURES + 5; other++) {
      structures(other, 1);
    }
    List.copyOf(tasks).forEach(Runnable::run);
    structures(1, KeyedSteps.MAX_LEARNING_STEPS + 1);
    assertTrue(pool.stepStats().plannedSteps() > 0, pool.stepStats().toString());
  }

  @Test
  void shouldWaitOnceWhenTheMemoryForManyPlansIsRefused() {
    List<Runnable> tasks = new ArrayList<>();
    AtomicBoolean refuses = new AtomicBoolean();
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(
                source.withVisitors(
                    0,
                    RegionVisitor.onAlloc(
                        (region, index, bytes) -> {
                          if (refuses.get()) {
                            throw new IllegalStateException("refused");
                          }
                        })))
            .executor(tasks::add)
            .stepPlanningTime(Duration.ZERO)
            .build();
    for (int i = 0; i < KeyedSteps.REPEATS; i++) {
      for (int which = 1; which < KeyedSteps.MAX_STRUCTURES; which++) {
        structures(which, 1);
      }
    }
    assertEquals(KeyedSteps.MAX_STRUCTURES - 1, tasks.size());
    refuses.set(true);
    List.copyOf(tasks).forEach(Runnable::run);
    tasks.clear();
    assertEquals(0, pool.stepStats().plans());
    refuses.set(false);
    structures(1, KeyedSteps.MIN_SHARED_STEPS + KeyedSteps.REPEATS);
    List.copyOf(tasks).forEach(Runnable::run);
    structures(1, 1);
    assertEquals(1, pool.stepStats().plannedSteps(), pool.stepStats()::toString);
  }

  /** Steps that are open together, of so many bytes twice. */
  private void stepsWithin(int count, int bytes) {
    try (ScopedMemoryCollector step = pool.collect();
        Allocation first = step.allocate(bytes);
        Allocation second = step.allocate(bytes)) {
      first.byteBuffer().put(0, (byte) count);
      second.byteBuffer().put(0, (byte) count);
      if (count > 1) {
        stepsWithin(count - 1, bytes);
      }
    }
  }

  @Test
  void shouldServeAllStepsFromTheOldArenasUntilALoweredPlanHasAsMany() {
    AtomicBoolean looks = new AtomicBoolean();
    AtomicInteger looked = new AtomicInteger();
    Queue<Runnable> tasks = new ArrayDeque<>();
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(
                source.withVisitors(
                    0,
                    RegionVisitor.onAlloc(
                        (region, index, bytes) -> {
                          if (looks.getAndSet(false)) {
                            stepsWithin(3, BYTES / 4);
                            looked.incrementAndGet();
                            looks.set(true);
                          }
                        })))
            .executor(tasks::add)
            .stepPlanningTime(Duration.ZERO)
            .stepArenaIdle(Duration.ofMillis(1500))
            .build();
    steps(KeyedSteps.REPEATS);
    do {
      runAll(tasks);
      stepsWithin(3, BYTES);
    } while (pool.stepStats().arenas() < 3);
    long unplanned = pool.stepStats().unplannedSteps();
    looks.set(true);
    while (pool.stepStats().loweredPlans() == 0) {
      stepsWithin(3, BYTES / 4);
      runAll(tasks);
    }
    looks.set(false);
    stepsWithin(3, BYTES / 4);
    StepStats stats = pool.stepStats();
    assertEquals(unplanned, stats.unplannedSteps(), stats::toString);
    assertEquals(3, looked.get(), "an arena of the lowered plan for each of the old");
    assertEquals(3 * ARENA_BYTES / 4, stats.arenaBytes());
    runAll(tasks);
  }
}
