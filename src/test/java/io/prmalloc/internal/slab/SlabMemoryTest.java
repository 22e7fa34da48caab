package io.prmalloc.internal.slab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.pool.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread reserves the memory of a slab, or gives it back, while others use that size class. */
@Timeout(value = 100, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // or they wait for ever
class SlabMemoryTest {

  private static final int BYTES = 1000;

  private final ReservationGate gate = new ReservationGate();
  private final CountDownLatch inside = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private volatile Thread held;

  private void hold() {
    if (Thread.currentThread() == held) {
      held = null;
      inside.countDown();
      Threads.await(goOn);
    }
  }

  private static void giveBack(PooledBlock block) {
    block.giveUp();
    if (block.onFreed()) {
      block.settle();
    }
  }

  @Test
  void shouldLetOthersAllocateAndFreeMeanwhile() throws Exception {
    SubAllocator memory = SubAllocator.direct();
    SmallBlocks small =
        new SmallBlocks(
            memory.withVisitors(
                0,
                RegionVisitor.of(
                    (region, index, bytes) -> hold(), (region, index, bytes) -> hold())),
            BlockIsolation.NONE,
            new AddressDirectory(),
            gate,
            () -> {});
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      List<PooledBlock> out = new ArrayList<>();
      out.add(small.allocateSlowly(BYTES, 64));
      PooledBlock last = fill(small, out);
      Future<PooledBlock> reserves =
          other.submit(
              () -> {
                held = Thread.currentThread();
                return small.allocateSlowly(BYTES, 64);
              });
      inside.await();
      giveBack(last);
      PooledBlock again = small.allocateSlowly(BYTES, 64);
      small.addTo(new PoolCounts());
      int slabs = small.slabs();
      PooledBlock further = small.allocateSlowly(BYTES, 64);
      assertFalse(reserves.isDone());
      goOn.countDown();
      PooledBlock theirs = reserves.get();
      assertEquals(slabs + 2, small.slabs(), "both have made one");
      for (PooledBlock each : List.of(again, further, theirs)) {
        giveBack(each);
      }
      out.remove(last);
      out.forEach(SlabMemoryTest::giveBack);
    } finally {
      goOn.countDown();
      other.shutdown();
    }
    small.trim();
    assertEquals(0, memory.bytesReserved());
  }

  /** Takes all slots of the slab that serves; the last one. */
  private static PooledBlock fill(SmallBlocks small, List<PooledBlock> out) {
    for (PooledBlock block = small.takeServed(BYTES, 64);
        block != null;
        block = small.takeServed(BYTES, 64)) {
      out.add(block);
    }
    return out.get(out.size() - 1);
  }

  @Test
  void shouldLetOthersAllocateAndFreeWhileASlabGoesBack() throws Exception {
    SubAllocator memory = SubAllocator.direct();
    SmallBlocks small =
        new SmallBlocks(
            memory.withVisitors(0, RegionVisitor.onFree((region, index, bytes) -> hold())),
            BlockIsolation.NONE,
            new AddressDirectory(),
            gate,
            () -> {});
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      giveBack(small.allocateSlowly(BYTES, 64));
      Future<Long> trimmed =
          other.submit(
              () -> {
                held = Thread.currentThread();
                return small.trim();
              });
      inside.await();
      PooledBlock block = small.allocateSlowly(BYTES, 64);
      assertNotNull(block);
      giveBack(block);
      assertEquals(1, small.slabs());
      assertFalse(trimmed.isDone());
      // A request that would be refused waits for that memory.
      AtomicBoolean waited = new AtomicBoolean();
      Thread refused = new Thread(() -> waited.set(gate.awaitMoves()));
      refused.start();
      Threads.awaitWaiting(refused);
      goOn.countDown();
      refused.join();
      assertTrue(waited.get());
      assertEquals(32L * 1024, trimmed.get());
    } finally {
      goOn.countDown();
      other.shutdown();
    }
    small.trim();
    assertEquals(0, memory.bytesReserved());
  }
}
