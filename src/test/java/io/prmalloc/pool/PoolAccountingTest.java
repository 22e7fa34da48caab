package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.AllocatorStats;
import io.prmalloc.Isolation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** The pool's figures about its memory, beyond the allocators' contract. */
class PoolAccountingTest {

  private static final int MIB = 1 << 20;

  /** A pool with two blocks for 50,000 bytes and two for 100,000. */
  private static TensorPoolAllocator settled(SubAllocator source) {
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .startStatisticStep(0)
            .maxStatisticStep(0)
            .maxOversize(1)
            .executor(Runnable::run)
            .build();
    Pools.learn(pool, 50_000, 50_000, 100_000, 100_000);
    assertTrue(pool.isPooling());
    return pool;
  }

  private static TensorPoolAllocator settled() {
    return settled(SubAllocator.direct());
  }

  @Test
  void shouldTellTheBlockWhenAskedWhatIsAllocated() {
    try (TensorPoolAllocator pool = settled();
        Allocation planned = pool.allocate(50_000);
        Allocation small = pool.allocate(65);
        Allocation outside = pool.allocate(MIB)) {
      long interval = pool.poolStats().policyIntervalBytes();
      long chunk = (50_000 + interval - 1) / interval * interval;
      assertEquals(chunk, pool.allocatedSize(planned.address()));
      assertEquals(chunk, pool.allocatedSizeSlow(planned.address()));
      assertEquals(128, pool.allocatedSize(small.address()));
      assertEquals(MIB, pool.allocatedSize(outside.address()));
      long raw = pool.allocateRaw(64, 49_900);
      assertEquals(49_900, pool.requestedSize(raw));
      assertEquals(chunk, pool.allocatedSize(raw), "header included");
      assertThrows(IllegalArgumentException.class, () -> pool.allocatedSize(raw - 64));
      pool.deallocateRaw(raw);
    }
  }

  @Test
  void shouldTellTheBytesWhenAnAddressIsTakenBack() {
    try (TensorPoolAllocator pool = settled()) {
      for (long bytes : new long[] {0, 1, 65, 30_000, 49_900, 50_000, 99_000, MIB, 5 * MIB + 1}) {
        for (long alignment : new long[] {64, 4096}) {
          long address = pool.allocateRaw(alignment, bytes);
          assertEquals(bytes, pool.deallocateRawSized(address), bytes + " at " + alignment);
          assertThrows(
              IllegalArgumentException.class, () -> pool.deallocateRawSized(address), "again");
        }
      }
      assertEquals(0, pool.deallocateRawSized(0));
      try (Allocation handle = pool.allocate(50_000)) {
        long address = handle.address();
        assertThrows(IllegalArgumentException.class, () -> pool.deallocateRawSized(address));
      }
    }
  }

