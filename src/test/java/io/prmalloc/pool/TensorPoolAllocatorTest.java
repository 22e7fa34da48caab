package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.AllocatorStats;
import io.prmalloc.MmapOptions;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlanner.Phase;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.Steps.Event;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TensorPoolAllocatorTest extends PoolTests {

  // ---- where requests go

  @Test
  void shouldPlanWhenOneByteOverThirtyTwoKibAndNotBefore() {
    TensorPoolAllocator pool = pool();
    step(
        pool,
        () -> {
          pool.allocate(32 * KIB).close();
          pool.deallocateRaw(pool.allocateRaw(64, 32 * KIB));
          pool.deallocateRaw(pool.allocateRaw(4096, 32 * KIB));
          assertCounts(pool, 0, 0, 0, 3, 0);
        });
    assertEquals(0, pool.poolStats().packedSteps());
    step(
        pool,
        () -> {
          pool.allocate(32 * KIB + 1).close();
        });
    assertEquals(1, pool.poolStats().packedSteps());
    assertTrue(pool.isPooling());
    pool.allocate(32 * KIB).close();
    pool.allocate(32 * KIB + 1).close();
    assertCounts(pool, 1, 0, 0, 4, 1);
    closeAndCheck(pool);
  }

  @Test
  void shouldChooseTheBinByBytesAndHeaderWhenRaw() {
    // A chunk of 36 KiB holds 36,864 bytes; a header of 64 makes 36,801 bytes too many.
    TensorPoolAllocator pool = builder(source).maxOversize(1).build();
    Pools.learn(pool, 36 * KIB);
    pool.allocate(36 * KIB).close();
    pool.deallocateRaw(pool.allocateRaw(64, 36 * KIB - 64));
    assertCounts(pool, 2, 0, 0, 0, 0);
    pool.deallocateRaw(pool.allocateRaw(64, 36 * KIB - 63));
    pool.allocate(36 * KIB + 1).close();
    assertCounts(pool, 2, 0, 2, 0, 2);
    closeAndCheck(pool);
  }

  @Test
  void shouldCountTheAlignmentAsHeaderWhenItIsTheLarger() {
    TensorPoolAllocator pool = builder(source).maxOversize(1).build();
    MemoryPlanner planner = pool.planner();
    step(
        pool,
        () -> {
          planner.trackFree(planner.trackAllocate(4096, 40 * KIB));
        });
    long address = pool.allocateRaw(4096, 36 * KIB);
    assertEquals(0, address % 4096);
    pool.deallocateRaw(address);
    assertCounts(pool, 1, 0, 0, 0, 0);
    pool.deallocateRaw(pool.allocateRaw(4096, 36 * KIB + 1));
    assertCounts(pool, 1, 0, 1, 0, 1);
    closeAndCheck(pool);
  }

  @Test
  void shouldMissWhenBlocksAreNotAlignedEnough() {
    TensorPoolAllocator pool = pooling(40 * KIB);
    try (Allocation aligned = pool.allocate(40 * KIB, 4096)) {
      assertEquals(0, aligned.address() % 4096);
    }
    assertCounts(pool, 0, 1, 0, 0, 1);
    pool.allocate(40 * KIB, 64).close();
    pool.allocate(40 * KIB, 8).close();
    assertCounts(pool, 2, 1, 0, 0, 1);
    closeAndCheck(pool);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, (1L << 47) + 1, Long.MAX_VALUE})
  void shouldRefuseASizeThatIsOutOfBoundsWhenItHasAPlan(long bytes) {
    TensorPoolAllocator pool = pooling(40 * KIB);
    var refused = assertThrows(IllegalArgumentException.class, () -> pool.allocate(bytes));
    assertTrue(refused.getMessage().contains(Long.toString(bytes)), refused::getMessage);
    assertThrows(IllegalArgumentException.class, () -> pool.allocate(bytes, 64));
    assertCounts(pool, 0, 0, 0, 0, 0);
    closeAndCheck(pool);
  }

  @Test
  void shouldGoOutsideWhenASmallRequestIsAlignedBeyondSlabs() {
    TensorPoolAllocator pool = pooling(40 * KIB);
    for (long alignment : new long[] {4096, 8192, MIB}) {
      try (Allocation small = pool.allocate(100, alignment)) {
        assertEquals(0, small.address() % alignment);
      }
      long raw = pool.allocateRaw(alignment, 100);
      assertEquals(0, raw % alignment);
      pool.deallocateRaw(raw);
    }
    assertCounts(pool, 0, 0, 0, 2, 4);
    closeAndCheck(pool);
  }

  @Test
  void shouldTryTheNextLargerBinsWhenWithinBounds() {
    TensorPoolAllocator pool = pooling(40 * KIB, 60 * KIB, 80 * KIB, 84 * KIB);
    List<Allocation> out = Pools.take(pool, 40 * KIB, 40 * KIB, 40 * KIB);
    assertCounts(pool, 3, 0, 0, 0, 0);
    // 84 KiB are more than twice 40 KiB.
    out.addAll(Pools.take(pool, 40 * KIB));
    assertCounts(pool, 3, 1, 0, 0, 1);
    // Nor have 41,000 bytes a bin, but 84 KiB are within their bounds only if twice as much.
    out.addAll(Pools.take(pool, 42 * KIB));
    assertCounts(pool, 4, 1, 0, 0, 1);
    out.addAll(Pools.take(pool, 42 * KIB));
    assertCounts(pool, 4, 1, 1, 0, 2);
    out.forEach(Allocation::close);
    closeAndCheck(pool);
  }

  @Test
  void shouldTryNoLargerBinWhenSwitchedOff() {
    TensorPoolAllocator pool = builder(source).maxOversize(1.0).build();
    Pools.learn(pool, 40 * KIB, 48 * KIB);
    List<Allocation> out = Pools.take(pool, 40 * KIB, 40 * KIB, 42 * KIB);
    assertCounts(pool, 1, 1, 1, 0, 2);
    out.forEach(Allocation::close);
    closeAndCheck(pool);
  }

  @Test
  void shouldRefuseWhenTheOversizeIsLessThanOne() {
    for (double value : new double[] {0.99, 0, -1, Double.NaN}) {
      assertEquals(
          "maxOversize " + value + " is less than 1",
          assertThrows(IllegalArgumentException.class, () -> builder(source).maxOversize(value))
              .getMessage());
    }
  }

  @Test
  void shouldBorrowWhenThePlanDid() {
    TensorPoolAllocator pool = builder(source).maxOversize(1).build();
    MemoryPlanner planner = pool.planner();
    step(
        pool,
        () -> {
          planner.trackFree(planner.trackAllocate(64, 4 * MIB));
          planner.trackFree(planner.trackAllocate(64, 40 * KIB));
        });
    assertEquals(4L * MIB, pool.poolStats().planBytes());
    List<Allocation> out = Pools.take(pool, 40 * KIB, 40 * KIB);
    assertCounts(pool, 1, 1, 0, 0, 1);
    out.forEach(Allocation::close);
    closeAndCheck(pool);
  }

  @Test
  void shouldCountExactlyWhenRequestsGoEverywhere() {
    TensorPoolAllocator pool = pooling(40_064, 40_064, 100_064, 33 * MIB, 40L * MIB);
    List<Allocation> out = new ArrayList<>();
    List<Long> raw = new ArrayList<>();
    out.addAll(Pools.take(pool, 100, 0, 32 * KIB)); // small
    raw.add(pool.allocateRaw(16, 5)); // small
    raw.add(pool.allocateRaw(64, 40_000)); // hit
    out.addAll(Pools.take(pool, 40_000)); // hit
    out.addAll(Pools.take(pool, 40_000)); // miss: 100,064 is more than twice as much
    out.addAll(Pools.take(pool, 90_000)); // hit in the bin of 100,064
    out.addAll(Pools.take(pool, 200_000)); // null bin
    out.addAll(Pools.take(pool, 33 * MIB)); // hit
    out.addAll(Pools.take(pool, 33 * MIB)); // hit in the bin of 40 MiB
    raw.add(pool.allocateRaw(64, 32L * MIB)); // null bin: and those above are out
    raw.add(pool.allocateRaw(64, 64L * MIB)); // null bin
    assertCounts(pool, 5, 1, 3, 4, 4);
    assertEquals(5.0 / 9, pool.poolStats().hitRate(), 1e-9);
    AllocatorStats stats = pool.stats();
    long small = 100 + 32 * KIB + 5;
    long planned = 3 * 40_000 + 90_000 + 200_000 + 2L * 33 * MIB + 96L * MIB;
    assertEquals(small + planned, stats.bytesInUse());
    assertEquals(64L * MIB, stats.largestAllocSize());
    assertTrue(stats.peakBytesInUse() >= stats.bytesInUse());
    assertTrue(stats.bytesReserved() >= stats.bytesInUse());
    assertEquals(source.bytesReserved(), stats.bytesReserved());
    out.forEach(Allocation::close);
    raw.forEach(pool::deallocateRaw);
    assertCounts(pool, 5, 1, 3, 4, 4);
    assertEquals(stats.peakBytesInUse(), pool.stats().peakBytesInUse());
    closeAndCheck(pool);
  }

  @Test
  void shouldKeepItsCountsWhenClosed() {
    TensorPoolAllocator pool = pooling(40 * KIB);
    Pools.take(pool, 40 * KIB, 100, 40 * KIB).forEach(Allocation::close);
    AllocatorStats before = pool.stats();
    closeAndCheck(pool);
    assertCounts(pool, 1, 1, 0, 1, 1);
    AllocatorStats after = pool.stats();
    assertEquals(before.peakBytesInUse(), after.peakBytesInUse());
    assertEquals(before.peakBytesReserved(), after.peakBytesReserved());
    assertEquals(before.largestAllocSize(), after.largestAllocSize());
    assertEquals(0, after.bytesReserved());
    assertEquals(0, pool.poolStats().arenaBytes());
    assertFalse(pool.isPooling());
    assertTrue(pool.dumpStats().contains("hits 1, misses 1"), pool.dumpStats());
  }

  @Test
  void shouldRememberThePeakWhenSlabsWereGivenBackSince() {
    TensorPoolAllocator pool = pool();
    List<Allocation> out = new ArrayList<>();
    for (int i = 0; i < 320; i++) {
      out.add(pool.allocate(32 * KIB));
    }
    long peak = source.bytesReserved();
    out.forEach(Allocation::close);
    assertTrue(source.bytesReserved() < peak / 4);
    assertEquals(peak, pool.stats().peakBytesReserved());
    closeAndCheck(pool);
  }

  // ---- memory refused

  @Test
  void shouldLeaveEverythingAsItWasWhenTheLimitIsReachedInSteadyState() {
    long limit = 384 * KIB;
    SubAllocator tight = SubAllocator.direct(limit);
    TensorPoolAllocator pool = builder(tight).build();
    Pools.learn(pool, 40 * KIB, 100 * KIB);
    PoolStats counts = pool.poolStats();
    AllocatorStats stats = pool.stats();
    for (long bytes : new long[] {2 * MIB, 900 * KIB}) {
      OutOfNativeMemoryException refused =
          assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(bytes));
      assertTrue(refused.getMessage().contains("limit " + limit), refused.getMessage());
      assertEquals(0, pool.allocateRaw(64, bytes));
    }
    try (Allocation taken = pool.allocate(100 * KIB)) {
      assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(960 * KIB));
      taken.byteBuffer().put(0, (byte) 1);
    }
    assertEquals(counts.misses(), pool.poolStats().misses());
    assertEquals(counts.nullBins(), pool.poolStats().nullBins());
    assertEquals(stats.numAllocs() + 1, pool.stats().numAllocs());
    assertEquals(stats.bytesReserved(), pool.stats().bytesReserved());
    pool.allocate(40 * KIB).close();
    pool.close();
    assertEquals(0, tight.bytesReserved());
  }

  @Test
  void shouldGiveEmptySlabsBackBeforeARequestIsRefused() {
    SubAllocator tight = SubAllocator.direct(2 * MIB);
    TensorPoolAllocator pool = builder(tight).build();
    Allocation held = pool.allocate(100);
    held.byteBuffer().put(0, (byte) 7);
    long slab = tight.bytesReserved();
    for (boolean raw : new boolean[] {false, true}) {
      Pools.take(pool, LongStream.generate(() -> 32 * KIB).limit(48).toArray())
          .forEach(Allocation::close);
      assertEquals(slab + 512 * KIB + MIB, tight.bytesReserved(), "one that serves, and spares");
      if (raw) {
        long address = pool.allocateRaw(64, MIB);
        assertTrue(address != 0);
        pool.deallocateRaw(address);
      } else {
        pool.allocate(MIB).close();
      }
      long extent = (raw ? 65 : 64) * 16L * KIB;
      assertEquals(slab + extent, tight.bytesReserved(), "what holds a slot stays, and the extent");
    }
    assertEquals(7, held.byteBuffer().get(0));
    assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(2 * MIB));
    held.close();
    pool.close();
    assertEquals(0, tight.bytesReserved());
  }

  @Test
  void shouldPlanAsIfNeverAskedWhenARequestFailedInWarmUp() {
    SubAllocator tight = SubAllocator.direct(4 * MIB);
    TensorPoolAllocator pool = builder(tight).build();
    step(
        pool,
        () -> {
          pool.allocate(50 * KIB).close();
          assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(100 * MIB));
          assertEquals(0, pool.allocateRaw(64, 100 * MIB));
        });
    assertTrue(pool.isPooling());
    // Classes of 2 KiB fit this size exactly.
    assertEquals(50 * KIB, pool.poolStats().planBytes());
    pool.close();
    assertEquals(0, tight.bytesReserved());
  }

  @Test
  void shouldServeFromThePlanAsSoonAsThereIsMemoryWhenTheArenaIsNotToBeHad() {
    SubAllocator tight = SubAllocator.direct(3 * MIB);
    TensorPoolAllocator pool = builder(tight).build();
    List<Allocation> held = new ArrayList<>();
    step(
        pool,
        () -> {
          pool.allocate(MIB).close();
          pool.allocate(MIB - 1).close();
          held.addAll(Pools.take(pool, 5 * MIB / 2));
        });
    assertEquals(Phase.DONE, pool.planner().phase());
    assertTrue(pool.isPooling());
    assertEquals(0, pool.poolStats().arenaBytes());
    assertEquals(5 * MIB / 2, tight.bytesReserved());
    assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(MIB));
    held.get(0).close();
    pool.allocate(2 * MIB).close();
    assertCounts(pool, 0, 0, 1, 0, 4);
    pool.allocate(MIB).close();
    assertCounts(pool, 1, 0, 1, 0, 4);
    assertEquals(MIB, pool.poolStats().arenaBytes());
    pool.close();
    assertEquals(0, tight.bytesReserved());
  }

  // ---- whole steps

  @ParameterizedTest
  @ValueSource(strings = {"Squeezenet.2", "borders", "chained", "interleaved", "nested"})
  void shouldNeverMissWhenASharedTraceRepeats(String name) throws IOException {
    List<Event> step = Steps.read(name);
    SubAllocator mmap = SubAllocator.mmap(MmapOptions.DEFAULT);
    for (boolean raw : new boolean[] {false, true}) {
      TensorPoolAllocator pool =
          TensorPoolAllocator.builder().subAllocator(mmap).planner(Steps.planner(4)).build();
      for (int i = 0; i < 4; i++) {
        assertFalse(pool.isPooling());
        runStep(pool, step, raw);
      }
      assertTrue(pool.isPooling());
      long unpooled = pool.poolStats().unpooledRequests();
      for (int i = 0; i < 3; i++) {
        runStep(pool, step, raw);
      }
      PoolStats stats = pool.poolStats();
      assertEquals(0, stats.misses());
      assertEquals(0, stats.nullBins());
      assertEquals(unpooled, stats.unpooledRequests());
      assertEquals(3L * unpooled / 4, stats.hits());
      assertNotEquals(0, stats.hits());
      pool.close();
      assertEquals(0, mmap.bytesReserved());
    }
  }

  private static void runStep(TensorPoolAllocator pool, List<Event> step, boolean raw) {
    ScopedMemoryCollector scope = pool.collect();
    Map<Integer, Allocation> handles = new HashMap<>();
    Map<Integer, Long> addresses = new HashMap<>();
    for (Event event : step) {
      if (event.begins() && raw) {
        addresses.put(event.tensor(), pool.allocateRaw(64, event.bytes()));
      } else if (event.begins()) {
        handles.put(event.tensor(), pool.allocate(event.bytes()));
      } else if (raw) {
        pool.deallocateRaw(addresses.remove(event.tensor()));
      } else {
        handles.remove(event.tensor()).close();
      }
    }
    scope.close();
    handles.values().forEach(Allocation::close);
    addresses.values().forEach(pool::deallocateRaw);
  }

  @Test
  void shouldTellWhatItHoldsWhenDumped() {
    TensorPoolAllocator pool = pooling(40 * KIB, 40 * KIB, 100 * KIB);
    List<Allocation> out = Pools.take(pool, 40_000, 40_000, 40_000, 100, 500_000);
    out.remove(0).close();
    String text = pool.dumpStats();
    List<String> lines = text.lines().toList();
    assertEquals("phase DONE after 1 packed steps", lines.get(0));
    assertTrue(lines.get(1).startsWith("bytes: in use 580,100, peak at most "), lines.get(1));
    assertTrue(lines.get(1).endsWith(", limit none"), lines.get(1));
    assertEquals(
        "requests: hits 2, misses 1, null bins 1, small 1 in 1 slabs, unpooled 2", lines.get(2));
    assertEquals(
        "plan: interval 4,096, 184,320 bytes planned, 184,320 reserved, 0 blocks added",
        lines.get(3));
    assertEquals(
        List.of("bin", "chunk", "alignment", "blocks", "free", "used", "uses"),
        List.of(lines.get(4).trim().split(" +")));
    assertEquals(
        List.of("1", "40,960", "64", "2", "1", "2", "2"), List.of(lines.get(5).trim().split(" +")));
    assertEquals(
        List.of("16", "102,400", "64", "1", "1", "0", "0"),
        List.of(lines.get(6).trim().split(" +")));
    assertEquals(7, lines.size());
    out.forEach(Allocation::close);
    closeAndCheck(pool);
  }

  @Test
  void shouldShowBorrowersWhenDumped() {
    TensorPoolAllocator pool = pool();
    MemoryPlanner planner = pool.planner();
    step(
        pool,
        () -> {
          planner.trackFree(planner.trackAllocate(64, 4 * MIB));
          planner.trackFree(planner.trackAllocate(64, 40 * KIB));
        });
    String line = pool.dumpStats().lines().skip(5).findFirst().orElseThrow();
    assertEquals(List.of("1", "40,960", "-", "0"), List.of(line.trim().split(" +")).subList(0, 4));
    assertTrue(line.endsWith("borrows only"), line);
    closeAndCheck(pool);
  }

  @Test
  void shouldKeepBytesApartWhenEveryBlockIsOut() {
    TensorPoolAllocator pool = pooling(40 * KIB, 40 * KIB, 44 * KIB, 100 * KIB, MIB, MIB);
    List<Allocation> out =
        Pools.take(pool, 40 * KIB, 40 * KIB, 44 * KIB, 100 * KIB, MIB, MIB, 32 * KIB, 32 * KIB);
    assertEquals(6, pool.poolStats().hits());
    for (int i = 0; i < out.size(); i++) {
      ByteBuffer bytes = out.get(i).byteBuffer();
      for (int at = 0; at < bytes.limit(); at++) {
        bytes.put(at, (byte) i);
      }
    }
    for (int i = 0; i < out.size(); i++) {
      ByteBuffer bytes = out.get(i).byteBuffer();
      for (int at = 0; at < bytes.limit(); at++) {
        assertEquals((byte) i, bytes.get(at));
      }
    }
    out.forEach(Allocation::close);
    closeAndCheck(pool);
  }
}
