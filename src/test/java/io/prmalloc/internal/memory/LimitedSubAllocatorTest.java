package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.os.DirectRegion;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class LimitedSubAllocatorTest {

  /** Takes direct regions until it is told to refuse. */
  private static final class Refusing extends LimitedSubAllocator {
    Throwable refusal;

    Refusing(long limitBytes) {
      super(limitBytes);
    }

    @Override
    long regionBytes(long alignment, long bytes) {
      return bytes;
    }

    @Override
    MemoryRegion take(long alignment, long bytes) {
      if (refusal instanceof Error error) {
        throw error;
      }
      if (refusal instanceof RuntimeException exception) {
        throw exception;
      }
      return DirectRegion.allocate(alignment, bytes);
    }
  }

  @Test
  void shouldSayWhatIsReservedAndGiveBackItsClaimWhenTheSystemHasNoMemory() {
    Refusing source = new Refusing(10_000);
    MemoryRegion region = source.alloc(64, 4000);
    source.refusal = new OutOfMemoryError("none left");
    OutOfNativeMemoryException refused =
        assertThrows(OutOfNativeMemoryException.class, () -> source.alloc(64, 5000));
    assertSame(source.refusal, refused.getCause());
    assertEquals(5000, refused.requestedBytes());
    assertEquals(4000, refused.reservedBytes());
    assertEquals(OptionalLong.of(10_000), refused.limitBytes());
    assertEquals(4000, source.bytesReserved());
    source.refusal = null;
    source.free(source.alloc(64, 6000));
    source.free(region);
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldPassOnAndGiveBackItsClaimWhenTheSystemFailsOtherwise() {
    Refusing source = new Refusing(LimitedSubAllocator.NO_LIMIT);
    source.refusal = new UnsupportedOperationException("no such call");
    assertSame(
        source.refusal,
        assertThrows(UnsupportedOperationException.class, () -> source.alloc(64, 5000)));
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldKeepTheRegionOnItsBooksWhenItWasFreedBehindItsBack() {
    Refusing source = new Refusing(LimitedSubAllocator.NO_LIMIT);
    MemoryRegion region = source.alloc(64, 100);
    region.free();
    assertThrows(IllegalStateException.class, () -> source.free(region));
    assertEquals(100, source.bytesReserved());
  }
}
