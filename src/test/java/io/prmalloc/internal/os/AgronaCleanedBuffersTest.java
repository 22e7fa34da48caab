package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.MemoryRegion;
import org.junit.jupiter.api.Test;

class AgronaCleanedBuffersTest extends DirectMemoryContractTest {

  @Override
  DirectMemory memory() {
    assumeTrue(AgronaAccess.isAvailable(), "this JVM runs without " + AgronaAccess.FLAG);
    return CleanedBuffers.throughAgrona();
  }

  @Test
  void shouldBeChosenWhenTheFlagIsThere() {
    assertInstanceOf(CleanedBuffers.class, DirectMemory.choose(true, 17));
    assertInstanceOf(CleanedBuffers.class, DirectMemory.choose(true, 25));
  }

  @Test
  void shouldNameBothNumbersWhenThereIsNoRoomToAlign() {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> memory().allocate(64, MemoryRegion.MAX_BYTES - 62));
    assertEquals(
        "bytes 2147483585 with room to align to 64 exceed 2147483647, the most one buffer can hold",
        refused.getMessage());
  }
}
