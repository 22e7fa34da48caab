package io.prmalloc.pool.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.AllocatorStats;
import io.prmalloc.Mallocs;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlanner.Phase;
import io.prmalloc.pool.PoolTests;
import io.prmalloc.pool.Pools;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The pool's answers to wrong addresses, stale handles, sizes out of bounds, and calls after its
 * close.
 */
class PoolMisuseTest extends PoolTests {

  // ---- misuse

  @Test
  void shouldRefuseEveryWrongAddressAndGoOnWhenPooling() {
    TensorPoolAllocator pool = pooling(40 * KIB, 40 * KIB, 100 * KIB, 100 * KIB);
    long pooled = pool.allocateRaw(64, 39_000);
    long small = pool.allocateRaw(64, 1000);
    long outside = pool.allocateRaw(64, 5L * MIB);
    Allocation pooledHandle = pool.allocate(100 * KIB);
    Allocation smallHandle = pool.allocate(1000);
    Allocation outsideHandle = pool.allocate(6 * MIB);
    long neverTaken = pooled + 44 * KIB;
    AllocatorStats before = pool.stats();
    List<Long> wrong = new ArrayList<>(List.of(1L, -1L, Long.MIN_VALUE, Long.MAX_VALUE));
    for (long address : new long[] {pooled, small, outside}) {
      wrong.addAll(List.of(address + 1, address + 64, address - 64, address - 1, address + 500));
    }
    for (Allocation handle : List.of(pooledHandle, smallHandle, outsideHandle)) {
      wrong.addAll(List.of(handle.address(), handle.address() + 64, handle.address() + 8));
    }
    wrong.add(neverTaken);
    for (long address : wrong) {
      String message =
          assertThrows(
                  IllegalArgumentException.class,
                  () -> pool.deallocateRaw(address),
                  Long.toHexString(address))
              .getMessage();
      assertEquals(
          "address 0x"
              + Long.toHexString(address)
              + " is not one that tensorpool_cpu gave out and has not got back",
          message);
    }
    assertEquals(before, pool.stats());
    for (long address : new long[] {pooled, small, outside}) {
      pool.deallocateRaw(address);
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
    }
    for (Allocation handle : List.of(pooledHandle, smallHandle, outsideHandle)) {
      handle.byteBuffer().put(0, (byte) 1);
      handle.close();
      assertThrows(IllegalStateException.class, handle::close);
      assertThrows(IllegalStateException.class, handle::byteBuffer);
      assertThrows(IllegalStateException.class, handle::buffer);
      assertThrows(IllegalStateException.class, handle::address);
    }
    assertEquals(before.numAllocs(), pool.stats().numAllocs());
    closeAndCheck(pool);
  }

  @Test
  void shouldRefuseAStaleAddressWhenItsBlockServesAHandle() {
    TensorPoolAllocator pool = pooling(40 * KIB);
    for (int bytes : new int[] {39_000, 1000}) {
      long address = pool.allocateRaw(64, bytes);
      pool.deallocateRaw(address);
      Allocation handle = pool.allocate(bytes);
      handle.byteBuffer().putInt(0, 42);
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
      assertEquals(42, handle.byteBuffer().getInt(0));
      handle.close();
    }
    closeAndCheck(pool);
  }

  @Test
  void shouldRefuseAStaleHandleWhenItsBlockServesAnAddress() {
    TensorPoolAllocator pool = pooling(40 * KIB);
    Allocation handle = pool.allocate(39_000);
    handle.close();
    long address = pool.allocateRaw(64, 39_000);
    assertThrows(IllegalStateException.class, handle::close);
    pool.deallocateRaw(address);
    closeAndCheck(pool);
  }

  @Test
  void shouldRefuseWhenSizesAndAlignmentsAreOutOfBoundsInEveryPhase() {
    for (TensorPoolAllocator pool : List.of(pool(), pooling(40 * KIB))) {
      AllocatorStats before = pool.stats();
      for (long bytes : new long[] {-1, Long.MIN_VALUE, (1L << 47) + 1, Long.MAX_VALUE}) {
        assertThrows(IllegalArgumentException.class, () -> pool.allocate(bytes));
        assertThrows(IllegalArgumentException.class, () -> pool.allocate(bytes, 64));
        assertThrows(IllegalArgumentException.class, () -> pool.allocateRaw(64, bytes));
      }
      for (long alignment : new long[] {0, -64, 3, 65, 1L << 31, Long.MIN_VALUE}) {
        assertThrows(IllegalArgumentException.class, () -> pool.allocate(40_000, alignment));
        assertThrows(IllegalArgumentException.class, () -> pool.allocateRaw(alignment, 40_000));
      }
      assertEquals(before, pool.stats());
      assertEquals(0, pool.poolStats().misses() + pool.poolStats().nullBins());
      pool.close();
    }
    assertEquals(0, source.bytesReserved());
  }