  @Test
  void shouldTellTheBytesWhenALoggedAddressIsTakenBack() {
    Logger logger = Logger.getLogger("io.prmalloc.allocation");
    logger.setLevel(Level.FINE);
    logger.setUseParentHandlers(false);
    try (TensorPoolAllocator pool = settled()) {
      long address = pool.allocateRaw(64, 49_000, AllocationAttributes.DEFAULT.logged("label", 1));
      assertEquals(49_000, pool.deallocateRawSized(address));
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRawSized(address));
    } finally {
      logger.setUseParentHandlers(true);
      logger.setLevel(null);
    }
  }

  @Test
  void shouldNumberEachUseAndNotEachBlockWhenABlockIsUsedAgain() {
    try (TensorPoolAllocator pool = settled()) {
      Set<Long> addresses = new HashSet<>();
      Set<Long> ids = new HashSet<>();
      for (int i = 0; i < 1000; i++) {
        for (long bytes : new long[] {100, 50_000, MIB}) {
          long raw = pool.allocateRaw(64, bytes);
          addresses.add(raw);
          long id = pool.allocationId(raw);
          assertTrue(ids.add(id), "id " + id + " came twice");
          assertEquals(id, pool.allocationId(raw));
          pool.deallocateRaw(raw);
        }
        pool.allocate(50_000).close();
      }
      assertTrue(addresses.size() < 1500, "blocks are used again");
    }
  }

  @Test
  void shouldNumberAnewWhenASlabComesAgainAtTheSameAddress() {
    try (TensorPoolAllocator pool = settled()) {
      Set<Long> ids = new HashSet<>();
      for (int round = 0; round < 20; round++) {
        // More slabs than are kept empty: some go back to the system each time.
        List<Long> out = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
          long raw = pool.allocateRaw(64, 30_000);
          out.add(raw);
          assertTrue(ids.add(pool.allocationId(raw)), "round " + round);
        }
        out.forEach(pool::deallocateRaw);
      }
    }
  }

  @Test
  void shouldForgetOldPeaksWhenClearedAndKeepWhatThePoolCounts() {
    try (TensorPoolAllocator pool = settled()) {
      Pools.take(pool, 50_000, 50_000, 100_000, 100_000, MIB, 100, 20_000)
          .forEach(Allocation::close);
      Allocation held = pool.allocate(49_500);
      PoolStats poolStats = pool.poolStats();
      AllocatorStats before = pool.stats();
      assertTrue(pool.clearStats());
      assertEquals(poolStats, pool.poolStats(), "counted since it was built");
      AllocatorStats cleared = pool.stats();
      assertEquals(before.bytesInUse(), cleared.bytesInUse());
      assertEquals(0, cleared.numAllocs());
      assertEquals(0, cleared.largestAllocSize());
      long slabs = slabBytes(pool);
      long interval = poolStats.policyIntervalBytes();
      long chunk = (50_000 + interval - 1) / interval * interval;
      assertEquals(slabs + chunk, cleared.peakBytesInUse(), "what is out, and the slabs");
      held.close();
      assertEquals(slabs + chunk, pool.stats().peakBytesInUse());
      // The block that was out is taken again; then a second one.
      pool.allocate(49_400).close();
      assertEquals(slabs + chunk, pool.stats().peakBytesInUse());
      assertEquals(49_400, pool.stats().largestAllocSize());
      Pools.take(pool, 50_000, 50_000).forEach(Allocation::close);
      assertEquals(slabs + 2 * chunk, pool.stats().peakBytesInUse());
      assertEquals(3, pool.stats().numAllocs());
    }
  }

  private static long slabBytes(TensorPoolAllocator pool) {
    pool.trimHeap();
    return pool.stats().bytesReserved() - pool.poolStats().arenaBytes();
  }

  @Test
  void shouldCountEveryUseOnceWhenClearedAgainAndAgain() {
    TensorPoolAllocator pool = settled();
    for (int i = 0; i < 10; i++) {
      Pools.take(pool, 100, 50_000, MIB).forEach(Allocation::close);
      assertEquals(3, pool.stats().numAllocs(), "round " + i);
      pool.clearStats();
    }
    Pools.take(pool, 100, 50_000).forEach(Allocation::close);
    pool.close();
    assertEquals(2, pool.stats().numAllocs(), "closed");
    assertEquals(0, pool.stats().bytesInUse());
  }

  @Test
  void shouldSayWhatTheUserAskedForWhenASlabIsNotToBeHad() {
    SubAllocator source = SubAllocator.direct(60_000);
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().subAllocator(source).build();
        Allocation held = pool.allocate(40_000)) {
      AllocatorStats before = pool.stats();
      OutOfNativeMemoryException refused =
          assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(100));
      assertEquals(100, refused.requestedBytes());
      assertEquals(40_000, refused.bytesInUse());
      assertEquals(49_152, refused.reservedBytes(), "whole pages of 16 KiB");
      assertEquals(OptionalLong.of(60_000), refused.limitBytes());
      assertEquals(
          "cannot allocate 100 bytes: 40000 in use, 49152 reserved, limit 60000"
              + " of the sub-allocator: give it a larger limitBytes",
          refused.getMessage());
      assertEquals(
          "cannot reserve 32768 bytes: 49152 reserved, limit 60000"
              + " of the sub-allocator: give it a larger limitBytes",
          refused.getCause().getMessage());
      assertEquals(40_000, held.sizeBytes());
      assertEquals(before, pool.stats());
    }
  }

  /** Does something the moment the statistics of what is outside the pool were read. */
  private static final class MeddlingSource implements SubAllocator {
    private final SubAllocator source = SubAllocator.direct();
    private Runnable meddling = () -> {};

    @Override
    public MemoryRegion alloc(long alignment, long bytes) {
      return source.alloc(alignment, bytes);
    }

    @Override
    public void free(MemoryRegion region) {
      source.free(region);
    }

    @Override
    public long bytesReserved() {
      return source.bytesReserved();
    }

    @Override
    public OptionalLong bytesLimit() {
      meddling.run();
      return source.bytesLimit();
    }
  }

  @Test
  void shouldShowOneMomentWhenMemoryMovesDuringAWalk() {
    MeddlingSource source = new MeddlingSource();
    try (TensorPoolAllocator pool = settled(source)) {
      List<Allocation> out = new ArrayList<>();
      out.add(pool.allocate(MIB));
      source.meddling =
          () -> {
            source.meddling = () -> {};
            out.remove(0).close();
            out.add(pool.allocate(50_000));
          };
      assertEquals(50_000, pool.stats().bytesInUse(), "the two were never out together");
      assertEquals(2, pool.stats().numAllocs());
      out.remove(0).close();
    }
  }

  @Test
  void shouldComeToAnEndWhenMemoryAlwaysMoves() {
    MeddlingSource source = new MeddlingSource();
    try (TensorPoolAllocator pool = settled(source)) {
      source.meddling = () -> pool.allocate(50_000).close();
      AllocatorStats seen = pool.stats();
      assertTrue(seen.numAllocs() > 1, seen.toString());
      assertEquals(0, seen.bytesInUse());
      source.meddling = () -> {};
    }
  }

  @Test
  void shouldRefuseALoggedAddressAsAnyOtherWhenThePoolWasClosedByForce() {
    Logger logger = Logger.getLogger("io.prmalloc.allocation");
    logger.setLevel(Level.FINE);
    logger.setUseParentHandlers(false);
    try {
      TensorPoolAllocator pool = settled();
      long address = pool.allocateRaw(64, 50_000, AllocationAttributes.DEFAULT.logged("lost", 1));
      assertEquals(50_000, pool.requestedSize(address));
      pool.closeForcibly();
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
      assertFalse(pool.isPooling());
    } finally {
      logger.setUseParentHandlers(true);
      logger.setLevel(null);
    }
  }

  private static void inThread(Runnable work) throws InterruptedException {
    Thread thread = new Thread(work);
    thread.start();
    thread.join();
  }

  /** Threads count apart, each its own peak: the sum of these is many times what there was. */
  @Test
  void shouldTellNoPeakOverWhatWasReservedWhenManyThreadsTakeTurns() throws Exception {
    long limit = 8 << 20;
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().subAllocator(SubAllocator.direct(limit)).build()) {
      for (int i = 0; i < 64; i++) {
        inThread(() -> pool.allocate(6 << 20).close());
        inThread(() -> pool.deallocateRaw(pool.allocateRaw(64, 5 << 20)));
        inThread(() -> pool.allocate(1000).close());
      }
      AllocatorStats stats = pool.stats();
      assertTrue(stats.peakBytesInUse() >= 6 << 20, stats::toString);
      assertTrue(stats.peakBytesInUse() <= stats.peakBytesReserved(), stats::toString);
      assertTrue(stats.peakBytesReserved() <= limit, stats::toString);
    }
  }

  /** With headers, canaries, slabs and a plan: what is in use is never over what was reserved. */
  @Test
  void shouldTellNoPeakBelowWhatIsInUse() {
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().isolation(Isolation.NONE.withCanaries(true)).build()) {
      SplittableRandom random = new SplittableRandom(1);
      long most = 0;
      for (int i = 0; i < 300; i++) {
        List<Allocation> live = new ArrayList<>();
        try (ScopedMemoryCollector step = pool.collect()) {
          long[] sizes = random.longs(20, 0, 200_000).toArray();
          long bytes = 0;
          for (int k = 0; k < sizes.length; k++) {
            live.add(k % 3 == 0 ? step.allocate(sizes[k]) : pool.allocate(sizes[k]));
            bytes += sizes[k];
          }
          most = Math.max(most, bytes);
          AllocatorStats stats = pool.stats();
          assertTrue(stats.bytesInUse() >= bytes, stats::toString);
          assertTrue(stats.bytesInUse() <= stats.bytesReserved(), stats::toString);
          live.forEach(Allocation::close);
        }
        AllocatorStats stats = pool.stats();
        assertTrue(stats.peakBytesInUse() >= most, stats::toString);
        assertTrue(stats.peakBytesInUse() <= stats.peakBytesReserved(), stats::toString);
      }
    }
  }
}
