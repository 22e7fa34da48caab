package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.ChunkIndex;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Bins that keep missing get more blocks. */
class GrowthTest extends PoolTests {

  /** Arena of more than 20 MiB, so two more blocks of 1 MiB are allowed and not three. */
  private static final long[] PLANNED = {MIB, 20 * MIB};

  private static TensorPoolAllocator learned(TensorPoolBuilder builder, long... totals) {
    TensorPoolAllocator pool = builder.maxOversize(1).build();
    Pools.learn(pool, totals);
    assertTrue(pool.isPooling());
    return pool;
  }

  private TensorPoolAllocator pooling() {
    return learned(builder(source), PLANNED);
  }

  /** Requests of 1 MiB, one after the other, of which none may be the first. */
  private static void request(TensorPoolAllocator pool, int times) {
    for (int i = 0; i < times; i++) {
      pool.allocate(MIB).close();
    }
  }

  @Test
  void shouldKeepABlockMoreWhenABinGoesOnMissing() {
    TensorPoolAllocator pool = pooling();
    long planned = pool.poolStats().arenaBytes();
    try (Allocation only = pool.allocate(MIB)) {
      request(pool, Growth.MISSES - 1);
      assertCounts(pool, 1, Growth.MISSES - 1, 0, 0, Growth.MISSES - 1);
      assertEquals(planned, pool.poolStats().arenaBytes());
      request(pool, 5);
      assertCounts(pool, 6, Growth.MISSES - 1, 0, 0, Growth.MISSES - 1);
      assertEquals(MIB, only.byteBuffer().capacity());
    }
    PoolStats stats = pool.poolStats();
    assertEquals(1, stats.addedBlocks());
    assertEquals(planned + MIB, stats.arenaBytes());
    pool.trimHeap();
    assertEquals(planned + MIB, pool.stats().bytesReserved());
    assertEquals(planned + MIB, source.bytesReserved());
    assertTrue(pool.dumpStats().contains("1 blocks added"), pool::dumpStats);
    closeAndCheck(pool);
  }

  @Test
  void shouldGoOutsideWhenAQuarterOfTheArenaWasAdded() {
    TensorPoolAllocator pool = pooling();
    List<Allocation> out = new ArrayList<>();
    for (int i = 0; i < 8 * Growth.MISSES; i++) {
      Allocation more = pool.allocate(MIB);
      more.byteBuffer().putInt(0, i).putInt(MIB - Integer.BYTES, i);
      out.add(more);
    }
    assertEquals(5, pool.poolStats().addedBlocks());
    assertCounts(pool, 6, out.size() - 6, 0, 0, out.size() - 6);
    for (int i = 0; i < out.size(); i++) {
      assertEquals(i, out.get(i).byteBuffer().getInt(0));
      assertEquals(i, out.get(i).byteBuffer().getInt(MIB - Integer.BYTES));
      out.get(i).close();
    }
    closeAndCheck(pool);
  }

  @Test
  void shouldKeepThePlanAsItIsWhenItIsNotToChange() {
    TensorPoolAllocator pool = learned(builder(source).replan(false), PLANNED);
    try (Allocation only = pool.allocate(MIB)) {
      request(pool, 5 * Growth.MISSES);
      assertEquals(MIB, only.byteBuffer().capacity());
    }
    assertEquals(0, pool.poolStats().addedBlocks());
    assertEquals(5 * Growth.MISSES, pool.poolStats().misses());
    closeAndCheck(pool);
  }

  @Test
  void shouldGiveAddedBlocksToAnyThatWouldFindNothing() {
    TensorPoolAllocator pool = learned(builder(source), MIB / 2, MIB, 20 * MIB);
    try (Allocation only = pool.allocate(MIB)) {
      request(pool, Growth.MISSES);
      assertEquals(1, pool.poolStats().addedBlocks());
      Pools.take(pool, MIB / 2, MIB / 2).forEach(Allocation::close);
      assertCounts(pool, 4, Growth.MISSES - 1, 0, 0, Growth.MISSES - 1);
      List<Allocation> out = Pools.take(pool, MIB / 2, MIB / 2, MIB / 2);
      assertEquals(Growth.MISSES, pool.poolStats().misses(), "one is there, and larger by far");
      out.forEach(Allocation::close);
      assertEquals(MIB, only.byteBuffer().capacity());
    }
    closeAndCheck(pool);
  }

  /** A bin of one block that borrows, and the bin of one that it borrows from. */
  private TensorPoolAllocator poolOfTwo() {
    TensorPoolAllocator pool = builder(source).replan(false).maxOversize(1).build();
    ScopedMemoryCollector planned = pool.planner().collect();
    Pools.track(pool, 2 * MIB);
    Pools.track(pool, MIB, MIB);
    planned.close();
    assertEquals(3 * MIB, pool.poolStats().planBytes(), "a block each; the small ones may borrow");
    return pool;
  }