  // ---- the end

  @Test
  void shouldThrowWithCountsAndGoOnWhenClosedWithMemoryInUse() {
    TensorPoolAllocator pool = pooling(40 * KIB, 100 * KIB);
    Allocation pooled = pool.allocate(40_000);
    Allocation small = pool.allocate(100);
    Allocation outside = pool.allocate(1_000_000);
    for (Allocation last : List.of(pooled, small, outside)) {
      String message = assertThrows(IllegalStateException.class, pool::close).getMessage();
      long live = pool.stats().bytesInUse();
      assertTrue(
          message.matches(
              "allocator tensorpool_cpu still has [123] allocations of "
                  + live
                  + " bytes in use; closeForcibly\\(\\) takes them away"),
          message);
      for (long bytes : new long[] {100, 40_000, 100_000, 3_000_000}) {
        try (Allocation again = pool.allocate(bytes)) {
          again.byteBuffer().put(0, (byte) 5);
        }
      }
      assertTrue(pool.isPooling());
      last.byteBuffer().put(0, (byte) 1);
      last.close();
    }
    closeAndCheck(pool);
    pool.close();
    assertThrows(IllegalStateException.class, pooled::close);
  }

  @Test
  void shouldTakeEverythingAwayWhenClosedForcibly() {
    TensorPoolAllocator pool = pooling(40 * KIB, 100 * KIB);
    List<Allocation> out = Pools.take(pool, 40_000, 100, 1_000_000);
    long raw = pool.allocateRaw(64, 100_000);
    long smallRaw = pool.allocateRaw(64, 100);
    long outsideRaw = pool.allocateRaw(64, 2_000_000);
    pool.closeForcibly();
    assertEquals(0, source.bytesReserved());
    assertEquals(0, pool.stats().bytesInUse());
    assertEquals(6, pool.stats().numAllocs());
    for (Allocation handle : out) {
      assertThrows(IllegalStateException.class, handle::byteBuffer);
      assertThrows(IllegalStateException.class, handle::close);
    }
    for (long address : new long[] {raw, smallRaw, outsideRaw}) {
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
    }
    pool.closeForcibly();
    pool.close();
  }

  @Test
  void shouldRefuseAndAskTheSystemForNothingWhenClosed() {
    SubAllocator tight = SubAllocator.direct(200 * KIB);
    for (long[] totals : new long[][] {{}, {40 * KIB}}) {
      TensorPoolAllocator pool = builder(tight).build();
      if (totals.length > 0) {
        Pools.learn(pool, totals);
      }
      pool.close();
      for (long bytes : new long[] {0, 100, 40_000, 10L * MIB}) {
        String message =
            assertThrows(IllegalStateException.class, () -> pool.allocate(bytes)).getMessage();
        assertTrue(message.contains("is closed"), message);
        assertThrows(IllegalStateException.class, () -> pool.allocate(bytes, 8192));
        assertThrows(IllegalStateException.class, () -> pool.allocateRaw(64, bytes));
      }
      assertEquals(0, tight.bytesReserved());
      assertEquals(0, pool.stats().numAllocs());
    }
  }

  @Test
  void shouldIgnoreThePlanWhenItComesAfterClose() {
    TensorPoolAllocator pool = pool();
    pool.close();
    Pools.learn(pool, 40 * KIB);
    assertEquals(Phase.DONE, pool.planner().phase(), "a closed pool needs none");
    assertFalse(pool.isPooling());
    assertEquals(0, source.bytesReserved());
  }

  /**
   * A block with guard pages goes back to the system when it is freed: the thread that loses must
   * not look at it.
   */
  @Test
  void shouldRefuseOneOfTwoThreadsThatFreeAnAddressAtOnce() throws Exception {
    Mallocs.assumeCLibrary();
    SubAllocator guarded = SubAllocator.mmap(MmapOptions.DEFAULT.withGuardPages(true));
    TensorPoolAllocator pool = TensorPoolAllocator.builder().subAllocator(guarded).build();
    AtomicInteger freed = new AtomicInteger();
    CyclicBarrier barrier = new CyclicBarrier(2);
    long[] address = new long[1];
    int rounds = 4000;
    Threads.run(
        2,
        thread -> {
          SplittableRandom random = new SplittableRandom(thread);
          for (int round = 0; round < rounds; round++) {
            if (thread == 0) {
              address[0] = pool.allocateRaw(64, 100_000);
            }
            barrier.await();
            for (int spin = random.nextInt(60); spin > 0; spin--) {
              Thread.onSpinWait();
            }
            try {
              pool.deallocateRaw(address[0]);
              freed.incrementAndGet();
            } catch (IllegalArgumentException refused) {
              // The other thread was first.
            }
            barrier.await();
          }
        });
    assertEquals(rounds, freed.get());
    assertEquals(0, pool.stats().bytesInUse());
    pool.close();
  }
}
