package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.util.List;
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

  /** Gives nothing if there is a refusal, as a native image does that was built by its defaults. */
  private static DirectMemory fake(Throwable refusal) {
    return new DirectMemory() {
      @Override
      public Piece allocate(long alignment, long bytes) {
        if (refusal != null) {
          throw Rethrow.unchecked(refusal);
        }
        return new Piece(ByteBuffer.allocateDirect(1), this, 0);
      }

      @Override
      public void free(Object owner) {
        assertSame(this, owner);
      }

      @Override
      public long bytesAvailable() {
        return 0;
      }
    };
  }

  @Test
  void shouldStandInWhereSharedArenasAreRefused() {
    DirectMemory stand = fake(null);
    for (Throwable refusal :
        List.of(
            new UnsupportedOperationException(), new LinkageError(), new Error("an image's own"))) {
      assertSame(stand, DirectMemory.usableElse(fake(refusal), () -> stand));
    }
    DirectMemory full = fake(new OutOfMemoryError());
    assertSame(full, DirectMemory.usableElse(full, () -> stand));
    DirectMemory works = fake(null);
    assertSame(works, DirectMemory.usableElse(works, () -> stand));
  }
}
