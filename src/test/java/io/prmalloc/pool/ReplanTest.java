package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.BrokenLog;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.lifecycle.ReplanSettings;
import io.prmalloc.internal.lifecycle.Replanner;
import io.prmalloc.internal.os.AgronaAccess;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A shared pool whose traffic changes. */
@SuppressWarnings("try") // a step is a bracket: what is asked of the pool meanwhile belongs to it
class ReplanTest {

  private static final int[] SMALL_BATCH = {100_000, 40_000, 300_000, 40_000, 100_000, 50_000};
  private static final int[] LARGE_BATCH = {400_000, 160_000, 1_200_000, 160_000, 400_000};

  /** What it takes at most until every request is a hit again: to notice, to learn, to switch. */
  private static final int STEPS =
      (ReplanSettings.DEFAULTS.window() * (ReplanSettings.DEFAULTS.windows() + 1))
              / LARGE_BATCH.length
          + 20;

  private final SubAllocator source = SubAllocator.direct();
  private TensorPoolAllocator pool =
      TensorPoolAllocator.builder()
          .subAllocator(source)
          .startStatisticStep(0)
          .maxOversize(1)
          .executor(Runnable::run)
          .build();

  @AfterEach
  void nothingIsLeft() {
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  private void step(int... sizes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      Deque<Allocation> live = new ArrayDeque<>();
      for (int size : sizes) {
        live.add(pool.allocate(size));
        if (live.size() > 2) {
          live.poll().close();
        }
      }
      live.forEach(Allocation::close);
    }
  }

  private void warmUp(int... sizes) {
    while (!pool.isPooling()) {
      step(sizes);
    }
  }

  private double hitRate(int steps, int... sizes) {
    PoolStats before = pool.poolStats();
    for (int i = 0; i < steps; i++) {
      step(sizes);
    }
    PoolStats after = pool.poolStats();
    double unserved = after.misses() + after.nullBins() - before.misses() - before.nullBins();
    double hits = after.hits() - before.hits();
    return hits / (hits + unserved);
  }

  @Test
  void shouldServeNewTrafficWhenItHasChangedForGood() {
    warmUp(SMALL_BATCH);
    long smallBytes = source.bytesReserved();
    assertEquals(1, hitRate(20, SMALL_BATCH));
    assertTrue(hitRate(STEPS, LARGE_BATCH) < 0.5);
    assertEquals(1, hitRate(20, LARGE_BATCH));
    long largeBytes = source.bytesReserved();
    assertEquals(pool.poolStats().arenaBytes(), largeBytes, "the old arena is gone");
    assertTrue(largeBytes > 2 * smallBytes);
    // And back.
    hitRate(STEPS, SMALL_BATCH);
    assertEquals(1, hitRate(20, SMALL_BATCH));
    assertEquals(smallBytes, source.bytesReserved());
  }

  @Test
  void shouldKeepThePlanWhenOddRequestsAreFew() {
    warmUp(SMALL_BATCH);
    for (int i = 0; i < 5000; i++) {
      step(SMALL_BATCH);
      if (i % 20 == 0) {
        pool.allocate(5_000_000).close();
      }
    }
    assertEquals(250, pool.poolStats().nullBins());
    for (int i = 0; i < 60_000; i++) {
      step(SMALL_BATCH);
      if (i % 20 == 0) {
        pool.allocate(5_000_000).close();
      }
    }
    long arenaBytes = pool.poolStats().arenaBytes();
    assertTrue(arenaBytes < 5_000_000, "3,250 odd requests, in 65,000 steps, have no block");
  }

  @Test
  void shouldPlanAnewWhenAsked() {
    assertFalse(pool.replan(), "there is nothing to replace");
    warmUp(SMALL_BATCH);
    assertTrue(pool.replan());
    assertFalse(pool.replan(), "it is going on");
    long bytes = pool.poolStats().arenaBytes();
    for (int i = 0; i < 20; i++) {
      step(SMALL_BATCH);
    }
    assertEquals(bytes, pool.poolStats().arenaBytes());
    assertTrue(pool.replan(), "the last one is over");
    assertEquals(1, pool.poolStats().hitRate());
  }

  @Test
  void shouldKeepTheOldArenaUntilItsLastBlockIsBack() {
    warmUp(SMALL_BATCH);
    long smallBytes = source.bytesReserved();
    Allocation survivor = pool.allocate(100_000);
    for (int i = 0; i < 100_000; i++) {
      survivor.byteBuffer().put(i, (byte) i);
    }
    hitRate(STEPS, LARGE_BATCH);
    assertEquals(1, hitRate(20, LARGE_BATCH));
    assertEquals(100_000, pool.stats().bytesInUse());
    assertEquals(pool.poolStats().arenaBytes(), source.bytesReserved());
    for (int i = 0; i < 100_000; i++) {
      assertEquals((byte) i, survivor.byteBuffer().get(i));
    }
    assertThrows(IllegalStateException.class, pool::close);
    long both = source.bytesReserved();
    survivor.close();
    assertEquals(smallBytes, both - source.bytesReserved());
    assertThrows(IllegalStateException.class, survivor::close);
    assertEquals(0, pool.stats().bytesInUse());
  }

