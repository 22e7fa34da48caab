package io.prmalloc.os;

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
  void shouldCountNothingWhenTheSystemRefuses() {
    assumeTrue(
        Runtime.version().feature() >= FIRST_ARENA_JAVA, "this Java has no java.lang.foreign");
    DirectMemory memory = new ArenaBuffers(1L << 60);
    assertThrows(OutOfMemoryError.class, () -> memory.allocate(64, 1L << 60));
    // Would be over the limit if the refused bytes were still counted.
    memory.free(memory.allocate(64, 1).owner());
  }
}
