package io.prmalloc.internal.planner;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.planner.index.FreeRectangles;
import io.prmalloc.internal.planner.index.GapIndex;
import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.internal.planner.index.OffsetIndex;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.Records;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk-independent")
class GreedyBySizeOffsetsTest {

  /** The rule word by word: every tensor walks over every placed one. */
  private static long[] plain(List<TensorUsageRecord> records, long alignment) {
    List<Integer> order =
        IntStream.range(0, records.size())
            .boxed()
            .sorted(Comparator.comparingLong(i -> records.get(i).firstTask()))
            .sorted(Comparator.<Integer>comparingLong(i -> records.get(i).sizeBytes()).reversed())
            .toList();
    long[] offsets = new long[records.size()];
    List<Integer> placed = new ArrayList<>();
    for (int tensor : order) {
      long size = records.get(tensor).sizeBytes();
      long prev = 0;
      long best = -1;
      long bestGap = Long.MAX_VALUE;
      for (int other : placed) {
        if (!records.get(other).overlaps(records.get(tensor))) {
          continue;
        }
        long gap = offsets[other] - prev;
        if (gap >= size && gap >= 0 && gap < bestGap) {
          best = prev;
          bestGap = gap;
        }
        long end = offsets[other] + records.get(other).sizeBytes();
        prev = Math.max(prev, (end + alignment - 1) / alignment * alignment);
      }
      offsets[tensor] = best >= 0 ? best : prev;
      int at = 0;
      while (at < placed.size() && offsets[placed.get(at)] <= offsets[tensor]) {
        at++;
      }
      placed.add(at, tensor);
    }
    return offsets;
  }

