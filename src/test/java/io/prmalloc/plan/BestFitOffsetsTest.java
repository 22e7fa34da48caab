package io.prmalloc.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.internal.planner.BestFitOffsets;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BestFitOffsetsTest {

  @Test
  void shouldBeGreedyBySizeWhenTheOrderIsBySize() {
    for (int seed = 0; seed < 30; seed++) {
      List<TensorUsageRecord> records = Records.random(new Random(seed), 100, 60, 20);
      // Ties go by first task, as in the strategy.
      int[] order =
          IntStream.range(0, records.size())
              .boxed()
              .sorted(
                  Comparator.<Integer>comparingLong(i -> -records.get(i).sizeBytes())
                      .thenComparingLong(i -> records.get(i).firstTask())
                      .thenComparingInt(i -> i))
              .mapToInt(Integer::intValue)
              .toArray();

      OffsetsAssignment plan = BestFitOffsets.assign(records, order, 64);

      assertEquals(MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 64), plan, "seed " + seed);
    }
  }

  @Test
  void shouldBeAPlanWhateverTheOrder() {
    for (int seed = 0; seed < 30; seed++) {
      List<TensorUsageRecord> records = Records.random(new Random(seed), 100, 60, 20);
      int[] shuffled = IntStream.range(0, 100).map(i -> (i * 37 + 11) % 100).toArray();

      OffsetsAssignment plan = BestFitOffsets.assign(records, shuffled, 8);

      assertEquals(Optional.empty(), PlanValidator.fault(records, plan), "seed " + seed);
    }
  }

  @Test
  void shouldSayWhatIsWrongWhenTheOrderIsNone() {
    List<TensorUsageRecord> records = Records.of(1, 0, 0, 2, 0, 0);
    assertEquals(
        "the order has 1 tensors; there are 2",
        assertThrows(
                IllegalArgumentException.class,
                () -> BestFitOffsets.assign(records, new int[] {0}, 1))
            .getMessage());
    for (int wrong : new int[] {-1, 0, 2}) {
      assertEquals(
          "tensor " + wrong + " of the order is not from 0 to 1, or twice",
          assertThrows(
                  IllegalArgumentException.class,
                  () -> BestFitOffsets.assign(records, new int[] {0, wrong}, 1))
              .getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0  | 0 | 8 | alignment 0 is not a power of two from 1 to 1073741824",
        "8  | 4 | 8 | offset 4 of tensor 0 is not a multiple of 8 from 0",
        "8  | -8 | 8 | offset -8 of tensor 0 is not a multiple of 8 from 0",
        "8  | 0 | 0 | size 0 of tensor 1 is less than 1",
        "8  | 0 | 9223372036854775800 | offset 8 with 9223372036854775800 bytes behind it passes"
            + " 2^63 - 1",
      })
  void shouldSayWhatIsWrongWhenPlacedTensorsAreNone(
      long alignment, long offset, long size, String message) {
    List<TensorUsageRecord> records = Records.of(1, 0, 0, size, 0, 0);
    assertEquals(
        message,
        assertThrows(
                IllegalArgumentException.class,
                () -> BestFitOffsets.extend(records, new long[] {offset}, alignment))
            .getMessage());
  }

  @Test
  void shouldSayWhatIsWrongWhenMoreArePlacedThanThereAre() {
    assertEquals(
        "there are 1 offsets for 0 tensors",
        assertThrows(
                IllegalArgumentException.class,
                () -> BestFitOffsets.extend(List.of(), new long[1], 1))
            .getMessage());
  }

  @Test
  void shouldPlaceNothingWhenAllHaveOffsets() {
    assertArrayEquals(new long[0], BestFitOffsets.extend(List.of(), new long[0], 1));
    assertArrayEquals(new long[0], BestFitOffsets.extend(Records.of(1, 0, 0), new long[] {64}, 64));
  }

  @Test
  void shouldPreferTheFirstGapWithoutPaddingElseTheLast() {
    // Tensors of 50 and 64 bytes below equally small gaps.
    List<TensorUsageRecord> records =
        Records.of(50, 0, 9, 64, 0, 9, 64, 0, 9, 64, 0, 9, 64, 0, 9, 64, 0, 9);
    assertArrayEquals(
        new long[] {192, 320}, BestFitOffsets.extend(records, new long[] {0, 128, 256, 384}, 64));
    List<TensorUsageRecord> padded =
        Records.of(50, 0, 9, 50, 0, 9, 50, 0, 9, 50, 0, 9, 50, 0, 9, 50, 0, 9);
    assertArrayEquals(
        new long[] {320, 192}, BestFitOffsets.extend(padded, new long[] {0, 128, 256, 384}, 64));
  }
}
