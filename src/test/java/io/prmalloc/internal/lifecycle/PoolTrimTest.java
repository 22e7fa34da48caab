package io.prmalloc.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.CorruptedHeaderException;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.TestBytes;
import io.prmalloc.internal.os.Mappings;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.Pools;
import io.prmalloc.pool.Steps;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import io.prmalloc.pool.Threads;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Trims: memory that a pool gives back while it stays open. */
class PoolTrimTest {

  private static final int KIB = 1024;
  private static final int MIB = 1 << 20;

  private final SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
  private TensorPoolAllocator pool;

  private TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder()
        .subAllocator(source)
        .executor(Runnable::run)
        .stepPlanningTime(Duration.ZERO);
  }

  private TensorPoolAllocator pooling(long... bytes) {
    TensorPoolAllocator made = builder().planner(Steps.planner(1)).build();
    Pools.learn(made, bytes);
    assertTrue(made.isPooling());
    return made;
  }

  @BeforeEach
  void nativeCallsWork() {
    assumeTrue(OperatingSystem.callsNativeSilently(), "memory is mapped by native calls");
  }

  @AfterEach
  void nothingIsLeft() {
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  private static void fill(Allocation allocation, int value) {
    TestBytes.fill(allocation.byteBuffer(), (byte) value);
  }

  private static void check(Allocation allocation, int value) {
    TestBytes.assertAll((byte) value, allocation.byteBuffer());
  }

  /** Asks the kernel; where it does not tell, what the pool says of its trims speaks alone. */
  private static void assertResident(long expected, long address, int bytes) {
    OptionalLong resident = Mappings.residentBytes(address, bytes);
    resident.ifPresent(actual -> assertEquals(expected, actual));
  }

  @Test
  void shouldGiveBackThePagesOfFreeBlocksAndOfNoOthersWhenTrimmed() {
    pool = pooling(MIB, MIB, 4 * MIB);
    try (Allocation kept = pool.allocate(MIB)) {
      fill(kept, 7);
      Allocation small = pool.allocate(MIB);
      Allocation large = pool.allocate(4 * MIB);
      fill(small, 1);
      fill(large, 2);
      long smallAt = small.address();
      long largeAt = large.address();
      small.close();
      large.close();
      assertResident(MIB, smallAt, MIB);
      assertResident(4 * MIB, largeAt, 4 * MIB);

      assertEquals(5 * MIB, pool.trim());

      assertResident(MIB, kept.address(), MIB);
      assertResident(0, smallAt, MIB);
      assertResident(0, largeAt, 4 * MIB);
      assertEquals(0, pool.trim());
      check(kept, 7);
      try (Allocation again = pool.allocate(4 * MIB)) {
        check(again, 0);
      }
      assertEquals(4, pool.poolStats().hits());
      assertEquals(0, pool.poolStats().unpooledRequests());
      // What was used since goes again.
      assertEquals(4 * MIB, pool.trim());
    }
    assertEquals(MIB, pool.trim());
  }

  @Test
  void shouldHaveHeadersInFrontOfAddressesWhenTheirPagesWereGivenBack() {
    pool = pooling(MIB + 64);
    for (int round = 0; round < 1000; round++) {
      pool.deallocateRaw(pool.allocateRaw(64, MIB));
      if (round % 100 == 0) {
        assertEquals(MIB, pool.trim());
      }
    }
    assertEquals(1000, pool.poolStats().hits());
  }

  /** Two threads that take, one that gives back, and one that trims. */
  @Test
  void shouldFindEveryHeaderRightWhenAddressesAreHandedOverAndPagesGivenBack() throws Exception {
    int count = 20_000;
    long[] sizes = new long[128];
    Arrays.fill(sizes, 64 * KIB);
    pool = pooling(sizes);
    BlockingQueue<Long> onTheWay = new LinkedBlockingQueue<>(64);
    AtomicInteger corrupted = new AtomicInteger();
    Threads.run(
        4,
        thread -> {
          switch (thread) {
            case 0 -> trimOften();
            case 1 -> {
              for (int i = 0; i < 2 * count; i++) {
                // Goes on after a failure, or those who take would wait for ever.
                corrupted.addAndGet(givesBack(onTheWay.take()) ? 0 : 1);
              }
            }
            default -> {
              for (int i = 0; i < count; i++) {
                onTheWay.put(takeOfSomeSize(i));
              }
            }
          }
        });
    assertEquals(0, corrupted.get());
    assertEquals(0, pool.stats().bytesInUse());
    assertTrue(pool.poolStats().hits() > count, pool::dumpStats);
  }

  private void trimOften() throws InterruptedException {
    for (int i = 0; i < 40; i++) {
      pool.trim();
      Thread.sleep(1);
    }
  }

  /** Two sizes of a class, and now and then a handle's user writes where headers are. */
  private long takeOfSomeSize(int i) {
    if (i % 50 == 0) {
      try (Allocation handle = pool.allocate(64 * KIB)) {
        handle.byteBuffer().putLong(0, i).putLong(40, i);
      }
    }
    return pool.allocateRaw(64, 64 * KIB - (i % 7 == 0 ? 128 : 64));
  }

  private boolean givesBack(long address) {
    try {
      pool.deallocateRaw(address);
      return true;
    } catch (CorruptedHeaderException e) {
      return false;
    }
  }

  @Test
  void shouldFindEveryBlockWhenTrimmedBefore() {
    long[] sizes = new long[100];
    Arrays.fill(sizes, 64 * KIB);
    pool = pooling(sizes);
    for (int round = 0; round < 3; round++) {
      List<Allocation> all = Pools.take(pool, sizes);
      assertEquals(0, pool.poolStats().unpooledRequests());
      all.forEach(Allocation::close);
      assertEquals(100 * 64 * KIB, pool.trim());
    }
  }

  @Test
  void shouldGiveBackSlabsWhenNothingInThemIsOut() {
    pool = builder().build();
    Allocation out = pool.allocate(100);
    List<Allocation> many = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      many.add(pool.allocate(100));
      many.add(pool.allocate(20 * KIB));
    }
    many.forEach(Allocation::close);
    long before = source.bytesReserved();

    long went = pool.trim();

    assertEquals(before - source.bytesReserved(), went);
    // The slab that holds what is out, and those with free slots stay only as far as that is so.
    long left = source.bytesReserved();
    assertTrue(left > 0 && left <= 64 * KIB, left + " bytes are left");
    fill(out, 3);
    pool.allocate(100).close();
    pool.allocate(20 * KIB).close();
    check(out, 3);
    out.close();
    assertEquals(20_003, pool.poolStats().smallRequests());
    pool.trim();
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldGiveBackArenasOfStepsWhenNoStepHasThem() {
    pool = builder().build();
    steps(KeyedSteps.REPEATS + 2);
    // What steps were learnt with.
    pool.trim();
    steps(1);
    assertEquals(1, pool.stepStats().arenas());
    long allocations = pool.stats().numAllocs();
    long bytes = pool.stepStats().arenaBytes();
    try (ScopedMemoryCollector open = pool.collect()) {
      open.allocate(100 * KIB).close();
      assertEquals(0, pool.trim());
    }
    assertEquals(allocations + 1, pool.stats().numAllocs());

    assertEquals(bytes, pool.trim());

    assertEquals(0, pool.stepStats().arenas());
    assertEquals(allocations + 1, pool.stats().numAllocs());
    assertEquals(0, source.bytesReserved());
    // The next step finds no arena, and has one made at once.
    long planned = pool.stepStats().plannedSteps();
    steps(3);
    assertEquals(planned + 3, pool.stepStats().plannedSteps());
  }

  private void steps(int count) {
    for (int i = 0; i < count; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        step.allocate(100 * KIB).close();
        step.allocate(200 * KIB).close();
      }
    }
  }

  @Test
  void shouldServeOthersWhenTrimmedAllTheTime() throws Exception {
    pool = pooling(64 * KIB, 64 * KIB, 64 * KIB, 64 * KIB);
    Threads.run(3, this::trimOrUse);
    pool.trim();
    List<Allocation> all = Pools.take(pool, 64 * KIB, 64 * KIB, 64 * KIB, 64 * KIB);
    all.forEach(Allocation::close);
  }

  private void trimOrUse(int number) {
    for (int i = 0; i < 2_000; i++) {
      if (number == 0 && i % 10 == 0) {
        pool.trim();
      } else {
        try (Allocation large = pool.allocate(64 * KIB);
            Allocation small = pool.allocate(500)) {
          fill(large, i);
          fill(small, number);
          check(large, i);
          check(small, number);
        }
      }
    }
  }

  // ---- when idle

  /** Something that counts how often it is trimmed. */
  private static final class Counted implements IdleTrimmer.Target {
    long changes;
    int trims;

    @Override
    public long changes() {
      return changes;
    }

    @Override
    public long trim() {
      trims++;
      return 0;
    }
  }

  @Test
  void shouldTrimOnceWhenNothingMovedForTheTime() {
    pool = builder().build();
    Counted target = new Counted();
    long[] now = {0};
    IdleTrimmer trimmer = new IdleTrimmer(target, Duration.ofNanos(100), () -> now[0]);
    now[0] = 99;
    trimmer.look();
    assertEquals(0, target.trims);
    target.changes++;
    now[0] = 150;
    trimmer.look();
    now[0] = 249;
    trimmer.look();
    assertEquals(0, target.trims);
    now[0] = 250;
    trimmer.look();
    assertEquals(1, target.trims);
    now[0] = 1000;
    trimmer.look();
    assertEquals(1, target.trims);
    target.changes++;
    trimmer.look();
    now[0] = 1100;
    trimmer.look();
    assertEquals(2, target.trims);
  }

  private static boolean isTrimming() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("prmalloc-idle-trim"));
  }

  @Test
  void shouldTrimItselfWhenIdle() throws InterruptedException {
    pool = builder().trimAfterIdle(Duration.ofMillis(20)).build();
    pool.allocate(100).close();
    while (source.bytesReserved() > 0) {
      Thread.sleep(1);
    }
    pool.allocate(100).close();
    while (source.bytesReserved() > 0) {
      Thread.sleep(1);
    }
    pool.close();
    while (isTrimming()) {
      Thread.sleep(1);
    }
  }

  @Test
  void shouldLetGoOfThePoolWhenNobodyElseHasIt() throws InterruptedException {
    pool = builder().build();
    WeakReference<Object> forgotten =
        new WeakReference<>(builder().trimAfterIdle(Duration.ofMillis(1)).build());
    while (forgotten.get() != null || isTrimming()) {
      System.gc();
      Thread.sleep(1);
    }
  }

  @Test
  void shouldRefuseAnIdleTimeOfNothing() {
    pool = builder().build();
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> builder().trimAfterIdle(Duration.ZERO));
    assertEquals("trimAfterIdle PT0S is not more than 0", refused.getMessage());
  }
}
