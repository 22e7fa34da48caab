package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DirectRegionTest {

  /** Memory from the heap, that counts how often it is freed and may refuse it. */
  private static final class CountingMemory implements DirectMemory {
    final List<Object> freed = new ArrayList<>();
    final long address;
    boolean busy;

    CountingMemory(long address) {
      this.address = address;
    }

    @Override
    public Piece allocate(long alignment, long bytes) {
      return new Piece(ByteBuffer.allocate((int) bytes), "owner", address);
    }

    @Override
    public long bytesAvailable() {
      return Long.MAX_VALUE;
    }

    @Override
    public void free(Object owner) {
      if (busy) {
        throw new IllegalStateException("in use");
      }
      freed.add(owner);
    }
  }

  @Test
  void shouldTellTheAddressOfItsFirstByteWhenAsked() {
    assumeTrue(Natives.calls() instanceof JnaCalls, "reads the memory from the other side");
    DirectRegion region = DirectRegion.allocate(4096, 100);
    region.buffer().putInt(96, 0x12345678);
    assertEquals(0, region.address() % 4096);
    assertEquals(region.address(), region.address());
    assertEquals(Natives.calls().address(region.buffer()), region.address());
    assertEquals(0x12345678, new Pointer(region.address()).getInt(96));
    region.free();
  }

  @Test
  void shouldTellTheAddressWhenTheMemoryKnowsIt() {
    DirectMemory memory = new CountingMemory(4096);
    assertEquals(4096, DirectRegion.allocate(memory, 64, 100).address());
  }

  @Test
  void shouldFreeOnceWhenFreedTwice() {
    CountingMemory memory = new CountingMemory(0);
    DirectRegion region = DirectRegion.allocate(memory, 64, 100);
    assertFalse(region.isFreed());
    assertEquals("DirectRegion[100 bytes]", region.toString());
    region.free();
    IllegalStateException refused = assertThrows(IllegalStateException.class, region::free);
    assertEquals("region of 100 bytes was freed before", refused.getMessage());
    assertEquals(List.of("owner"), memory.freed);
    assertTrue(region.isFreed());
    assertEquals("DirectRegion[100 bytes, freed]", region.toString());
  }

  @Test
  void shouldBeFreeableAgainWhenTheMemoryWasInUse() {
    CountingMemory memory = new CountingMemory(0);
    DirectRegion region = DirectRegion.allocate(memory, 64, 100);
    memory.busy = true;
    assertEquals("in use", assertThrows(IllegalStateException.class, region::free).getMessage());
    assertFalse(region.isFreed());
    memory.busy = false;
    region.free();
    assertEquals(List.of("owner"), memory.freed);
  }

  @Test
  void shouldShowOneBufferWhenAskedAgain() {
    DirectRegion region = DirectRegion.allocate(64, 100);
    assertSame(region.buffer(), region.buffer());
    assertEquals(100, region.sizeBytes());
    region.free();
  }

  @Test
  void shouldNameArgumentAndBoundWhenArgumentsAreBad() {
    assertEquals(
        "bytes 0 is not from 1 to 2147483647",
        assertThrows(IllegalArgumentException.class, () -> DirectRegion.allocate(64, 0))
            .getMessage());
    assertThrows(IllegalArgumentException.class, () -> DirectRegion.allocate(64, 1L << 31));
    assertEquals(
        "alignment 48 is not a power of two from 1 to 1073741824",
        assertThrows(IllegalArgumentException.class, () -> DirectRegion.allocate(48, 1))
            .getMessage());
    assertThrows(IllegalArgumentException.class, () -> DirectRegion.allocate(0, 1));
    assertThrows(IllegalArgumentException.class, () -> DirectRegion.allocate(Long.MIN_VALUE, 1));
    assertThrows(IllegalArgumentException.class, () -> DirectRegion.allocate(1L << 31, 1));
  }

  @Test
  void shouldReadAsZeroAgainWhenDiscarded() {
    assumeTrue(OperatingSystem.callsNativeSilently(), "needs native calls");
    DirectRegion region = DirectRegion.allocate(64, 1 << 20);
    for (int i = 0; i < 1 << 20; i++) {
      region.buffer().put(i, (byte) 7);
    }
    long gone = region.discard(0, 1 << 20);
    int zeros = 0;
    for (int i = 0; i < 1 << 20; i++) {
      byte value = region.buffer().get(i);
      assertTrue(value == 0 || value == 7);
      zeros += value == 0 ? 1 : 0;
    }
    assertEquals(gone, zeros);
    long page = OperatingSystem.pageSizeBytes();
    assertTrue(gone > (1 << 20) - 2 * page, "discarded " + gone);
    region.populate();
    region.free();
  }
}
