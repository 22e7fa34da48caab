package io.prmalloc.internal.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.Isolation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockTest {

  private final SubAllocator source = SubAllocator.direct();
  private final MemoryRegion region = source.alloc(64, 1000);
  private int recycled;

  private final Block block = new Counted(100, 500, null, BlockIsolation.NONE);

  /** Counts how often it is put back, and leaves nothing to settle. */
  private final class Counted extends Block {
    Counted(long offset, long bytes, StepMemory owner, BlockIsolation isolation) {
      super(BlockTest.this.region, offset, bytes, owner, isolation);
    }

    @Override
    protected boolean onFreed() {
      recycled++;
      return false;
    }

    @Override
    protected void settle() {
      throw new AssertionError("nothing to settle");
    }
  }

  @AfterEach
  void giveBack() {
    source.free(region);
  }

  @Test
  void shouldShowItsPartOfTheRegionOnlyWhenViewed() {
    Allocation handle = block.open(500);
    handle.byteBuffer().put(0, (byte) 1).put(499, (byte) 2);
    assertEquals(1, region.buffer().get(100));
    assertEquals(2, region.buffer().get(599));
    assertEquals(region.address() + 100, handle.address());
    assertEquals(region.address() + 100, handle.buffer().addressOffset());
    assertThrows(IndexOutOfBoundsException.class, () -> handle.byteBuffer().get(500));
  }

  @Test
  void shouldResetTheViewWhenUsedAgain() {
    Allocation first = block.open(200);
    ByteBuffer view = first.byteBuffer();
    assertEquals(200, first.buffer().capacity());
    view.position(7).limit(9).order(ByteOrder.BIG_ENDIAN);
    first.close();
    Allocation second = block.open(300);
    assertSame(view, second.byteBuffer(), "one view for the life of the block");
    assertEquals(0, view.position());
    assertEquals(300, view.limit());
    assertEquals(ByteOrder.nativeOrder(), view.order());
    assertEquals(300, second.buffer().capacity());
  }

  @Test
  void shouldClaimAndBeginOnlyWhenItIsFree() {
    for (int use = 1; use <= 3; use++) {
      long stamp = block.claimAndBegin(200);
      assertEquals(stamp, block.stamp());
      assertEquals(use, Block.useOf(stamp));
      assertEquals(0, block.claimAndBegin(200), "it is out");
      assertEquals(0, block.claimAndBegin(300), "it is out");
      assertEquals(200, block.sizeBytes());
      try (Allocation handle = block.handle(200)) {
        assertEquals(200, handle.byteBuffer().limit());
      }
      assertEquals(use, recycled);
    }
    assertTrue(block.claim());
    assertEquals(0, block.claimAndBegin(200), "claimed");
    block.giveUp();
  }

  @Test
  void shouldPrepareTheViewAgainWhenItWasLeftOrTheSizeIsAnother() {
    assertTrue(block.claimAndBegin(200) != 0);
    Allocation first = block.handle(200);
    first.byteBuffer().position(7).limit(9).order(ByteOrder.BIG_ENDIAN);
    first.close();
    assertTrue(block.claimAndBegin(200) != 0);
    try (Allocation second = block.handle(200)) {
      assertEquals(0, second.byteBuffer().position());
      assertEquals(200, second.byteBuffer().limit());
      assertEquals(ByteOrder.nativeOrder(), second.byteBuffer().order());
    }
    assertTrue(block.claimAndBegin(300) != 0);
    try (Allocation third = block.handle(300)) {
      assertEquals(300, third.byteBuffer().limit());
    }
    block.openRaw(300, 64);
    assertTrue(block.closeRaw());
    assertTrue(block.claimAndBegin(300) != 0);
    assertEquals(0, block.headerBytes());
    block.handle(300).close();
    assertEquals(300, block.largestBytes());
  }

  @Test
  void shouldNotBeginWhileItHasNoMemory() {
    Counted bare = new Counted(0, 500, null, BlockIsolation.NONE);
    assertTrue(bare.claim());
    bare.attach(null);
    assertEquals(0, bare.claimAndBegin(0));
    assertEquals(0, bare.claimAndBegin(500));
    bare.attach(region);
    bare.giveUp();
    assertTrue(bare.claimAndBegin(500) != 0);
    bare.handle(500).close();
  }

  @Test
  void shouldRememberTheLargestUseUntilThatIsCleared() {
    block.open(200).close();
    block.openRaw(20, 64);
    assertEquals(20, block.sizeBytes());
    assertEquals(64, block.headerBytes());
    assertEquals(200, block.largestBytes());
    block.closeRaw();
    block.clearLargest();
    block.open(10).close();
    assertEquals(10, block.largestBytes());
    block.clearLargest();
    block.open(10).close();
    assertEquals(10, block.largestBytes(), "of as many bytes as the use before");
  }

  @Test
  void shouldKeepWhatTheUserDidToTheViewWhileTheUseLasts() {
    Allocation handle = block.open(200);
    handle.byteBuffer().position(7).limit(9);
    assertEquals(7, handle.byteBuffer().position());
    assertEquals(9, handle.byteBuffer().limit());
    handle.close();
    assertEquals(0, block.open(200).byteBuffer().position());
  }

  @Test
  void shouldKeepAnOldHandleClosedWhenTheBlockServesSomebodyElse() {
    Allocation old = block.open(200);
    old.close();
    Allocation current = block.open(300);
    assertThrows(IllegalStateException.class, old::close);
    assertThrows(IllegalStateException.class, old::byteBuffer);
    assertThrows(IllegalStateException.class, old::buffer);
    assertThrows(IllegalStateException.class, old::address);
    assertTrue(block.isLive());
    assertEquals(1, recycled);
    current.close();
    assertEquals(2, recycled);
  }

  @Test
  void shouldCountUsesWhenGivenOutAndTakenBack() {
    assertEquals(0, block.uses());
    block.open(10).close();
    assertEquals(1, block.uses());
    block.openRaw(20, 64);
    assertEquals(2, block.uses());
    assertEquals(20, block.bytesInUse());
    assertEquals(64, block.headerBytes());
    assertTrue(block.closeRaw());
    assertFalse(block.closeRaw());
    assertEquals(0, block.bytesInUse());
    assertEquals(2, recycled);
    assertEquals(2, block.uses());
  }

  @Test
  void shouldLeaveTheNextUseAloneWhenARawStampIsStale() {
    assertFalse(block.closeRaw(block.stamp()), "free");
    block.openRaw(20, 64);
    long first = block.stamp();
    assertEquals(1, Block.useOf(first));
    assertTrue(block.closeRaw(first));
    assertFalse(block.closeRaw(first));
    Allocation next = block.open(30);
    assertFalse(block.closeRaw(first), "the block went out again");
    assertTrue(block.isLive());
    assertEquals(1, recycled);
    next.close();
  }

  @Test
  void shouldCloseWithoutRecyclingWhenRevoked() {
    assertFalse(block.revoke());
    Allocation handle = block.open(10);
    assertTrue(block.revoke());
    assertFalse(block.isLive());
    assertThrows(IllegalStateException.class, handle::close);
    assertEquals(0, recycled);
  }

  /** Whoever makes it owns it. */
  private static final class Own extends StepMemory {
    Own() {
      takeOwnership();
    }

    @Override
    protected Block takeUnplanned(long bytes) {
      throw new AssertionError("nothing is asked for here");
    }

    @Override
    protected long takeUnplannedRaw(long bytes) {
      throw new AssertionError("nothing is asked for here");
    }

    @Override
    protected void releaseUnexpected(long address) {
      throw new AssertionError("nothing is released here");
    }

    @Override
    public void end() {}
  }

  private Block confined(BlockIsolation isolation) {
    return new Counted(0, 600, new Own(), isolation);
  }

  @Test
  void shouldCloseAsOwnerOnlyWhatIsConfinedAndOutAtThatAddress() {
    Block own = confined(BlockIsolation.NONE);
    assertFalse(own.closeAsOwner(own.startAddress()), "it is free");
    long address = own.openAsOwner(200);
    assertEquals(region.address(), address);
    assertEquals(200, own.bytesInUse());
    assertFalse(own.closeAsOwner(address + 64));
    assertEquals(200, own.bytesInUse());
    assertTrue(own.closeAsOwner(address));
    assertTrue(own.isFree());
    assertFalse(own.closeAsOwner(address), "it was closed");
    assertEquals(1, own.uses());
    own.openAsOwner(100);
    assertEquals(200, own.largestBytes());
    assertTrue(own.closeRaw());
    assertEquals(0, recycled, "that it is free is read from its state");
  }

  @Test
  void shouldNotCloseAsOwnerWhatIsIsolated() {
    Block isolated = confined(BlockIsolation.of(Isolation.NONE.withFill(Isolation.Fill.ZERO)));
    long address = isolated.openAsOwner(200);
    assertFalse(isolated.closeAsOwner(address));
    assertTrue(isolated.isLive());
    assertTrue(isolated.closeRaw());
    assertEquals(1, recycled);
  }

  @Test
  void shouldShowAllOfAUseWhenTheOneBeforeWasByAddress() {
    block.open(300).close();
    block.openRaw(200, 0);
    block.closeRaw();
    try (Allocation handle = block.open(200)) {
      assertEquals(200, handle.byteBuffer().limit());
    }
  }

  @Test
  void shouldFreeAnIsolatedBlockWithoutItsMemoryWhenIsolationIsClosed() {
    BlockIsolation isolation =
        BlockIsolation.of(Isolation.NONE.withFill(Isolation.Fill.POISON).withCanaries(true));
    Block isolated = new Counted(0, 600, null, isolation);
    Allocation handle = isolated.open(200);
    Block other = new Counted(600, 300, null, isolation);
    region.buffer().put(0, (byte) 1).put(200, (byte) 2);
    isolation.close();
    handle.close();
    assertTrue(isolated.isFree());
    assertEquals(1, recycled);
    assertEquals(1, region.buffer().get(0), "it was filled");
    assertThrows(IllegalStateException.class, () -> other.open(100));
    assertThrows(IllegalStateException.class, () -> other.openRaw(100, 8));
    assertEquals(0, region.buffer().get(700), "it has a canary");
    assertEquals(2, recycled, "a request by handle gave its block back");
  }

  @Test
  void shouldRefuseToCloseAHandleWhenItsUseWasRevokedBeforeItWasMade() {
    BlockIsolation canaries = BlockIsolation.of(Isolation.NONE.withCanaries(true));
    Counted isolated = new Counted(0, 600, null, canaries);
    Counted observed = new Counted(0, 600, null, BlockIsolation.NONE);
    observed.observe();
    for (Block each : List.of(block, isolated, observed, confined(BlockIsolation.NONE))) {
      each.begin(200);
      assertTrue(each.revoke());
      Allocation handle = each.handle(200);
      assertThrows(IllegalStateException.class, handle::close);
      assertFalse(each.isLive());
      assertFalse(each.isFree());
      assertEquals(0, each.bytesInUse());
      assertEquals(1, each.uses());
    }
    assertEquals(0, recycled);
  }
}
