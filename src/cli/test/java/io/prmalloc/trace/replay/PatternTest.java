package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
import org.agrona.BufferUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PatternTest {

  private static final long SEED = Pattern.seed(Pattern.stepSeed(1, 2), 3);

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 9, 15, 16, 100})
  void shouldFindEveryByteWhenItIsChanged(int bytes) {
    ByteBuffer buffer = direct(bytes);
    long address = BufferUtil.address(buffer);
    Pattern.fill(address, bytes, SEED);

    assertEquals(-1, Pattern.mismatch(address, bytes, SEED));
    assertEquals(-1, Pattern.mismatch(buffer, SEED));
    for (int offset = 0; offset < bytes; offset++) {
      assertEquals(Pattern.byteAt(SEED, offset), buffer.get(offset));
      buffer.put(offset, (byte) ~buffer.get(offset));
      assertEquals(offset, Pattern.mismatch(address, bytes, SEED));
      assertEquals(offset, Pattern.mismatch(buffer, SEED));
      buffer.put(offset, (byte) ~buffer.get(offset));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 13, 64})
  void shouldWriteTheSameBytesWhenFillingThroughABuffer(int bytes) {
    ByteBuffer byAddress = direct(bytes);
    ByteBuffer byBuffer = direct(bytes);
    Pattern.fill(BufferUtil.address(byAddress), bytes, SEED);
    Pattern.fill(byBuffer, SEED);

    assertEquals(byAddress, byBuffer);
  }

  @Test
  void shouldWriteNothingBehindWhenFilling() {
    ByteBuffer buffer = direct(16);
    Pattern.fill(BufferUtil.address(buffer), 11, SEED);

    assertEquals(0, buffer.get(11));
    assertEquals(0, buffer.getInt(12));
  }

  @Test
  void shouldDifferWhenThreadStepOrTensorDiffers() {
    Set<Long> seeds = new HashSet<>();
    for (int thread = 0; thread < 10; thread++) {
      for (int step = 0; step < 10; step++) {
        for (int tensor = 0; tensor < 10; tensor++) {
          seeds.add(Pattern.seed(Pattern.stepSeed(thread, step), tensor));
        }
      }
    }

    assertEquals(1000, seeds.size());
  }

  @Test
  void shouldNotMatchWhenTheBytesAreShifted() {
    ByteBuffer buffer = direct(4096);
    Pattern.fill(buffer, SEED);
    for (int shift = 1; shift < 64; shift++) {
      ByteBuffer shifted = buffer.slice(shift, 1024).order(ByteOrder.nativeOrder());

      assertNotEquals(-1, Pattern.mismatch(shifted, SEED));
    }
  }

  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }
}
