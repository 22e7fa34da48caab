package io.prmalloc.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

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
}
