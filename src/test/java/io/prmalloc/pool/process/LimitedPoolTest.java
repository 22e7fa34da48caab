package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.MmapOptions;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.PoolTests;
import io.prmalloc.pool.Pools;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A plan under a limit: no request is refused because of it. */
class LimitedPoolTest extends PoolTests {

  /** A step has two of these. */
  private static final int TENSOR = 2 * MIB;

  private static SubAllocator mapped(long limitBytes) {
    assumeTrue(OperatingSystem.callsNativeSilently(), "native calls do not work here");
    MmapOptions options = MmapOptions.DEFAULT;
    return SubAllocator.mmap(
        new MmapOptions(
            options.hugePages(), options.prefault(), OptionalLong.of(limitBytes), false));
  }

  private static Allocation take(TensorPoolAllocator pool, int bytes) {
    Allocation taken = pool.allocate(bytes);
    taken.byteBuffer().putInt(0, bytes).putInt(bytes - Integer.BYTES, bytes);
    return taken;
  }

  private static void giveBack(Allocation taken) {
    int bytes = (int) taken.sizeBytes();
    assertEquals(bytes, taken.byteBuffer().getInt(0));
    assertEquals(bytes, taken.byteBuffer().getInt(bytes - Integer.BYTES));
    taken.close();
  }

  private static void step(TensorPoolAllocator pool) {
    Allocation first = take(pool, TENSOR);
    Allocation second = take(pool, TENSOR);
    giveBack(first);
    giveBack(second);
  }

  private static void close(TensorPoolAllocator pool, SubAllocator limited) {
    assertEquals(0, pool.stats().bytesInUse());
    pool.close();
    assertEquals(0, limited.bytesReserved());
  }

  /** A pool that was warmed up with steps as above, at a moment when nothing is out. */
  private static TensorPoolAllocator warm(SubAllocator limited) {
    TensorPoolAllocator pool = builder(limited).build();
    Pools.learn(pool, TENSOR, TENSOR);
    assertTrue(pool.isPooling());
    step(pool);
    assertEquals(2 * TENSOR, pool.poolStats().arenaBytes());
    return pool;
  }

  /** The plan comes while one tensor of a step is out and the other is not asked for yet. */
  private static void switchOverWithinAStep(SubAllocator limited) {
    TensorPoolAllocator pool = builder(limited).build();
    step(pool);
    Allocation first = take(pool, TENSOR);
    Pools.learn(pool, TENSOR, TENSOR);
    assertTrue(pool.isPooling());
    Allocation second = take(pool, TENSOR);
    giveBack(first);
    giveBack(second);
    step(pool);
    long missed = pool.poolStats().unpooledRequests();
    for (int i = 0; i < 5; i++) {
      step(pool);
    }
    assertEquals(missed, pool.poolStats().unpooledRequests(), "the plan serves all by now");
    assertEquals(2 * TENSOR, pool.poolStats().arenaBytes());
    close(pool, limited);
  }

  @ParameterizedTest
  @ValueSource(ints = {41, 48, 56, 64, 80, 96, 128})
  void shouldRefuseNothingWhenThePlanComesWithinAStepUnderALimit(int tenths) {
    switchOverWithinAStep(SubAllocator.direct((long) tenths * MIB / 10));
  }

  @ParameterizedTest
  @ValueSource(ints = {41, 48, 56, 64, 80, 96, 128})
  void shouldRefuseNothingWhenThePlanComesWithinAStepUnderALimitOfMappedMemory(int tenths) {
    switchOverWithinAStep(mapped((long) tenths * MIB / 10));
  }

  @Test
  void shouldGiveBackAllBlocksWhenARequestNeedsTheWholeLimit() {
    SubAllocator limited = SubAllocator.direct(5 * MIB);
    TensorPoolAllocator pool = warm(limited);
    giveBack(take(pool, 5 * MIB));
    assertEquals(0, pool.poolStats().arenaBytes());
    assertTrue(pool.isPooling());
    step(pool);
    assertEquals(2 * TENSOR, pool.poolStats().arenaBytes());
    close(pool, limited);
  }

