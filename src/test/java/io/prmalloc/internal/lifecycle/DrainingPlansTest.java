package io.prmalloc.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DrainingPlansTest {

  private final ReentrantLock lifecycle = new ReentrantLock();
  private final DrainingPlans retired = new DrainingPlans(lifecycle, Runnable::run);
  private final BinTable table = Buffers.table(false, 2);
  private final PooledBlock out = Buffers.claim(table, Buffers.bytesOf(0));

  @BeforeEach
  void use() {
    out.open(100);
    lifecycle.lock();
  }

  private long bytesInUse(BinTable serving) {
    PoolCounts counts = new PoolCounts();
    retired.addTo(counts, serving);
    return counts.bytesInUse;
  }

  @Test
  void shouldCountATableOnceWhenItIsInAndStillServes() {
    retired.add(table);
    assertEquals(0, bytesInUse(table));
    assertEquals(0, retired.arenaBytes(table));
    assertEquals(100, bytesInUse(null));
    assertEquals(table.arenaBytes(), retired.arenaBytes(null));
    assertEquals(1, retired.count());
  }

  @Test
  void shouldKeepATableThatStillServesWhenAllItsBlocksAreFree() {
    retired.add(table);
    assertTrue(out.closeRaw());
    assertEquals(table.arenaBytes(), retired.arenaBytes(null));
    retired.release(table);
    assertEquals(0, retired.arenaBytes(null));
  }

  @Test
  void shouldLetATableGoWhenItsLastBlockIsFreed() {
    retired.add(table);
    retired.release(table);
    assertEquals(table.arenaBytes(), retired.arenaBytes(null));
    assertFalse(retired.tryFreeAll());
    assertTrue(out.closeRaw());
    assertEquals(0, retired.arenaBytes(null));
    assertTrue(retired.tryFreeAll());
    PoolCounts counts = new PoolCounts();
    retired.addTo(counts, null);
    assertEquals(1, counts.uses, "the use is not forgotten");
  }
}
