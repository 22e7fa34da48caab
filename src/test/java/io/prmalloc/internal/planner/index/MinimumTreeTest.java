package io.prmalloc.internal.planner.index;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MinimumTreeTest {

  @Test
  void shouldEqualAWalkWhenNumbersAreRandom() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      long[] numbers = new long[random.nextInt(20)];
      Arrays.fill(numbers, Long.MAX_VALUE);
      MinimumTree tree = new MinimumTree(numbers.length);
      for (int round = 0; round < 60; round++) {
        if (numbers.length > 0) {
          int place = random.nextInt(numbers.length);
          numbers[place] = random.nextInt(5) == 0 ? Long.MAX_VALUE : random.nextInt(10) - 5L;
          tree.set(place, numbers[place]);
        }
        int from = random.nextInt(numbers.length + 1);
        int to = from + random.nextInt(numbers.length + 1 - from);
        long bound = random.nextInt(12) - 6L;

        assertEquals(
            IntStream.range(from, numbers.length)
                .filter(i -> numbers[i] < bound)
                .findFirst()
                .orElse(-1),
            tree.firstBelow(from, bound),
            "seed " + seed);
        assertEquals(
            Arrays.stream(numbers, from, to).min().orElse(Long.MAX_VALUE),
            tree.minimum(from, to),
            "seed " + seed);
      }
    }
  }
}