  @Test
  void shouldKeepWhatIsOutWhenARequestNeedsTheRest() {
    SubAllocator limited = SubAllocator.direct(5 * MIB);
    TensorPoolAllocator pool = warm(limited);
    Allocation out = take(pool, TENSOR);
    Allocation large = take(pool, 3 * MIB);
    assertEquals(TENSOR, pool.poolStats().arenaBytes());
    OutOfNativeMemoryException refused =
        assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(TENSOR));
    assertEquals(
        "cannot allocate 2097152 bytes: 5242880 in use, 5242880 reserved, limit 5242880 of the"
            + " sub-allocator: give it a larger limitBytes",
        refused.getMessage());
    giveBack(large);
    Allocation again = take(pool, TENSOR);
    assertEquals(2 * TENSOR, pool.poolStats().arenaBytes());
    giveBack(out);
    giveBack(again);
    close(pool, limited);
  }

  @Test
  void shouldKeepARegionOfManyBlocksWhenOneOfThemIsOut() {
    SubAllocator limited = SubAllocator.direct(3 * MIB);
    TensorPoolAllocator pool = builder(limited).replan(false).build();
    int little = 40 * KIB;
    Pools.learn(pool, TENSOR, little, little, little, little);
    long whole = pool.poolStats().arenaBytes();
    assertEquals(TENSOR + 4 * little, whole, "nothing is out, so all of it is there at once");
    Allocation out = take(pool, little);
    giveBack(take(pool, TENSOR + 200 * KIB));
    assertEquals(whole - TENSOR, pool.poolStats().arenaBytes());
    List<Allocation> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      others.add(take(pool, little));
    }
    assertEquals(4, pool.poolStats().hits());
    others.forEach(LimitedPoolTest::giveBack);
    giveBack(out);
    giveBack(take(pool, TENSOR));
    assertEquals(whole, pool.poolStats().arenaBytes());
    assertEquals(5, pool.poolStats().hits());
    close(pool, limited);
  }

  @Test
  void shouldKeepThePlanWhenARequestIsTooLargeForTheLimit() {
    SubAllocator limited = SubAllocator.direct(5 * MIB);
    TensorPoolAllocator pool = warm(limited);
    assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(5 * MIB + 1));
    assertEquals(2 * TENSOR, pool.poolStats().arenaBytes());
    Allocation out = take(pool, TENSOR);
    assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(4 * MIB));
    assertEquals(2 * TENSOR, pool.poolStats().arenaBytes());
    giveBack(out);
    close(pool, limited);
  }

  @Test
  void shouldServeAStepThatIsLearntWhenThePlanHasTheMemory() {
    SubAllocator limited = SubAllocator.direct(5 * MIB);
    TensorPoolAllocator pool = warm(limited);
    ScopedMemoryCollector step = pool.collect();
    step.allocate(5 * MIB).close();
    long address = step.allocateRaw(5 * MIB - KIB);
    assertNotEquals(0, address);
    step.deallocateRaw(address);
    step.close();
    assertTrue(pool.isPooling());
    step(pool);
    assertEquals(2 * TENSOR, pool.poolStats().arenaBytes());
    close(pool, limited);
  }

  @Test
  void shouldGiveBackTheArenaOfAStepWhenARequestNeedsIt() {
    SubAllocator limited = SubAllocator.direct(5 * MIB);
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder().subAllocator(limited).executor(Runnable::run).build();
    while (pool.stepStats().plans() == 0) {
      ScopedMemoryCollector step = pool.collect();
      step.allocate(3 * MIB).close();
      step.close();
    }
    assertEquals(3 * MIB, limited.bytesReserved());
    giveBack(take(pool, 4 * MIB));
    assertEquals(0, pool.stepStats().arenas());
    assertEquals(4 * MIB, limited.bytesReserved(), "of the heap, for the next request");
    close(pool, limited);
  }

  @Test
  void shouldGiveBackASlabsWorthWhenASmallRequestNeedsIt() {
    SubAllocator limited = SubAllocator.direct(2 * TENSOR + 4 * KIB);
    TensorPoolAllocator pool = warm(limited);
    giveBack(take(pool, 100));
    assertEquals(TENSOR, pool.poolStats().arenaBytes());
    close(pool, limited);
  }

  @Test
  void shouldSwitchToAnotherPlanWhenThereIsNoMemoryForBoth() {
    SubAllocator limited = SubAllocator.direct(5 * MIB);
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(limited)
            .executor(Runnable::run)
            .startStatisticStep(0)
            .stableStatisticStep(1)
            .build();
    while (!pool.isPooling()) {
      step(pool, () -> step(pool));
    }
    step(pool);
    Allocation before = take(pool, TENSOR);
    assertTrue(pool.replan());
    while (pool.poolStats().replans() == 0) {
      step(pool, () -> giveBack(take(pool, 3 * MIB)));
    }
    giveBack(take(pool, 3 * MIB));
    assertEquals(3 * MIB + TENSOR, pool.poolStats().arenaBytes(), "one of the old plan is out");
    giveBack(before);
    assertEquals(3 * MIB, pool.poolStats().arenaBytes());
    close(pool, limited);
  }

  @Test
  void shouldKnowWhatLiesAtAnAddressWhenBlocksLostTheirMemoryAndGotOther() {
    SubAllocator limited = SubAllocator.direct(5 * MIB);
    TensorPoolAllocator pool = builder(limited).build();
    int bytes = TENSOR - 64;
    Pools.learn(pool, TENSOR, TENSOR);
    for (int i = 0; i < 20; i++) {
      long first = pool.allocateRaw(64, bytes);
      long second = pool.allocateRaw(64, bytes);
      assertNotEquals(0, first);
      assertNotEquals(0, second);
      assertEquals(bytes, pool.requestedSize(first));
      pool.deallocateRaw(first);
      pool.deallocateRaw(second);
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(second));
      long whole = pool.allocateRaw(64, 5 * MIB - 64);
      assertNotEquals(0, whole);
      assertEquals(5 * MIB - 64, pool.requestedSize(whole));
      if (first != whole) {
        assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(first));
      }
      pool.deallocateRaw(whole);
    }
    close(pool, limited);
  }

  @Test
  void shouldSayThatSomethingIsInUseWhenOthersHaveNoMemory() {
    SubAllocator limited = SubAllocator.direct(5 * MIB);
    TensorPoolAllocator pool = warm(limited);
    Allocation out = take(pool, TENSOR);
    giveBack(take(pool, 3 * MIB));
    assertThrows(IllegalStateException.class, pool::close);
    Allocation other = take(pool, TENSOR);
    giveBack(out);
    giveBack(other);
    assertEquals(2 * TENSOR, pool.poolStats().arenaBytes());
    close(pool, limited);
  }

  /** Threads that together never hold more than the limit, whatever the plan has reserved. */
  @Test
  void shouldRefuseNothingWhenThreadsHoldUpToTheLimit() throws Exception {
    int threads = 4;
    int most = 3 * MIB;
    SubAllocator limited = SubAllocator.direct((long) threads * 2 * most);
    TensorPoolAllocator pool = builder(limited).maxOversize(1).replan(false).build();
    Pools.learn(pool, MIB, MIB, MIB, MIB, TENSOR, TENSOR, TENSOR, most, most);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<Integer>> all = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        SplittableRandom random = new SplittableRandom(thread);
        all.add(executor.submit(() -> takeTwoAtATime(pool, random)));
      }
      for (Future<Integer> each : all) {
        assertEquals(500, each.get());
      }
    } finally {
      executor.shutdown();
    }
    assertTrue(pool.poolStats().hits() > 0);
    close(pool, limited);
  }

  private static int takeTwoAtATime(TensorPoolAllocator pool, SplittableRandom random) {
    Deque<Allocation> out = new ArrayDeque<>();
    int taken = 0;
    while (taken < 500) {
      if (out.size() == 2) {
        giveBack(out.poll());
      }
      out.add(take(pool, (1 + random.nextInt(3)) * MIB));
      taken++;
    }
    out.forEach(LimitedPoolTest::giveBack);
    return taken;
  }

  @Test
  void shouldServeEveryStepUnderTheLimitOfTheJvm(@TempDir Path directory)
      throws IOException, InterruptedException {
    ChildJvm.Result result =
        new ChildJvm(directory)
            .flags("-XX:MaxDirectMemorySize=64m")
            .run(LimitedPoolMain.class, "20", "200", "20000");
    assertEquals(0, result.exitCode(), result.errors());
    assertEquals("all, pooling true, arena 41943040", result.output());
  }
}