  /** Each step lends the large block, and then needs both. */
  private static void runStepsElsewhere(TensorPoolAllocator pool, int steps) throws Exception {
    Callable<Integer> work =
        () -> {
          for (int i = 0; i < steps; i++) {
            pool.allocate(2 * MIB).close();
            Pools.take(pool, MIB, 2 * MIB).forEach(Allocation::close);
          }
          return steps;
        };
    assertEquals(steps, Buffers.onAnotherStripe(Stripes.many(), work));
  }

  /** A thread that borrows, while what it should have lies with the one that was first. */
  @Test
  void shouldGatherWhatLiesReadyElsewhereWhenABinGoesOnMissing() throws Exception {
    TensorPoolAllocator pool = poolOfTwo();
    pool.allocate(MIB).close();
    runStepsElsewhere(pool, 100);
    int missed = ChunkIndex.LOOKS;
    assertCounts(pool, 301 - missed, missed, 0, 0, missed);
    closeAndCheck(pool);
  }

  @Test
  void shouldMissNothingWhenAnotherThreadMadeThePool() throws Exception {
    TensorPoolAllocator pool = poolOfTwo();
    runStepsElsewhere(pool, 100);
    assertCounts(pool, 300, 0, 0, 0, 0);
    closeAndCheck(pool);
  }

  @Test
  void shouldKnowAddressesInAddedBlocks() {
    TensorPoolAllocator pool = pooling();
    int bytes = MIB - 64;
    long only = pool.allocateRaw(64, bytes);
    assertEquals(bytes, pool.requestedSize(only));
    List<Long> addresses = new ArrayList<>();
    for (int i = 0; i < Growth.MISSES; i++) {
      addresses.add(pool.allocateRaw(64, bytes - i));
    }
    assertEquals(1, pool.poolStats().addedBlocks());
    for (int i = 0; i < Growth.MISSES; i++) {
      assertEquals(bytes - i, pool.requestedSize(addresses.get(i)));
      pool.deallocateRaw(addresses.get(i));
    }
    long added = addresses.get(Growth.MISSES - 1);
    assertThrows(IllegalArgumentException.class, () -> pool.requestedSize(added));
    assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(added));
    pool.deallocateRaw(only);
    closeAndCheck(pool);
  }

  @Test
  void shouldGoOnAsBeforeWhenThereIsNoMemoryForMore() {
    SubAllocator limited = SubAllocator.direct(21 * MIB + 64 * KIB);
    TensorPoolAllocator pool = learned(builder(limited), PLANNED);
    long reserved = limited.bytesReserved();
    List<Allocation> all = Pools.take(pool, MIB, 20 * MIB);
    for (int i = 0; i < 3 * Growth.MISSES; i++) {
      assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(MIB));
    }
    assertEquals(0, pool.poolStats().addedBlocks());
    assertEquals(reserved, limited.bytesReserved());
    all.forEach(Allocation::close);
    pool.allocate(MIB).close();
    pool.close();
    assertEquals(0, limited.bytesReserved());
  }

  @Test
  void shouldHandAddedBlocksOnWhenAPlanIsKept() {
    TensorPoolAllocator pool = pooling();
    try (Allocation only = pool.allocate(MIB)) {
      request(pool, Growth.MISSES);
      assertEquals(MIB, only.byteBuffer().capacity());
    }
    TensorPoolAllocator replica =
        TensorPoolAllocator.builder().subAllocator(source).maxOversize(1).plan(pool.plan()).build();
    Pools.take(replica, MIB, MIB, 20 * MIB).forEach(Allocation::close);
    assertCounts(replica, 3, 0, 0, 0, 0);
    replica.close();
    closeAndCheck(pool);
  }

  @Test
  void shouldLetAddedBlocksGoWithTheirPlan() {
    TensorPoolAllocator pool = learned(builder(source).executor(Runnable::run), PLANNED);
    Allocation only = pool.allocate(MIB);
    request(pool, Growth.MISSES - 1);
    Allocation added = pool.allocate(MIB);
    assertEquals(1, pool.poolStats().addedBlocks());
    only.close();
    assertTrue(pool.replan());
    while (pool.poolStats().replans() == 0) {
      step(pool, () -> Pools.take(pool, PLANNED).forEach(Allocation::close));
    }
    added.byteBuffer().put(MIB - 1, (byte) 1);
    long both = source.bytesReserved();
    added.close();
    assertEquals(0, pool.poolStats().addedBlocks());
    assertEquals(pool.poolStats().arenaBytes(), source.bytesReserved());
    assertTrue(source.bytesReserved() < both);
    closeAndCheck(pool);
  }

  @Test
  void shouldTakeAddedBlocksAwayWhenClosedForcibly() {
    TensorPoolAllocator pool = pooling();
    Allocation only = pool.allocate(MIB);
    request(pool, Growth.MISSES - 1);
    Allocation added = pool.allocate(MIB);
    assertEquals(1, pool.poolStats().addedBlocks());
    assertThrows(IllegalStateException.class, pool::close);
    pool.closeForcibly();
    assertThrows(IllegalStateException.class, only::byteBuffer);
    assertThrows(IllegalStateException.class, added::byteBuffer);
    assertEquals(0, source.bytesReserved());
  }
}
