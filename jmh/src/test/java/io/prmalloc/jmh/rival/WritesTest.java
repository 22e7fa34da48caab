package io.prmalloc.jmh.rival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.trace.replay.Touch;
import java.util.function.LongPredicate;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;

class WritesTest {

  private static final int BYTES = 3 * 4096 + 16;
  private static final byte OLD = 0x55;
  private static final long VALUE = 0x1111111111111111L;

  /** Writes into old memory and checks of each byte whether it is new. */
  private static void check(Touch touch, LongPredicate written) {
    long address = UnsafeApi.allocateMemory(BYTES + 1);
    try {
      UnsafeApi.setMemory(address, BYTES + 1, OLD);
      assertEquals(VALUE, Writes.touch(touch, address, BYTES, VALUE));
      for (long offset = 0; offset <= BYTES; offset++) {
        byte expected = offset < BYTES && written.test(offset) ? (byte) VALUE : OLD;
        assertEquals(expected, UnsafeApi.getByte(address + offset), touch + " at " + offset);
      }
    } finally {
      UnsafeApi.freeMemory(address);
    }
  }

  @Test
  void shouldWriteWhatIsAskedForWhenTouched() {
    check(Touch.NONE, offset -> false);
    check(Touch.FIRST, offset -> offset < 8);
    check(Touch.PAGE, offset -> offset % 4096 < 8);
    check(Touch.ALL, offset -> true);
  }

  @Test
  void shouldRefuseWhatIsNotWhatWasWritten() {
    Writes.checkRead(VALUE, VALUE);
    IllegalStateException failure =
        assertThrows(IllegalStateException.class, () -> Writes.checkRead(1, 2));
    assertEquals("read 1 where 2 was written", failure.getMessage());
  }
}
