package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** Tests that every way to take direct memory must pass. */
abstract class DirectMemoryContractTest {

  abstract DirectMemory memory();

  @Test
  void shouldGiveAlignedZeroedMemoryWhenAsked() {
    DirectMemory memory = memory();
    for (long alignment = 1; alignment <= 2 << 20; alignment *= 2) {
      for (int bytes : new int[] {1, 7, 4096, 70_001}) {
        DirectMemory.Piece piece = memory.allocate(alignment, bytes);
        ByteBuffer view = piece.view();
        assertTrue(view.isDirect());
        assertEquals(ByteOrder.nativeOrder(), view.order());
        assertEquals(bytes, view.capacity());
        assertEquals(bytes, view.limit());
        assertEquals(0, view.position());
        assertEquals(0, view.alignmentOffset(0, (int) alignment), "alignment " + alignment);
        for (int i = 0; i < bytes; i++) {
          assertEquals(0, view.get(i));
        }
        view.put(bytes - 1, (byte) 1);
        memory.free(piece.owner());
      }
    }
  }

  @Test
  void shouldTellWhatIsLeftOfTheLimitWhenMemoryIsTakenAndFreed() throws InterruptedException {
    DirectMemory memory = memory();
    EarlierTests.awaitTheirMemory();
    long before = memory.bytesAvailable();
    assertTrue(before <= DirectMemory.maxBytes(), before + " bytes");
    DirectMemory.Piece piece = memory.allocate(1, 1 << 20);
    assertEquals(before - (1 << 20), memory.bytesAvailable());
    memory.free(piece.owner());
    assertEquals(before, memory.bytesAvailable());
  }

  @Test
  void shouldGiveMemoryBackAtOnceWhenFreed() throws InterruptedException {
    DirectMemory memory = memory();
    assumeTrue(OperatingSystem.residentBytes() > 0, "resident memory is not told here");
    EarlierTests.awaitTheirMemory();
    long bytes = 256L << 20;
    long before = OperatingSystem.residentBytes();
    DirectMemory.Piece piece = memory.allocate(64, bytes);
    for (int offset = 0; offset < bytes; offset += 1024) {
      piece.view().put(offset, (byte) 1);
    }
    long during = OperatingSystem.residentBytes();
    memory.free(piece.owner());
    long after = OperatingSystem.residentBytes();
    // The collector and the compiler come and go meanwhile; a quarter is theirs.
    assertTrue(during - before >= bytes / 4 * 3, before + " then " + during);
    assertTrue(during - after >= bytes / 4 * 3, during + " then " + after);
  }

  @Test
  void shouldTellTheTrueAddressWhenItTellsOne() {
    assumeTrue(Natives.calls() instanceof JnaCalls, "there is nobody to compare with");
    DirectMemory memory = memory();
    DirectMemory.Piece piece = memory.allocate(4096, 100);
    long address = piece.address();
    assertTrue(address == 0 || address == Natives.calls().address(piece.view()), "" + address);
    memory.free(piece.owner());
  }
}
