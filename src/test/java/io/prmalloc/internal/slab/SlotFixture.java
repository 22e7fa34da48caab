package io.prmalloc.internal.slab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;

/** Slots of one size, in slabs made for the test. */
abstract class SlotFixture {

  static final int BYTES = 8 * 1024;

  /** What the first slabs have of {@link #BYTES}. */
  static final int SLOTS = 32;

  final SubAllocator source = SubAllocator.direct();
  final AtomicInteger grown = new AtomicInteger();
  final SmallBlocks small =
      new SmallBlocks(
          source,
          BlockIsolation.NONE,
          new AddressDirectory(),
          new ReservationGate(),
          grown::incrementAndGet);
  final Stripes stripes = small.fronts().stripes();

  @AfterEach
  void giveBack() {
    small.free();
    assertEquals(0, source.bytesReserved());
  }

  final PooledBlock take() {
    return take(small, BYTES);
  }

  static PooledBlock take(SmallBlocks small, int bytes) {
    PooledBlock block = Buffers.slot(small, bytes, 64);
    block.openRaw(bytes, 0);
    return block;
  }

  static void giveBack(PooledBlock block) {
    assertTrue(block.closeRaw());
  }

  final void elsewhere(Runnable work) throws Exception {
    Buffers.onAnotherStripe(stripes, Executors.callable(work));
  }
}
