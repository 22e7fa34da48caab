package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class ArenaBuffersTest extends DirectMemoryContractTest {

  private static final int FIRST_ARENA_JAVA = 22;

  @Override
  DirectMemory memory() {
    assumeTrue(
        Runtime.version().feature() >= FIRST_ARENA_JAVA, "this Java has no java.lang.foreign");
    return new ArenaBuffers(512 << 20);
  }

  @Test
  void shouldBeChosenWhenThereIsNoFlagAndUnsafeWarns() {
    assumeTrue(
        Runtime.version().feature() >= FIRST_ARENA_JAVA, "this Java has no java.lang.foreign");
    assertInstanceOf(ArenaBuffers.class, DirectMemory.choose(false, 24));
  }

  @Test
  void shouldNameTheFlagWhenThereIsNoArena() {
    assumeTrue(Runtime.version().feature() < 21, "this Java has java.lang.foreign");
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> new ArenaBuffers(1));
    assertTrue(refused.getMessage().contains(AgronaAccess.FLAG), refused.getMessage());
  }

  @Test
  void shouldRefuseAccessWhenFreed() {
    DirectMemory memory = memory();
    DirectMemory.Piece piece = memory.allocate(64, 100);
    ByteBuffer slice = piece.view().slice(10, 20);
    memory.free(piece.owner());
    assertThrows(IllegalStateException.class, () -> slice.get(0));
  }

  @Test
  void shouldThrowOutOfMemoryAndGoOnWhenTheLimitIsReached() {
    assumeTrue(
        Runtime.version().feature() >= FIRST_ARENA_JAVA, "this Java has no java.lang.foreign");
    DirectMemory memory = new ArenaBuffers(1000);
    for (int i = 0; i < 3; i++) {
      DirectMemory.Piece piece = memory.allocate(64, 600);
      assertEquals(
          "cannot reserve 401 bytes of direct memory: 600 reserved, MaxDirectMemorySize 1000",
          assertThrows(OutOfMemoryError.class, () -> memory.allocate(64, 401)).getMessage());
      memory.free(memory.allocate(64, 400).owner());
      memory.free(piece.owner());
    }
  }

  @Test
  void shouldGiveDroppedMemoryBackWhenTheLimitIsReached() {
    assumeTrue(
        Runtime.version().feature() >= FIRST_ARENA_JAVA, "this Java has no java.lang.foreign");
    DirectMemory memory = new ArenaBuffers(1000);
    memory.allocate(64, 600);
    DirectMemory.Piece last;
    try {
      last = memory.allocate(64, 600);
    } catch (OutOfMemoryError notGivenBack) {
      // JUnit would end with it.
      throw new AssertionError(notGivenBack);
    }
    assertEquals(400, memory.bytesAvailable());
    memory.free(last.owner());
    assertEquals(1000, memory.bytesAvailable());
  }

  @Test
  void shouldKeepDroppedMemoryWhenASliceIsInUse() {
    assumeTrue(
        Runtime.version().feature() >= FIRST_ARENA_JAVA, "this Java has no java.lang.foreign");
    DirectMemory memory = new ArenaBuffers(1000);
    ByteBuffer slice = memory.allocate(64, 600).view().slice(100, 200).slice(10, 20);
    slice.put(0, (byte) 7);
    assertThrows(OutOfMemoryError.class, () -> memory.allocate(64, 600));
    assertEquals(7, slice.get(0));
  }

  @Test
  void shouldCountOnceWhenFreedMemoryIsCollected() {
    assumeTrue(
        Runtime.version().feature() >= FIRST_ARENA_JAVA, "this Java has no java.lang.foreign");
    DirectMemory memory = new ArenaBuffers(1000);
    memory.free(memory.allocate(64, 600).owner());
    // Runs the collector.
    assertThrows(OutOfMemoryError.class, () -> memory.allocate(64, 1001));
    assertEquals(1000, memory.bytesAvailable());
  }

  @Test
  void shouldCountNothingWhenTheSystemRefuses() {
    assumeTrue(
        Runtime.version().feature() >= FIRST_ARENA_JAVA, "this Java has no java.lang.foreign");
    DirectMemory memory = new ArenaBuffers(1L << 60);
    assertThrows(OutOfMemoryError.class, () -> memory.allocate(64, 1L << 60));
    // Would be over the limit if the refused bytes were still counted.
    memory.free(memory.allocate(64, 1).owner());
  }
}