  /** Its thread knows it, and frees it without asking whose it is. */
  @Test
  void shouldLetTheOldArenaGoWhenItsLastBlockIsOneThatAThreadUsedOftenBefore() {
    warmUp(SMALL_BATCH);
    for (int i = 0; i < 1000; i++) {
      pool.allocate(100_000).close();
    }
    long smallBytes = source.bytesReserved();
    Allocation survivor = pool.allocate(100_000);
    hitRate(STEPS, LARGE_BATCH);
    assertEquals(1, hitRate(20, LARGE_BATCH), "a new plan serves");
    long both = source.bytesReserved();
    survivor.close();
    assertEquals(smallBytes, both - source.bytesReserved());
  }

  /** Whoever closes it must not wait until the lock is free under which the next one is made. */
  @Test
  void shouldLeaveTheOldArenaToTheExecutorWhenItsLastBlockIsFreed() {
    pool.close();
    Deque<Runnable> tasks = new ArrayDeque<>();
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .startStatisticStep(0)
            .maxOversize(1)
            .executor(tasks::add)
            .build();
    while (!pool.isPooling()) {
      step(SMALL_BATCH);
      runAll(tasks);
    }
    Allocation old = pool.allocate(SMALL_BATCH[0]);
    for (int i = 0; i < STEPS; i++) {
      step(LARGE_BATCH);
      runAll(tasks);
    }
    assertEquals(1, pool.poolStats().replans());
    long before = source.bytesReserved();
    old.close();
    assertEquals(before, source.bytesReserved());
    assertEquals(1, tasks.size());
    runAll(tasks);
    assertTrue(source.bytesReserved() < before);
  }

  @Test
  @Timeout(100) // or it waits for itself
  void shouldNotWaitForATrimWhenARequestBeginsAReplan() throws InterruptedException {
    pool.close();
    Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    CountDownLatch trims = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicReference<Thread> trimmer = new AtomicReference<>();
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(
                source.withVisitors(
                    0,
                    RegionVisitor.onFree(
                        (region, index, bytes) -> {
                          if (Thread.currentThread() == trimmer.get()) {
                            trims.countDown();
                            Threads.await(goOn);
                          }
                        })))
            .startStatisticStep(0)
            .maxOversize(1)
            .executor(tasks::add)
            .build();
    while (!pool.isPooling()) {
      step(SMALL_BATCH);
      runAll(tasks);
    }
    pool.allocate(LARGE_BATCH[0]).close();
    runAll(tasks);
    trimmer.set(new Thread(pool::trim));
    trimmer.get().start();
    trims.await();
    // Meanwhile the trim has the lock of the pool.
    for (int i = 0; i < STEPS; i++) {
      step(LARGE_BATCH);
    }
    goOn.countDown();
    trimmer.get().join();
    runAll(tasks);
    for (int i = 0; i < STEPS; i++) {
      step(LARGE_BATCH);
      runAll(tasks);
    }
    assertEquals(1, pool.poolStats().replans());
  }

