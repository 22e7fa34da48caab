package io.prmalloc.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LifetimePolicyTest {

  private static final int KIB = 1024;

  @ParameterizedTest
  @ValueSource(ints = {4096, 8192, 16384})
  void shouldNumberClassesWhenSizesTouchTheirBounds(int interval) {
    assertEquals(0, LifetimePolicy.index(LifetimePolicy.SMALL_BYTES + 1, interval));
    assertEquals(0, LifetimePolicy.index(LifetimePolicy.SMALL_BYTES + interval, interval));
    assertEquals(1, LifetimePolicy.index(LifetimePolicy.SMALL_BYTES + interval + 1, interval));
    for (int index : new int[] {0, 1, 7, 8183, 100_000}) {
      long chunk = LifetimePolicy.chunkBytes(index, interval);
      assertEquals(index, LifetimePolicy.index(chunk, interval));
      assertEquals(index + 1, LifetimePolicy.index(chunk + 1, interval));
    }
  }

  @Test
  void shouldReuseABlockWhenLivesFollowEachOther() {
    LifetimePolicy policy = new LifetimePolicy(4096);
    policy.add(new AllocStats(0, 1, 40 * KIB, 64));
    policy.add(new AllocStats(2, 3, 40 * KIB, 64));
    assertFalse(policy.bestFit());
    assertEquals(40 * KIB, policy.totalBytes());

    policy.add(new AllocStats(4, 5, 40 * KIB, 64));
    assertTrue(policy.bestFit());
    assertEquals(1, policy.bins().get(0).blocks().size());
  }

  @Test
  void shouldBorrowFromALargerBinWhenItsBlockIsFree() {
    LifetimePolicy policy = new LifetimePolicy(4096);
    policy.add(new AllocStats(0, 1, 80 * KIB, 64));
    policy.add(new AllocStats(2, 3, 40 * KIB, 64));
    policy.bestFit();
    LifetimeBin small = policy.bins().get(0);
    assertEquals(List.of(), small.blocks());
    assertEquals(80 * KIB, small.virtualBlocks().get(0).chunkBytes());
    assertEquals(80 * KIB, policy.totalBytes());
  }

  @Test
  void shouldKeepTheLargestAlignmentWhenSeveralAreAsked() {
    LifetimePolicy policy = new LifetimePolicy(4096);
    policy.add(new AllocStats(0, 1, 40 * KIB, 4096));
    policy.add(new AllocStats(2, 3, 40 * KIB, 16));
    policy.bestFit();
    assertEquals(4096, policy.bins().get(0).alignment());
  }

  @Test
  void shouldPreferTheFirstPolicyWhenTotalsAreEqual() {
    LifetimePolicy first = new LifetimePolicy(4096);
    LifetimePolicy second = new LifetimePolicy(8192);
    assertEquals(first, LifetimePolicy.best(List.of(first, second)));
    assertThrows(IllegalArgumentException.class, () -> LifetimePolicy.best(List.of()));
  }

  @Test
  void shouldRefuseWhenArgumentsAreOutOfBounds() {
    LifetimePolicy policy = new LifetimePolicy(4096);
    Exception small =
        assertThrows(
            IllegalArgumentException.class, () -> policy.add(new AllocStats(0, 1, 32 * KIB, 64)));
    assertTrue(small.getMessage().contains("32768"), small.getMessage());
    for (int interval : new int[] {0, -4096, 32, 5000, 64 * KIB}) {
      assertThrows(IllegalArgumentException.class, () -> new LifetimePolicy(interval));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldPackAsThePlainRulesDoWhenLivesAreRandom(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int interval = 4096 << random.nextInt(3);
    LifetimePolicy policy = new LifetimePolicy(interval);
    PlainPolicy plain = new PlainPolicy(interval);
    long tick = 0;
    for (int step = 0; step < 6; step++) {
      // Half of the seeds let steps reach back over each other, as concurrent ones do.
      long begin = seed % 2 == 0 ? tick : Math.max(0, tick - 150);
      List<AllocStats> lives = randomStep(random, begin, 300);
      tick = begin + 700;
      if (seed % 2 == 0) {
        policy.forgetBefore(begin);
      }
      for (AllocStats life : lives) {
        policy.add(life);
        plain.add(life);
      }
      assertEquals(plain.bestFit(), policy.bestFit(), "seed " + seed + " step " + step);
      assertEquals(plain.describe(), describe(policy), "seed " + seed + " step " + step);
    }
  }

  private static List<AllocStats> randomStep(SplittableRandom random, long begin, int count) {
    List<AllocStats> lives = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long from = begin + random.nextInt(600);
      long to = from + random.nextInt(random.nextInt(1, 100));
      long size = 32 * KIB + 1 + random.nextLong(random.nextBoolean() ? 64 * KIB : 80 << 20);
      lives.add(new AllocStats(from, to, size, 64));
    }
    lives.sort(Comparator.comparingLong(AllocStats::endTick));
    return lives;
  }

  private static String describe(LifetimePolicy policy) {
    StringBuilder text = new StringBuilder();
    for (LifetimeBin bin : policy.bins()) {
      text.append(bin.index()).append(':').append(bin.blocks().size());
      for (LifetimeBin larger : bin.virtualBlocks()) {
        text.append(' ').append(larger.index());
      }
      text.append('\n');
    }
    return text.toString();
  }

  /** The rules as the design states them, every question answered by a walk over everything. */
  private static final class PlainPolicy {
    private final int interval;
    private final TreeMap<Integer, List<List<AllocStats>>> blocks = new TreeMap<>();
    private final TreeMap<Integer, List<Integer>> virtual = new TreeMap<>();
    private final TreeMap<Integer, ArrayDeque<AllocStats>> collected = new TreeMap<>();

    PlainPolicy(int interval) {
      this.interval = interval;
    }

    void add(AllocStats life) {
      int index = (int) ((life.sizeBytes() - 32 * KIB - 1) / interval);
      collected.computeIfAbsent(index, i -> new ArrayDeque<>()).add(life);
      blocks.computeIfAbsent(index, i -> new ArrayList<>());
      virtual.computeIfAbsent(index, i -> new ArrayList<>());
    }

    boolean bestFit() {
      boolean stable = true;
      for (Map.Entry<Integer, ArrayDeque<AllocStats>> bin : collected.descendingMap().entrySet()) {
        for (AllocStats life : bin.getValue()) {
          Integer taker = firstTaker(bin.getKey(), life);
          if (taker == null) {
            blocks.get(bin.getKey()).add(new ArrayList<>(List.of(life)));
            stable = false;
          } else if (!taker.equals(bin.getKey())) {
            virtual.get(bin.getKey()).add(taker);
          }
        }
      }
      collected.clear();
      return stable;
    }

    private Integer firstTaker(int index, AllocStats life) {
      for (Map.Entry<Integer, List<List<AllocStats>>> bin : blocks.tailMap(index).entrySet()) {
        for (List<AllocStats> block : bin.getValue()) {
          if (block.stream().noneMatch(other -> meets(life, other))) {
            block.add(life);
            return bin.getKey();
          }
        }
      }
      return null;
    }

    private static boolean meets(AllocStats a, AllocStats b) {
      boolean equalEnds =
          a.beginTick() == b.beginTick()
              || a.beginTick() == b.endTick()
              || a.endTick() == b.beginTick()
              || a.endTick() == b.endTick();
      return equalEnds
          || inside(a.beginTick(), b)
          || inside(a.endTick(), b)
          || inside(b.beginTick(), a)
          || inside(b.endTick(), a);
    }

    private static boolean inside(long tick, AllocStats life) {
      return life.beginTick() < tick && tick < life.endTick();
    }

    String describe() {
      StringBuilder text = new StringBuilder();
      for (Integer index : blocks.keySet()) {
        if (blocks.get(index).isEmpty() && virtual.get(index).isEmpty()) {
          continue;
        }
        text.append(index).append(':').append(blocks.get(index).size());
        virtual.get(index).forEach(target -> text.append(' ').append(target));
        text.append('\n');
      }
      return text.toString();
    }
  }
}
