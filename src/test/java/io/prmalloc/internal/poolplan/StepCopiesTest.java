package io.prmalloc.internal.poolplan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.Arena;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk-independent")
class StepCopiesTest {

  private static final int COPIES = 2;

  /** Lives of a step whose ticks begin somewhere, by the time they end. */
  private static List<AllocStats> step(long seed, int count, long from) {
    Random random = new Random(seed);
    List<Long> begun = new ArrayList<>();
    List<Long> bytes = new ArrayList<>();
    List<AllocStats> lives = new ArrayList<>();
    long tick = from;
    for (int left = count; left > 0 || !begun.isEmpty(); tick++) {
      if (left > 0 && (begun.isEmpty() || random.nextBoolean())) {
        begun.add(tick);
        bytes.add(33_000L + random.nextInt(1 << 20));
        left--;
      } else {
        int which = random.nextInt(begun.size());
        lives.add(new AllocStats(begun.remove(which), tick, bytes.remove(which), 64));
      }
    }
    return lives;
  }

  private static LifetimePlan made(int concurrent, List<List<AllocStats>> steps) {
    LifetimePolicy policy = new LifetimePolicy(8192);
    steps.forEach(step -> step.forEach(policy::add));
    policy.bestFit();
    return LifetimePlan.of(policy, steps, concurrent);
  }

  @Test
  void shouldHaveNothingToSayWhenStepsFollowEachOther() {
    LifetimePlan made = made(1, List.of(step(1, 20, 0), step(1, 20, 1000)));
    assertEquals(Optional.empty(), StepCopies.of(made, 2));
  }

  @Test
  void shouldHaveSoManyTimesWhatAStepTakesWhenStepsAreOpenTogether() {
    for (long seed = 0; seed < 20; seed++) {
      LifetimePlan together = made(COPIES, List.of(step(seed, 40, 0), step(seed, 40, 7)));
      LifetimePlan copies = StepCopies.of(together, 2).orElseThrow();
      assertEquals(together.steps(), copies.steps());
      assertEquals(COPIES, copies.concurrentSteps());

      List<BinPlan> bins = copies.bins().stream().map(StepCopiesTest::partOf).toList();
      LifetimePlan one =
          new LifetimePlan(8192, 0, bins, List.of(step(seed, 40, 0)), /* concurrentSteps= */ 1);
      int[] blocks = bins.stream().mapToInt(BinPlan::blocks).toArray();
      assertArrayEquals(blocks, new Rehearsal(one, 2).run(), "seed " + seed);
      long bytes = bins.stream().mapToLong(bin -> bin.blocks() * bin.chunkBytes()).sum();
      assertEquals(COPIES * bytes, copies.totalBytes(), "seed " + seed);
    }
  }

  /** What one of the threads has of a bin. */
  private static BinPlan partOf(BinPlan bin) {
    assertEquals(0, bin.blocks() % COPIES, bin.toString());
    return new BinPlan(
        bin.index(),
        bin.chunkBytes(),
        bin.alignment(),
        bin.blocks() / COPIES,
        bin.virtualTargets());
  }

  @Test
  void shouldFindAllWithItselfWhenEachThreadHasItsShare() throws Exception {
    List<AllocStats> step = step(3, 60, 0);
    LifetimePlan copies =
        StepCopies.of(made(COPIES, List.of(step, step(3, 60, 5))), 2).orElseThrow();
    int[] blocks = copies.bins().stream().mapToInt(BinPlan::blocks).toArray();
    BinTable table =
        BinTable.build(
            copies,
            blocks,
            2,
            SubAllocator.direct(),
            new Arena.Layout(Arena.MAX_CHUNK_BYTES, 1),
            region -> {});
    assertEquals(1, play(table, step), "the one that gets the share");
    assertEquals(0, play(table, step));
    Buffers.onAnotherStripe(
        Stripes.many(),
        () -> {
          assertEquals(1, play(table, step), "the one that gets the share");
          assertEquals(0, play(table, step));
          return true;
        });
    assertEquals(0, play(table, step));
    table.free();
  }

  /** One step of the calling thread; how many requests found nothing that the thread has. */
  private static int play(BinTable table, List<AllocStats> lives) {
    Allocation[] out = new Allocation[lives.size()];
    int slow = 0;
    for (int event : Rehearsal.events(lives)) {
      if (event < 0) {
        out[~event].close();
        continue;
      }
      long bytes = lives.get(event).sizeBytes();
      PooledBlock block = table.take(bytes);
      if (block == null) {
        slow++;
        block = table.takeSlowly(bytes, 64);
      }
      assertNotNull(block);
      out[event] = block.open(bytes);
    }
    return slow;
  }
}
