package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.os.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockTest {

  private final SubAllocator source = SubAllocator.direct();
  private final MemoryRegion region = source.alloc(64, 1000);
  private int recycled;

  private final Block block = new Counted(100, 500, null, Isolation.NONE);

  /** Counts how often it is put back, and leaves nothing to settle. */
  private final class Counted extends Block {
    Counted(long offset, long bytes, Confinement confinement, Isolation isolation) {
      super(BlockTest.this.region, offset, bytes, confinement, isolation);
    }

    @Override
    protected int goHome() {
      recycled++;
      return 0;
    }

    @Override
    protected void settle(int news) {
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
  void shouldBeginAUseAtOnceOnlyWhenItIsHomeWithThatMark() {
    long mark = Block.markOfCaller();
    long home = block.stamp();
    assertEquals(0, block.beginMarked(mark, 200));
    assertEquals(home, block.stamp());
    ReadyBits where = new ReadyBits() {};
    assertTrue(block.mark(mark, false, where));
    long stamp = block.beginMarked(mark, 200);
    assertEquals(stamp, block.stamp());
    assertEquals(200, block.sizeBytes());
    assertEquals(0, block.beginMarked(mark, 300), "it is out");
    assertEquals(200, block.sizeBytes());
    try (Allocation handle = block.handle(200)) {
      assertEquals(200, handle.byteBuffer().limit());
    }
    assertEquals(1L << block.number(), where.bits(), "its thread finds it where it is noted");
    assertEquals(0, recycled, "and need not be asked");
    assertFalse(block.isLive());
  }

  @Test
  void shouldBeginAUseAsTheOneBeforeOnlyWhenItHasThatExtent() {
    long mark = Block.markOfCaller();
    long raw = Block.extentOf(200, 64);
    assertTrue(block.mark(mark, false, new ReadyBits() {}));
    block.openRaw(200, 64);
    assertTrue(block.closeRaw());
    assertEquals(raw, block.extent());
    assertEquals(0, block.reopenMarked(mark, Block.extentOf(200, 128)));
    assertEquals(0, block.reopenMarked(mark, 200), "a handle's");
    assertEquals(0, block.reopenMarked(mark + 32, raw), "another's");
    long stamp = block.reopenMarked(mark, raw);
    assertTrue(Block.isOut(stamp) && block.closeRaw(stamp));
    block.open(200).close();
    assertEquals(200, block.extent());
    assertEquals(0, block.reopenMarked(mark, raw));
    assertTrue(block.closeRaw(block.reopenMarked(mark, 200)));
    block.view.position(1);
    assertEquals(0, block.reopenMarked(mark, 200), "its view is another than the user must find");
  }

  @Test
  void shouldGoHomeWhenAnotherThreadClosesAUseWithAMark() throws Exception {
    long mark = Block.markOfCaller();
    ReadyBits where = new ReadyBits() {};
    assertTrue(Block.isOut(block.beginUnmarked(mark, where, 200)));
    Allocation handle = block.handle(200);
    Thread other = new Thread(handle::close);
    if (((other.getId() - Thread.currentThread().getId()) & 63) == 0) {
      other = new Thread(handle::close); // threads whose numbers are 64 apart share their mark
    }
    other.start();
    other.join();
    assertEquals(1, recycled);
    assertEquals(0, where.bits());
    assertTrue(block.claim(), "the mark is gone");
  }

  @Test
  void shouldKeepALastingMarkWhenAnotherThreadCloses() throws Exception {
    long mark = Block.markOfCaller();
    ReadyBits where = new ReadyBits() {};
    assertTrue(block.mark(mark, true, where));
    assertTrue(block.mark(mark, false, where), "it has the mark");
    for (int use = 1; use <= 3; use++) {
      long stamp = block.beginMarked(mark, 200);
      assertEquals(use, Block.useOf(stamp));
      assertTrue(Block.isOut(stamp) && Block.isMarkOfCaller(stamp));
      assertFalse(block.isMarkedAtHome(mark));
      Allocation handle = block.handle(200);
      Thread other = new Thread(handle::close);
      other.start();
      other.join();
      assertThrows(IllegalStateException.class, handle::close);
      assertTrue(block.isMarkedAtHome(mark) && !block.isUnmarkedAtHome());
      assertFalse(block.claim(), "by anybody");
      assertEquals(use, block.uses());
    }
    int marker = Block.markerOf(block.stamp());
    block.unmark(marker ^ 1, 63);
    assertTrue(block.isMarkedAtHome(mark), "that was another's");
    block.unmark(marker, 63);
    assertTrue(block.isUnmarkedAtHome());
    assertEquals(3, block.uses());
    assertTrue(block.beginUnmarked(mark, where, 200) > 0, "and lasts no more");
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
    assertFalse(block.closeRaw(block.stamp()), "at home");
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
  private static final class Own extends Confinement {
    Own() {
      takeOwnership();
    }
  }

  private Block confined(Isolation isolation) {
    return new Counted(0, 600, new Own(), isolation);
  }

  @Test
  void shouldCloseAsOwnerOnlyWhatIsConfinedAndOutAtThatAddress() {
    Block own = confined(Isolation.NONE);
    assertFalse(own.closeAsOwner(own.startAddress()), "it is home");
    long address = own.openAsOwner(200);
    assertEquals(region.address(), address);
    assertEquals(200, own.bytesInUse());
    assertFalse(own.closeAsOwner(address + 64));
    assertEquals(200, own.bytesInUse());
    assertTrue(own.closeAsOwner(address));
    assertTrue(own.isAtHome());
    assertFalse(own.closeAsOwner(address), "it was closed");
    assertEquals(1, own.uses());
    own.openAsOwner(100);
    assertEquals(200, own.largestBytes());
    assertTrue(own.closeRaw());
    assertEquals(0, recycled, "that it is home is read from its state");
  }

  @Test
  void shouldNotCloseAsOwnerWhatIsIsolated() {
    Block isolated = confined(Isolation.NONE.withFill(Isolation.Fill.ZERO));
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
}
