package io.prmalloc.internal.poolplan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.Arena;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.pool.Steps;
import io.prmalloc.pool.Steps.Event;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("jdk-independent")
class RehearsalTest {

  private static final int KIB = 1024;
  private static final long[] CACHE_LINE = {64};

  /** Nothing here is touched, so large plans cost no memory. */
  private final SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);

  private static int[] planned(LifetimePlan plan) {
    return plan.bins().stream().mapToInt(BinPlan::blocks).toArray();
  }

  private static int[] rehearsed(LifetimePlan plan, double maxOversize) {
    return new Rehearsal(plan, maxOversize).run();
  }

  /** Runs steps through a pool with so many blocks; how many requests find none. */
  private int misses(LifetimePlan plan, int[] blocks, double maxOversize, List<Event> events) {
    BinTable table =
        BinTable.build(
            plan,
            blocks,
            maxOversize,
            source,
            new Arena.Layout(Arena.MAX_CHUNK_BYTES, 1),
            region -> {});
    int misses = 0;
    Map<Integer, PooledBlock> out = new HashMap<>();
    for (Event event : events) {
      if (event.begins()) {
        PooledBlock block = take(table, event);
        if (block == null) {
          misses++;
        } else {
          assertTrue(block.capacityBytes() >= event.bytes());
          block.openRaw(event.bytes(), 0);
          out.put(event.tensor(), block);
        }
      } else if (out.containsKey(event.tensor())) {
        assertTrue(out.remove(event.tensor()).closeRaw());
      }
    }
    table.free();
    assertEquals(0, source.bytesReserved());
    return misses;
  }

  /** The way of TensorPoolAllocator. */
  private static PooledBlock take(BinTable table, Event event) {
    int alignment = (int) event.alignment();
    PooledBlock block = alignment > BinTable.MIN_ALIGNMENT ? null : table.take(event.bytes());
    return block != null ? block : table.takeSlowly(event.bytes(), alignment);
  }

  private static List<Event> repeated(List<Event> step, int times) {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      events.addAll(step);
      // What outlives the step is freed before the next.
      List<Integer> out = new ArrayList<>();
      for (Event event : step) {
        if (event.begins()) {
          out.add(event.tensor());
        } else {
          out.remove((Integer) event.tensor());
        }
      }
      out.forEach(tensor -> events.add(new Event(false, tensor, 0, 64)));
    }
    return events;
  }

  /** Takes and frees in the order of the list: a positive number takes, its negative frees. */
  private static List<Event> step(Map<Integer, Long> sizes, int... order) {
    List<Event> events = new ArrayList<>();
    for (int tensor : order) {
      events.add(new Event(tensor > 0, Math.abs(tensor), sizes.get(Math.abs(tensor)), 64));
    }
    return events;
  }

  @Test
  void shouldMissWithoutRehearsalWhenABorrowedBlockIsWantedBack() {
    // 1 and 4 are large and share a block. 2 fits between them and borrows it on paper; 3 does not,
    // and gets a block of its own. The pool meets 2 first and gives it that block, so 3 borrows the
    // large one, and 4 finds it gone.
    Map<Integer, Long> sizes = Map.of(1, 1024L * KIB, 2, 40L * KIB, 3, 40L * KIB, 4, 1024L * KIB);
    List<Event> step = step(sizes, 1, -1, 2, 3, -2, 4, -4, -3);
    LifetimePlan plan = Steps.learn(List.of(step));
    assertEquals(1064L * KIB, plan.totalBytes());
    List<Event> threeTimes = repeated(step, 3);
    for (double maxOversize : new double[] {1, 2, 1000}) {
      assertEquals(3, misses(plan, planned(plan), maxOversize, threeTimes));
      int[] rehearsed = rehearsed(plan, maxOversize);
      assertEquals(0, misses(plan, rehearsed, maxOversize, threeTimes));
      assertEquals(3, Arrays.stream(rehearsed).sum(), "one block is lacking, no more");
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {1, 2, 10})
  void shouldNeverMissWhenARandomStepRepeats(double maxOversize) {
    int missesWithout = 0;
    int added = 0;
    for (long seed = 1; seed <= 150; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Event> step = Steps.random(random, 20 + random.nextInt(300), 40, CACHE_LINE);
      LifetimePlan plan = Steps.learn(Collections.nCopies(5, step));
      List<Event> threeTimes = repeated(step, 3);
      missesWithout += misses(plan, planned(plan), maxOversize, threeTimes);
      int[] rehearsed = rehearsed(plan, maxOversize);
      added += Arrays.stream(rehearsed).sum() - Arrays.stream(planned(plan)).sum();
      assertEquals(0, misses(plan, rehearsed, maxOversize, threeTimes), "seed " + seed);
    }
    assertTrue(missesWithout > 0, "or this shows nothing");
    assertTrue(added > 0, "added " + added);
  }

  @Test
  void shouldNeverMissWhenAlignmentsDiffer() {
    long[] alignments = {64, 64, 64, 256, 4096};
    for (long seed = 1; seed <= 100; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Event> step = Steps.random(random, 20 + random.nextInt(200), 40, alignments);
      LifetimePlan plan = Steps.learn(Collections.nCopies(4, step));
      int[] rehearsed = rehearsed(plan, 2);
      assertEquals(0, misses(plan, rehearsed, 2, repeated(step, 3)), "seed " + seed);
    }
  }

  @Test
  void shouldNotBorrowWhatIsNotAlignedWhenAlignmentIsAsked() {
    Map<Integer, Long> sizes = Map.of(1, 1024L * KIB, 2, 40L * KIB);
    List<Event> step = new ArrayList<>(step(sizes, 1, -1, 2, -2));
    step.replaceAll(e -> new Event(e.begins(), e.tensor(), e.bytes(), e.tensor() == 2 ? 4096 : 64));
    LifetimePlan plan = Steps.learn(List.of(step, step));
    assertEquals(1024L * KIB, plan.totalBytes(), "the packing does not look at alignments");
    assertEquals(2, misses(plan, planned(plan), 2, repeated(step, 2)));
    int[] rehearsed = rehearsed(plan, 2);
    assertArrayEquals(new int[] {1, 1}, rehearsed);
    assertEquals(0, misses(plan, rehearsed, 2, repeated(step, 2)));
  }

  @Test
  void shouldNeverMissWhenTheWholeSequenceOfDifferentStepsRepeats() {
    for (long seed = 1; seed <= 40; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<List<Event>> steps = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        steps.add(Steps.random(random, 100, 30, CACHE_LINE));
      }
      LifetimePlan plan = Steps.learn(steps);
      int[] rehearsed = rehearsed(plan, 2);
      for (List<Event> step : steps) {
        assertEquals(0, misses(plan, rehearsed, 2, repeated(step, 2)), "seed " + seed);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Squeezenet.2", "borders", "chained", "interleaved", "nested"})
  void shouldNeverMissWhenASharedTraceRepeats(String name) throws IOException {
    List<Event> step = Steps.planned(Steps.read(name));
    LifetimePlan plan = Steps.learn(Collections.nCopies(3, step));
    int[] rehearsed = rehearsed(plan, 2);
    assertEquals(0, misses(plan, rehearsed, 2, repeated(step, 3)));
    assertEquals(0, misses(plan, rehearsed(plan, 1), 1, repeated(step, 3)));
  }

  private static LifetimePlan concurrent(LifetimePlan plan, int steps) {
    return new LifetimePlan(
        plan.intervalBytes(), plan.totalBytes(), plan.bins(), plan.steps(), steps);
  }

  @Test
  void shouldReserveForOtherInterleavingsWhenStepsWereConcurrent() {
    int requests = 0;
    int misses = 0;
    int missesOfOne = 0;
    for (long seed = 1; seed <= 30; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Event> step = Steps.random(random, 100, 20, CACHE_LINE);
      LifetimePlan plan = Steps.learn(Collections.nCopies(3, step));
      int[] forOne = rehearsed(plan, 2);
      int[] forTwo = rehearsed(concurrent(plan, 2), 2);
      for (int bin = 0; bin < forOne.length; bin++) {
        assertTrue(forTwo[bin] >= planned(plan)[bin], "seed " + seed);
      }
      for (int trial = 0; trial < 10; trial++) {
        List<Event> two = interleaved(step, random);
        requests += two.size() / 2;
        misses += misses(plan, forTwo, 2, two);
        missesOfOne += misses(plan, forOne, 2, two);
      }
    }
    assertTrue(misses * 200L < requests, misses + " of " + requests + " missed");
    assertTrue(missesOfOne > 10 * misses, "for one: " + missesOfOne + ", for two: " + misses);
  }

  /** Two threads that run the step twice each, taking turns of random length. */
  private static List<Event> interleaved(List<Event> step, SplittableRandom random) {
    List<Event> events = new ArrayList<>();
    int[] next = new int[2];
    int end = 2 * step.size();
    while (next[0] < end || next[1] < end) {
      int thread = random.nextInt(2);
      for (int turn = random.nextInt(30); turn > 0 && next[thread] < end; turn--) {
        Event event = step.get(next[thread]++ % step.size());
        int tensor = event.tensor() + thread * 1_000_000;
        events.add(new Event(event.begins(), tensor, event.bytes(), event.alignment()));
      }
    }
    return events;
  }

  @Test
  void shouldGiveEqualPoolsWhenWarmUpsAreEqual() {
    for (long seed = 1; seed <= 10; seed++) {
      long again = seed;
      List<int[]> results = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        SplittableRandom random = new SplittableRandom(again);
        List<Event> step = Steps.random(random, 200, 30, CACHE_LINE);
        LifetimePlan plan = Steps.learn(Collections.nCopies(3, step));
        results.add(rehearsed(concurrent(plan, 3), 2));
      }
      assertArrayEquals(results.get(0), results.get(1), "seed " + seed);
    }
  }

  @Test
  void shouldOrderEventsByTickAndEqualOnesByLife() {
    SplittableRandom random = new SplittableRandom(3);
    List<AllocStats> lives = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      long begin = random.nextLong(300) - 100;
      lives.add(new AllocStats(begin, begin + random.nextLong(20), 50_000, 64));
    }
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < lives.size(); i++) {
      expected.add(i);
      expected.add(~i);
    }
    expected.sort(
        Comparator.comparingLong(
            event -> event >= 0 ? lives.get(event).beginTick() : lives.get(~event).endTick()));
    assertEquals(expected, Arrays.stream(Rehearsal.events(lives)).boxed().toList());
  }
}
