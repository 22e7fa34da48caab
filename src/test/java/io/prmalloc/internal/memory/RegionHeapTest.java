package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.Block;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RegionHeapTest {

  private final SubAllocator source = SubAllocator.direct();
  private final List<Object> released = new ArrayList<>();
  private final RegionHeap heap = new RegionHeap(source, released::add);

  @Test
  void shouldForgetTheAddressWhenTheBlockComesBack() {
    Block block = heap.acquire(100, 64, 64, null);
    block.openRaw(100, 64);
    long address = block.region().address() + 64;
    assertSame(block, heap.findRaw(address));
    assertNull(heap.findRaw(address - 64));
    assertTrue(block.closeRaw());
    assertNull(heap.findRaw(address));
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldKeepTheAddressWithinTheRegionWhenAHeaderIsFollowedByNoBytes() {
    Block block = heap.acquire(0, 4096, 4096, null);
    block.openRaw(0, 4096);
    assertTrue(block.region().sizeBytes() > 4096, "the next region may begin at the address");
    assertTrue(block.closeRaw());
    assertEquals(0, heap.stats().bytesInUse());
  }

  @Test
  void shouldTellTheListenerOnceWhenABlockWithATicketComesBack() {
    heap.acquire(10, 64, 0, "first").open(10).close();
    heap.acquire(10, 64, 0, null).open(10).close();
    Allocation second = heap.acquire(10, 64, 0, "second").open(10);
    second.close();
    assertThrows(IllegalStateException.class, second::close);
    assertEquals(List.of("first", "second"), released);
  }

  @Test
  void shouldCloseEveryHandleWhenClosedForcibly() {
    List<Allocation> handles = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      handles.add(heap.acquire(100, 64, 0, i).open(100));
    }
    handles.get(2).close();
    heap.closeForcibly();
    assertEquals(0, heap.liveBlocks());
    assertEquals(0, heap.stats().bytesInUse());
    assertEquals(0, source.bytesReserved());
    for (Allocation handle : handles) {
      assertThrows(IllegalStateException.class, handle::close);
      assertThrows(IllegalStateException.class, handle::byteBuffer);
    }
    assertEquals(5, released.size());
  }

  @Test
  void shouldGiveTheRegionBackWhenClosedMeanwhile() {
    Allocation handle = heap.acquire(100, 64, 0, null).open(100);
    assertFalse(heap.close());
    handle.close();
    assertTrue(heap.close());
    assertThrows(IllegalStateException.class, () -> heap.acquire(100, 64, 0, null));
    assertThrows(IllegalStateException.class, () -> heap.acquire(100, 64, 64, null));
    assertEquals(0, source.bytesReserved());
    assertEquals(1, heap.stats().numAllocs());
  }
}
