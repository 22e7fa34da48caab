package io.prmalloc.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LowerBoundsTest {

  @Test
  void shouldBeZeroWhenThereAreNoTensors() {
    assertEquals(0, LowerBounds.loadBytes(List.of()));
    assertEquals(0, LowerBounds.objectsBytes(List.of()));
  }

  @Test
  void shouldRefuseWhenSizesOverflowTogether() {
    List<TensorUsageRecord> records = Records.of(Long.MAX_VALUE, 0, 0, 1, 5, 5);

    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> LowerBounds.loadBytes(records));

    assertEquals("size 1 of tensor 1 takes the sum of all sizes over 2^63 - 1", e.getMessage());
  }

  /** Every task is looked at, and its tensors sorted. */
  @Test
  void shouldAgreeWithEveryTaskWhenLivesAreRandom() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 500; round++) {
      int tasks = 1 + random.nextInt(20);
      List<TensorUsageRecord> records =
          Records.random(random, random.nextInt(30), tasks, 1 + random.nextInt(10));
      long load = 0;
      List<Long> maxima = new ArrayList<>();
      for (int task = 0; task < 40; task++) {
        List<Long> live = new ArrayList<>();
        for (TensorUsageRecord record : records) {
          if (record.firstTask() <= task && task <= record.lastTask()) {
            live.add(record.sizeBytes());
          }
        }
        load = Math.max(load, live.stream().mapToLong(Long::longValue).sum());
        live.sort(Collections.reverseOrder());
        for (int k = 0; k < live.size(); k++) {
          if (k == maxima.size()) {
            maxima.add(0L);
          }
          maxima.set(k, Math.max(maxima.get(k), live.get(k)));
        }
      }

      assertEquals(load, LowerBounds.loadBytes(records), "seed " + seed);
      assertArrayEquals(
          maxima.stream().mapToLong(Long::longValue).toArray(),
          LowerBounds.positionalMaxima(records),
          "seed " + seed);
    }
  }
}
