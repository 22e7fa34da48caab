package io.prmalloc.internal.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A plan's blocks get their memory one after the other, while requests are served. */
class LackingRegionsTest {

  private static final int INTERVAL_BYTES = 4096;
  private static final int BLOCKS = 3;
  private static final long BYTES = 40_960;

  /** Stops at the second region until the test lets it go on. */
  private static final class HaltingSource extends SubAllocatorWrapper {
    final CountDownLatch halted = new CountDownLatch(1);
    final CountDownLatch goesOn = new CountDownLatch(1);
    private int regions;

    HaltingSource() {
      super(SubAllocator.direct());
    }

    @Override
    public MemoryRegion alloc(long alignment, long bytes) {
      if (++regions == 2) {
        halted.countDown();
        await(goesOn);
      }
      return super.alloc(alignment, bytes);
    }

    private static void await(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private BinTable table;

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  /** A table of equal blocks without memory, so many of which share a region. */
  private void open(SubAllocator source, int blocksPerRegion) {
    BinPlan bin = new BinPlan(1, BYTES, 64, BLOCKS, List.of());
    LifetimePlan plan = new LifetimePlan(INTERVAL_BYTES, 0, List.of(bin), List.of(), 1);
    Arena.Layout layout = new Arena.Layout(blocksPerRegion * BYTES, INTERVAL_BYTES);
    table = BinTable.buildLacking(plan, new int[] {BLOCKS}, 1, source, layout);
  }

  private PooledBlock take() {
    return Buffers.claim(table, BYTES);
  }

  private void closeAll(List<PooledBlock> taken, SubAllocator source) {
    taken.forEach(block -> assertTrue(block.closeRaw()));
    assertTrue(table.retire(), "a block is still in use");
    table.free();
    assertEquals(0, source.bytesReserved());
  }

  private PooledBlock found(long address) throws Exception {
    // By another thread: the test fails, and does not hang, if the thread has to wait for memory.
    return threads.submit(() -> table.find(address)).get();
  }

  @Test
  @Timeout(60)
  void shouldFindABlockByItsAddressWhileMemoryIsReservedForOthers() throws Exception {
    HaltingSource source = new HaltingSource();
    open(source, 1);
    assertNull(table.find(1), "addresses were asked for before there was any");
    Future<Boolean> filled = threads.submit(() -> table.fill(0, region -> {}));
    PooledBlock block;
    try {
      source.halted.await();
      block = take();
      assertNotNull(block, "the first region's block cannot be taken");
      block.openRaw(BYTES, 0);
      assertSame(block, found(block.startAddress()));
      // The second time from what the first one noted.
      assertSame(block, found(block.startAddress() + BYTES - 1));
    } finally {
      source.goesOn.countDown();
    }
    assertTrue(filled.get());
    assertSame(block, table.find(block.startAddress()));
    closeAll(List.of(block), source);
  }

  @Test
  void shouldLackNothingWhenThePlanWasReplaced() {
    // A thread that had no block asks; another one replaces the plan, and gives its memory back.
    open(SubAllocator.direct(), 1);
    assertTrue(table.isLackingFor(BYTES, 64));
    table.free();
    assertFalse(table.isLackingFor(BYTES, 64));
  }

  @Test
  void shouldLetNoBlockOutBeforeItsRegionWasToldOf() {
    SubAllocator source = SubAllocator.direct();
    open(source, 2);
    List<PooledBlock> early = new ArrayList<>();
    List<PooledBlock> taken = new ArrayList<>();
    // Whoever is told may give the region's pages back to the system.
    table.fill(
        0,
        region -> {
          PooledBlock block = take();
          while (block != null) {
            (block.region() == region ? early : taken).add(block);
            block.openRaw(BYTES, 0);
            block = take();
          }
        });
    assertEquals(List.of(), early, "taken while the region might be discarded");
    for (PooledBlock block = take(); block != null; block = take()) {
      block.openRaw(BYTES, 0);
      taken.add(block);
    }
    assertEquals(BLOCKS, taken.size());
    closeAll(taken, source);
  }

  @Test
  void shouldLetBlocksOutWhenWhoeverIsToldThrows() {
    SubAllocator source = SubAllocator.direct();
    open(source, BLOCKS);
    assertThrows(
        OutOfMemoryError.class,
        () ->
            table.fill(
                0,
                region -> {
                  throw new OutOfMemoryError("Java heap space");
                }));
    PooledBlock block = take();
    assertNotNull(block);
    block.openRaw(BYTES, 0);
    closeAll(List.of(block), source);
  }

  @Test
  void shouldFindTheOtherBlocksOfARegionThatCameForOne() {
    SubAllocator source = SubAllocator.direct();
    open(source, 2);
    assertNull(table.find(1));
    List<PooledBlock> taken = new ArrayList<>();
    for (int i = 0; i < BLOCKS; i++) {
      PooledBlock ready = take();
      PooledBlock block = ready != null ? ready : table.back(BYTES, 64);
      block.openRaw(BYTES, 0);
      taken.add(block);
      taken.forEach(each -> assertSame(each, table.find(each.startAddress())));
    }
    closeAll(taken, source);
  }

  @Test
  void shouldKeepNothingWhenBlocksCannotBeMoved() {
    SubAllocator inner = SubAllocator.direct();
    List<Long> wanted = new ArrayList<>();
    // The first region is too small for its second block.
    SubAllocator source =
        new SubAllocatorWrapper(inner) {
          @Override
          public MemoryRegion alloc(long alignment, long bytes) {
            wanted.add(bytes);
            return super.alloc(alignment, wanted.size() == 1 ? BYTES : bytes);
          }
        };
    open(source, 2);
    assertThrows(IndexOutOfBoundsException.class, () -> table.fill(0, region -> {}));
    assertEquals(0, inner.bytesReserved());
    assertNull(take());
    assertTrue(table.fill(0, region -> {}));
    assertEquals(List.of(2 * BYTES, 2 * BYTES, BYTES), wanted);
    PooledBlock block = take();
    block.openRaw(BYTES, 0);
    closeAll(List.of(block), inner);
  }
}