  /** Neither can be logged nor be put into words. */
  private static final class Unspeakable extends Error {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no heap for the words");
    }
  }

  @Test
  void shouldReplanLaterWhenTheExecutorRefusesAndNothingCanBeSaidOfIt() {
    pool.close();
    Queue<Runnable> tasks = new ArrayDeque<>();
    AtomicBoolean refuses = new AtomicBoolean();
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .startStatisticStep(0)
            .maxOversize(1)
            .executor(
                task -> {
                  if (refuses.get()) {
                    throw new Unspeakable();
                  }
                  tasks.add(task);
                })
            .build();
    while (!pool.isPooling()) {
      step(SMALL_BATCH);
      runAll(tasks);
    }
    refuses.set(true);
    try (BrokenLog broken = new BrokenLog(Replanner.class)) {
      for (int i = 0; i < STEPS; i++) {
        step(LARGE_BATCH);
      }
    }
    assertTrue(pool.snapshot().learningFailures() > 0);
    refuses.set(false);
    for (int i = 0; i < 4 * STEPS; i++) {
      step(LARGE_BATCH);
      runAll(tasks);
    }
    assertEquals(1, pool.poolStats().replans());
  }

  private static void runAll(Queue<Runnable> tasks) {
    while (!tasks.isEmpty()) {
      tasks.poll().run();
    }
  }

  @Test
  void shouldTakeAddressesOfTheOldPlanBack() {
    org.junit.jupiter.api.Assumptions.assumeTrue(AgronaAccess.isAvailable());
    warmUp(SMALL_BATCH);
    long old = pool.allocateRaw(64, 100_000);
    hitRate(STEPS, LARGE_BATCH);
    assertEquals(1, hitRate(5, LARGE_BATCH));
    assertEquals(100_000, pool.requestedSize(old));
    pool.deallocateRaw(old);
    assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(old));
  }

  /** Does something the moment a new plan has begun to serve, when the peak is noted. */
  private static final class MeddlingSource implements SubAllocator {
    private final SubAllocator behind;
    private Runnable meddling = () -> {};

    MeddlingSource(SubAllocator behind) {
      this.behind = behind;
    }

    @Override
    public MemoryRegion alloc(long alignment, long bytes) {
      return behind.alloc(alignment, bytes);
    }

    @Override
    public void free(MemoryRegion region) {
      behind.free(region);
    }

    @Override
    public long bytesReserved() {
      meddling.run();
      return behind.bytesReserved();
    }

    @Override
    public OptionalLong bytesLimit() {
      return behind.bytesLimit();
    }
  }

  @Test
  void shouldKnowEveryAddressWhenThePlanIsJustBeingReplaced() {
    org.junit.jupiter.api.Assumptions.assumeTrue(AgronaAccess.isAvailable());
    pool.close();
    MeddlingSource meddler = new MeddlingSource(source);
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(meddler)
            .startStatisticStep(0)
            .maxOversize(1)
            .executor(Runnable::run)
            .build();
    warmUp(SMALL_BATCH);
    BinTable small = pool.bins();
    long smallBytes = pool.poolStats().arenaBytes();
    long old = pool.allocateRaw(64, 100_000);
    List<Long> seen = new ArrayList<>();
    meddler.meddling =
        () -> {
          if (pool.bins() != small) {
            meddler.meddling = () -> {};
            seen.add(pool.requestedSize(old));
            seen.add(pool.stats().bytesInUse());
            seen.add(pool.poolStats().arenaBytes() - pool.bins().arenaBytes());
            pool.deallocateRaw(old);
          }
        };
    hitRate(STEPS, LARGE_BATCH);
    assertEquals(List.of(100_000L, 100_000L, smallBytes), seen);
    assertEquals(0, pool.stats().bytesInUse());
    assertEquals(pool.poolStats().arenaBytes(), source.bytesReserved(), "the old arena is gone");
  }

  /** Gives tensors, but no region as large as the arena of the large batch. */
  private record NoLargeRegions(SubAllocator behind) implements SubAllocator {
    @Override
    public MemoryRegion alloc(long alignment, long bytes) {
      if (bytes > 1_500_000) {
        throw new OutOfNativeMemoryException(bytes, bytesReserved(), -1, null);
      }
      return behind.alloc(alignment, bytes);
    }

    @Override
    public void free(MemoryRegion region) {
      behind.free(region);
    }

    @Override
    public long bytesReserved() {
      return behind.bytesReserved();
    }

    @Override
    public OptionalLong bytesLimit() {
      return behind.bytesLimit();
    }
  }

  @Test
  void shouldServeFromSmallRegionsWhenOneForTheNewPlanIsNotToBeHad() {
    pool.close();
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(new NoLargeRegions(source))
            .startStatisticStep(0)
            .maxOversize(1)
            .executor(Runnable::run)
            .build();
    warmUp(SMALL_BATCH);
    hitRate(STEPS, LARGE_BATCH);
    assertEquals(1, pool.poolStats().replans());
    assertEquals(1, hitRate(5, LARGE_BATCH));
    assertTrue(pool.poolStats().arenaBytes() > 1_500_000);
    assertEquals(pool.poolStats().arenaBytes(), source.bytesReserved());
  }

  @Test
  void shouldOverwriteNothingWhenThreadsGoOnMeanwhile() throws InterruptedException {
    warmUp(SMALL_BATCH);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      int seed = t;
      Thread thread = new Thread(() -> manySteps(seed, failure));
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertFalse(failure.get() != null, () -> String.valueOf(failure.get()));
    assertEquals(0, pool.stats().bytesInUse());
  }

  private void manySteps(int seed, AtomicReference<Throwable> failure) {
    try {
      for (int i = 0; i < 300; i++) {
        int[] sizes = i < 100 || i >= 200 ? LARGE_BATCH : SMALL_BATCH;
        if (seed == 0 && i % 40 == 0) {
          pool.replan();
        }
        try (ScopedMemoryCollector step = pool.collect()) {
          Deque<Allocation> live = new ArrayDeque<>();
          for (int size : sizes) {
            Allocation next = pool.allocate(size);
            for (int at = 0; at < size; at += 4096) {
              next.byteBuffer().putInt(at, seed * 1000 + i);
            }
            live.add(next);
            if (live.size() > 2) {
              check(live.poll(), seed * 1000 + i);
            }
          }
          while (!live.isEmpty()) {
            check(live.poll(), seed * 1000 + i);
          }
        }
      }
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  private static void check(Allocation allocation, int mark) {
    for (int at = 0; at < allocation.sizeBytes(); at += 4096) {
      assertEquals(mark, allocation.byteBuffer().getInt(at));
    }
    allocation.close();
  }
}
