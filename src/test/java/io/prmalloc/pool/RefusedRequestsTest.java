package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that a limit refuses at first, since plans have the memory or are about to. */
class RefusedRequestsTest {

  private static final int KIB = 1024;
  private static final int MIB = 1 << 20;

  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private SubAllocator limited;
  private TensorPoolAllocator pool;

  private void open(SubAllocator source, Executor executor) {
    limited = source;
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .executor(executor)
            .stepPlanningTime(Duration.ZERO)
            .enableMemoryOptimization(false)
            .build();
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, pool.stats().bytesInUse());
    pool.close();
    assertEquals(0, limited.bytesReserved());
  }

  private void steps(Object key, int count, int bytes) {
    for (int i = 0; i < count; i++) {
      try (ScopedMemoryCollector step = pool.collect(key)) {
        step.allocate(bytes).close();
      }
    }
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  /** Runs something after a region was given back. */
  private static final class ToldSource extends SubAllocatorWrapper {
    final AtomicReference<Runnable> whenFreed = new AtomicReference<>();

    ToldSource(SubAllocator source) {
      super(source);
    }

    @Override
    public void free(MemoryRegion region) {
      wrapped().free(region);
      Runnable then = whenFreed.getAndSet(null);
      if (then != null) {
        then.run();
      }
    }
  }

  @Test
  void shouldServeALearntStepWhenAPlanWantsTheMemoryThatWasGivenBack() {
    ToldSource source = new ToldSource(SubAllocator.direct(8 * MIB));
    open(source, tasks::add);
    steps("first", 1, MIB);
    steps("second", KeyedSteps.REPEATS, 3 * MIB);
    runTasks();
    assertEquals(3 * MIB, pool.stepStats().arenaBytes());
    steps("first", 1, MIB);
    steps("first", KeyedSteps.REPEATS, 5 * MIB);
    pool.trimHeap();
    assertEquals(3 * MIB, limited.bytesReserved(), "the arena of the second");
    assertFalse(tasks.isEmpty(), "a plan of five for the first is to be made");
    source.whenFreed.set(this::runTasks);
    steps("third", 1, 6 * MIB);
    assertTrue(tasks.isEmpty(), "the plan was tried when the arena of the second was given back");
    tasks.clear();
  }

  @Test
  @Timeout(60)
  void shouldWaitForAnArenaThatIsBeingReservedWhenARequestIsRefusedElse() throws Exception {
    CountDownLatch reserving = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicReference<Thread> planner = new AtomicReference<>();
    RegionVisitor holdsTheArena =
        RegionVisitor.onAlloc(
            (region, index, bytes) -> {
              if (Thread.currentThread() == planner.get()) {
                reserving.countDown();
                await(goOn);
              }
            });
    open(SubAllocator.direct(5 * MIB).withVisitors(0, holdsTheArena), tasks::add);
    steps("planned", KeyedSteps.REPEATS, 3 * MIB);
    planner.set(new Thread(this::runTasks));
    planner.get().start();
    await(reserving);
    FutureTask<Void> request =
        new FutureTask<>(
            () -> {
              steps("other", 1, 4 * MIB);
              return null;
            });
    Thread requester = new Thread(request);
    requester.start();
    while (requester.getState() != Thread.State.WAITING && !request.isDone()) {
      Thread.onSpinWait();
      assertFalse(Thread.interrupted(), "the request neither waits nor ends");
    }
    goOn.countDown();
    request.get();
    planner.get().join();
    requester.join();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @Timeout(60)
  void shouldNotWaitForItselfWhenARequestIsMadeWhileItsThreadReservesAnArena() {
    AtomicInteger refused = new AtomicInteger();
    RegionVisitor requests =
        RegionVisitor.onAlloc(
            (region, index, bytes) -> {
              if (pool != null && pool.stepStats().unplannedSteps() == KeyedSteps.REPEATS) {
                assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(4 * MIB));
                refused.incrementAndGet();
              }
            });
    open(SubAllocator.direct(5 * MIB).withVisitors(0, requests), Runnable::run);
    steps("planned", KeyedSteps.REPEATS, 3 * MIB);
    assertEquals(1, refused.get());
  }

  @Test
  void shouldServeAStepThatDepartedFromWhatItsArenaHad() {
    open(SubAllocator.direct(8 * MIB), Runnable::run);
    steps("planned", KeyedSteps.REPEATS + 1, 3 * MIB);
    assertEquals(1, pool.stepStats().plannedSteps());
    try (ScopedMemoryCollector step = pool.collect("planned")) {
      step.allocate(3 * MIB).close();
      step.allocate(6 * MIB).close();
      long address = step.allocateRaw(6 * MIB);
      assertNotEquals(0, address);
      step.deallocateRaw(address);
      assertEquals(0, pool.stepStats().arenas());
    }
    assertEquals(2, pool.stepStats().plannedSteps());
    assertEquals(1, pool.stepStats().departedSteps());
  }

  @Test
  void shouldKeepTheArenaOfAStepThatDepartedWhenATensorLiesInIt() {
    open(SubAllocator.direct(8 * MIB), Runnable::run);
    steps("planned", KeyedSteps.REPEATS + 1, 3 * MIB);
    try (ScopedMemoryCollector step = pool.collect("planned");
        Allocation first = step.allocate(3 * MIB)) {
      first.byteBuffer().putInt(0, 1);
      assertThrows(OutOfNativeMemoryException.class, () -> step.allocate(6 * MIB));
      step.allocate(5 * MIB).close();
      assertEquals(1, first.byteBuffer().getInt(0));
      assertEquals(3 * MIB, pool.stepStats().arenaBytes());
    }
  }

  @Test
  void shouldServeASmallRequestFromTheHeapWhenThereIsNoMemoryForASlab() {
    open(SubAllocator.direct(2 * MIB), Runnable::run);
    Allocation first = pool.allocate(100 * KIB);
    long rest = pool.stats().bytesLimit().getAsLong() - limited.bytesReserved();
    Allocation second = pool.allocate(rest);
    assertEquals(2 * MIB, limited.bytesReserved());
    try (Allocation small = pool.allocate(1000)) {
      small.byteBuffer().putInt(0, 1);
    }
    long address = pool.allocateRaw(64, 1000);
    assertNotEquals(0, address);
    pool.deallocateRaw(address);
    assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(MIB));
    first.close();
    second.close();
  }

  @Test
  void shouldServeARequestFromAnyBlockOfThePlanWhenNothingElseIsFree() {
    limited = SubAllocator.direct(150 * KIB);
    pool = PoolTests.builder(limited).maxOversize(1).replan(false).build();
    Pools.learn(pool, 60 * KIB, 60 * KIB);
    assertEquals(120 * KIB, pool.poolStats().arenaBytes(), "both in one region");
    Allocation first = pool.allocate(60 * KIB);
    Allocation other = pool.allocate(40 * KIB);
    assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(40 * KIB));
    other.close();
    for (int bytes : new int[] {40 * KIB, 1000}) {
      pool.allocate(bytes).close();
      long address = pool.allocateRaw(64, bytes);
      assertNotEquals(0, address);
      assertEquals(bytes, pool.requestedSize(address));
      pool.deallocateRaw(address);
    }
    first.close();
  }

  private void openCounting(int limitBytes, AtomicInteger reservations) {
    RegionVisitor counts =
        RegionVisitor.onAlloc((region, index, bytes) -> reservations.incrementAndGet());
    open(SubAllocator.direct(limitBytes).withVisitors(0, counts), Runnable::run);
  }

  @Test
  void shouldNotReserveAnArenaAgainEachTimeItWasGivenBackForARequest() {
    AtomicInteger reservations = new AtomicInteger();
    openCounting(5 * MIB, reservations);
    steps("planned", KeyedSteps.REPEATS, 3 * MIB);
    assertEquals(1, pool.stepStats().plans());
    reservations.set(0);
    for (int i = 0; i < 1000; i++) {
      steps("planned", 1, 3 * MIB);
      pool.allocate(4 * MIB).close();
    }
    assertTrue(reservations.get() < 100, reservations::toString);
    long planned = pool.stepStats().plannedSteps();
    steps("planned", 1000, 3 * MIB);
    assertTrue(pool.stepStats().plannedSteps() > planned, "the arena comes when it has peace");
  }

  @Test
  void shouldNotReserveBlocksAgainEachTimeTheyWereGivenBackForARequest() {
    AtomicInteger reservations = new AtomicInteger();
    limited =
        SubAllocator.direct(5 * MIB)
            .withVisitors(
                0, RegionVisitor.onAlloc((region, index, bytes) -> reservations.incrementAndGet()));
    pool = PoolTests.builder(limited).replan(false).build();
    Pools.learn(pool, 2 * MIB, 2 * MIB);
    reservations.set(0);
    for (int i = 0; i < 1000; i++) {
      pool.allocate(2 * MIB).close();
      pool.allocate(5 * MIB).close();
    }
    assertTrue(reservations.get() < 100, reservations::toString);
    long hits = pool.poolStats().hits();
    for (int i = 0; i < 1000; i++) {
      pool.allocate(2 * MIB).close();
    }
    assertTrue(pool.poolStats().hits() > hits, "the memory comes when it has peace");
  }

  private static String refusal(Allocator of, int bytes) {
    return assertThrows(OutOfNativeMemoryException.class, () -> of.allocate(bytes)).getMessage();
  }

  @FunctionalInterface
  private interface Allocator {
    Allocation allocate(long bytes);
  }

  @Test
  void shouldSayTheSameOfAStepAsOfThePool() {
    open(SubAllocator.direct(8 * MIB), Runnable::run);
    steps("planned", KeyedSteps.REPEATS, MIB);
    try (Allocation out = pool.allocate(3 * MIB)) {
      String wanted =
          "cannot allocate 7000001 bytes: 3145728 in use, 3145728 reserved, limit 8388608 of the"
              + " sub-allocator: give it a larger limitBytes";
      assertEquals(3 * MIB, out.sizeBytes());
      assertEquals(wanted, refusal(pool::allocate, 7_000_001));
      try (ScopedMemoryCollector learning = pool.collect("other")) {
        assertEquals(wanted, refusal(learning::allocate, 7_000_001));
      }
      try (ScopedMemoryCollector departed = pool.collect("planned")) {
        assertEquals(wanted, refusal(departed::allocate, 7_000_001));
      }
    }
  }
}