  @Test
  void shouldEqualThePlainRuleWhenLivesAreRandom() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 1500; round++) {
      int tasks = 1 + random.nextInt(1 << random.nextInt(9));
      int longest = 1 + random.nextInt(1 + random.nextInt(2) * tasks);
      List<TensorUsageRecord> records = Records.random(random, random.nextInt(250), tasks, longest);
      long alignment = 1L << random.nextInt(10);
      // From no columns to more than there are tensors to fill them.
      int power = random.nextInt(12) - 4;
      double columnsPerLife = power == 0 ? GapIndex.AUTOMATIC : Math.pow(2, power);
      String what =
          "seed " + seed + ", round " + round + ", alignment " + alignment + ", " + columnsPerLife;

      OffsetsAssignment plan =
          GreedyBySizeOffsets.assign(
              records, alignment, (lives, least) -> new GapIndex(lives, least, columnsPerLife));
      OffsetsAssignment other = GreedyBySizeOffsets.assign(records, alignment, FreeRectangles::new);

      long[] plain = plain(records, alignment);
      assertArrayEquals(plain, plan.offsets(), what);
      assertArrayEquals(plain, other.offsets(), what);
      assertEquals(Optional.empty(), PlanValidator.fault(records, plan), what);
    }
  }

  /** Enough tensors that lists have many chunks, which split and vanish. */
  @Test
  void shouldEqualThePlainRuleWhenTensorsAreMany() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int longest : new int[] {3, 40, 700, 3000}) {
      List<TensorUsageRecord> records = new ArrayList<>();
      for (int i = 0; i < 3000; i++) {
        long first = random.nextInt(3000);
        records.add(
            new TensorUsageRecord(
                1 + random.nextInt(1000), first, first + random.nextInt(longest)));
      }

      long[] plain = plain(records, 1);
      String what = "seed " + seed + ", longest " + longest;
      assertArrayEquals(
          plain, MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1).offsets(), what);
      assertArrayEquals(
          plain, GreedyBySizeOffsets.assign(records, 1, FreeRectangles::new).offsets(), what);
    }
  }

  /** First and last task uniformly random, so that a third of all tensors is alive at once. */
  @Test
  void shouldEqualThePlainRuleWhenMostTensorsAreAliveAtOnce() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    // From sizes that all differ to three, where many tensors share a floor or a roof.
    for (int sizes : new int[] {1 << 20, 100, 3}) {
      for (int tasks : new int[] {2500, 50, 4}) {
        List<TensorUsageRecord> records = new ArrayList<>();
        for (int i = 0; i < 2500; i++) {
          int one = random.nextInt(tasks);
          int other = random.nextInt(tasks);
          records.add(
              new TensorUsageRecord(
                  64L * (1 + random.nextInt(sizes)), Math.min(one, other), Math.max(one, other)));
        }

        OffsetsAssignment plan = GreedyBySizeOffsets.assign(records, 64, FreeRectangles::new);

        assertArrayEquals(
            plain(records, 64),
            plan.offsets(),
            "seed " + seed + ", sizes " + sizes + ", tasks " + tasks);
      }
    }
  }

  /** An index that has enough of it after some tensors. */
  private record Quitter(OffsetIndex index, AtomicInteger left) implements OffsetIndex {

    @Override
    public long find(int tensor, long size) {
      left.decrementAndGet();
      return index.find(tensor, size);
    }

    @Override
    public void occupy(int tensor, long offset, long size) {
      index.occupy(tensor, offset, size);
    }

    @Override
    public boolean isOverwhelmed() {
      return left.get() == 0;
    }
  }

  @Test
  void shouldGoOnWithGapListsWhenAnIndexIsOverwhelmed() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 100; round++) {
      List<TensorUsageRecord> records = Records.random(random, 150, 80, 60);
      AtomicInteger left = new AtomicInteger(random.nextInt(120));
      String what = "seed " + seed + ", round " + round + ", after " + left;

      OffsetsAssignment plan =
          GreedyBySizeOffsets.assign(
              records, 8, (lives, least) -> new Quitter(new FreeRectangles(lives, least), left));

      assertTrue(left.get() <= 0, what);
      assertArrayEquals(plain(records, 8), plan.offsets(), what);
    }
  }

  @Test
  void shouldTakeRectanglesWhenManyTensorsAreAlive() {
    List<TensorUsageRecord> few = Records.random(new Random(1), 8000, 8000, 100);
    List<TensorUsageRecord> many = Records.random(new Random(1), 8000, 100, 8000);

    assertInstanceOf(GapIndex.class, GreedyBySizeOffsets.suitableIndex(new Lives(few), 1));
    assertInstanceOf(FreeRectangles.class, GreedyBySizeOffsets.suitableIndex(new Lives(many), 1));
  }

  @Test
  void shouldGiveTensorsOfSizeZeroAnOffsetWhenAllAreEmpty() {
    OffsetsAssignment plan =
        MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(Records.of(0, 0, 5, 0, 3, 9), 64);

    assertArrayEquals(new long[] {0, 0}, plan.offsets());
    assertEquals(0, plan.totalBytes());
  }

  /** In task 5 lie 10 to 20 and 30 to 40; both gaps below are equally small, and none is 0. */
  @Test
  void shouldTakeTheLowestOfEqualGapsWhenATensorIsEmpty() {
    List<TensorUsageRecord> records = Records.of(0, 5, 5, 10, 6, 6, 10, 5, 6, 10, 6, 6, 10, 5, 6);
    int[] order = {1, 2, 3, 4, 0};

    OffsetsAssignment plan = BestFitOffsets.assign(records, order, 1);

    assertArrayEquals(new long[] {0, 0, 10, 20, 30}, plan.offsets());
  }

  @Test
  void shouldRefuseWhenRoundedSizesOverflow() {
    List<TensorUsageRecord> records = Records.of(Long.MAX_VALUE - 1, 0, 0, 1, 1, 1);

    assertEquals(
        Long.MAX_VALUE - 1, MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1).totalBytes());
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () -> MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 64));
    assertTrue(e.getMessage().contains("passes 2^63 - 1"), e.getMessage());
    e =
        assertThrows(
            IllegalArgumentException.class,
            () -> MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 48));
    assertEquals("alignment 48 is not a power of two from 1 to 1073741824", e.getMessage());
  }
}
