package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

class UnsafeCleanedBuffersTest extends DirectMemoryContractTest {

  @Override
  DirectMemory memory() {
    assumeTrue(
        Runtime.version().feature() < DirectMemory.FIRST_WARNING_JAVA,
        "this Java warns of sun.misc.Unsafe, so it is not used");
    return CleanedBuffers.throughUnsafe();
  }

  @Test
  void shouldBeChosenWhenThereIsNoFlagAndJavaIsSilent() {
    assertInstanceOf(CleanedBuffers.class, DirectMemory.choose(false, 17));
    assertInstanceOf(CleanedBuffers.class, DirectMemory.choose(false, 23));
  }
}
