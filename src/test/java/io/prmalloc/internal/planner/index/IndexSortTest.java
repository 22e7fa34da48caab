package io.prmalloc.internal.planner.index;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class IndexSortTest {

  @Test
  void shouldBeStableWhenKeysAreEqual() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 500; round++) {
      int bound = 1 + random.nextInt(100);
      long[] keys = random.ints(random.nextInt(70), 0, bound).mapToLong(key -> key).toArray();
      Comparator<Integer> order = Comparator.comparingLong(i -> keys[i]);

      assertArrayEquals(sorted(keys.length, order), IndexSort.ascending(keys), "seed " + seed);
      assertArrayEquals(
          sorted(keys.length, order.reversed()), IndexSort.descending(keys), "seed " + seed);
    }
  }

  private static int[] sorted(int count, Comparator<Integer> order) {
    return IntStream.range(0, count).boxed().sorted(order).mapToInt(i -> i).toArray();
  }

  @Test
  void shouldNotOverflowWhenKeysAreExtreme() {
    long[] keys = {0, Long.MAX_VALUE, Long.MIN_VALUE, -1};

    assertArrayEquals(new int[] {2, 3, 0, 1}, IndexSort.ascending(keys));
    assertArrayEquals(new int[] {1, 0, 3, 2}, IndexSort.descending(keys));
  }
}
