package io.prmalloc.internal.poolplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimeBin;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.pool.PoolPolicies;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk-independent")
class StepPackingTest {

  private static final long KIB = 1024;

  private static List<AllocStats> step(Random random, int count, long alignment) {
    List<Integer> ticks = new ArrayList<>();
    for (int tick = 0; tick < 2 * count; tick++) {
      ticks.add(tick);
    }
    Collections.shuffle(ticks, random);
    List<AllocStats> lives = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int a = ticks.get(2 * i);
      int b = ticks.get(2 * i + 1);
      long bytes = 33 * KIB + random.nextInt(1 << 20);
      lives.add(new AllocStats(Math.min(a, b), Math.max(a, b), bytes, alignment));
    }
    lives.sort(Comparator.comparingLong(AllocStats::endTick));
    return lives;
  }

  private static LifetimePlan planOf(List<AllocStats> lives) {
    List<LifetimePolicy> policies = LifetimePolicy.referencePolicies();
    for (LifetimePolicy policy : policies) {
      lives.forEach(policy::add);
      policy.bestFit();
    }
    LifetimePolicy best = LifetimePolicy.best(policies);
    List<LifetimePlan.BinPlan> bins =
        best.bins().stream()
            .map(
                bin ->
                    new LifetimePlan.BinPlan(
                        bin.index(),
                        bin.chunkBytes(),
                        bin.alignment(),
                        bin.blocks().size(),
                        bin.virtualBlocks().stream().map(LifetimeBin::index).distinct().toList()))
            .toList();
    return new LifetimePlan(best.intervalBytes(), best.totalBytes(), bins, List.of(lives), 1);
  }

  @Test
  void shouldServeEveryRequestWhenStepsRepeat() {
    for (long seed = 0; seed < 30; seed++) {
      Random random = new Random(seed);
      LifetimePlan made = planOf(step(random, 1 + random.nextInt(60), 64));
      LifetimePlan packed = StepPacking.of(made).orElseThrow();
      int[] blocks = new Rehearsal(packed, 2).run();
      for (int position = 0; position < blocks.length; position++) {
        assertEquals(packed.bins().get(position).blocks(), blocks[position], "seed " + seed);
      }
      long peak = peakBytes(made);
      assertTrue(packed.totalBytes() >= peak, "seed " + seed + ": less than what is alive at once");
    }
  }

  private static long peakBytes(LifetimePlan plan) {
    List<AllocStats> lives = plan.steps().get(0);
    return lives.stream()
        .mapToLong(
            at ->
                lives.stream()
                    .filter(
                        life ->
                            life.beginTick() <= at.beginTick() && at.beginTick() < life.endTick())
                    .mapToLong(AllocStats::sizeBytes)
                    .sum())
        .max()
        .orElse(0);
  }

  @Test
  void shouldNeverChooseMoreBytesThanTheReference() {
    int smaller = 0;
    for (long seed = 0; seed < 30; seed++) {
      Random random = new Random(seed);
      LifetimePlan made = planOf(step(random, 1 + random.nextInt(60), 64));
      KeptPool reference = PlanChoice.best(made, PoolPolicies.REFERENCE, 2);
      KeptPool best = PlanChoice.best(made, PoolPolicies.ALL, 2);
      assertEquals(made.totalBytes(), reference.plan().totalBytes(), "seed " + seed);
      long all = BinTable.chunkBytes(best.plan(), PlanChoice.blocks(best));
      long three = BinTable.chunkBytes(reference.plan(), PlanChoice.blocks(reference));
      assertTrue(all <= three, "seed " + seed);
      smaller += all < three ? 1 : 0;
    }
    assertTrue(smaller >= 5, "smaller in " + smaller + " of 30");
  }

  @Test
  void shouldGiveEqualPlansWhenStepsAreEqual() {
    LifetimePlan made = planOf(step(new Random(1), 50, 64));
    assertEquals(StepPacking.of(made), StepPacking.of(made));
  }

  @Test
  void shouldReachTheBoundWhenOneBlockServesAll() {
    List<AllocStats> lives = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      lives.add(new AllocStats(2L * i, 2L * i + 1, (40 + i) * KIB, 64));
    }
    LifetimePlan packed = StepPacking.of(planOf(lives)).orElseThrow();
    assertEquals(
        LifetimePolicy.chunkBytes(LifetimePolicy.index(49 * KIB, 4096), 4096), packed.totalBytes());
  }

  @Test
  void shouldLeaveOtherAlignmentsToThePolicies() {
    assertTrue(StepPacking.of(planOf(step(new Random(1), 5, 128))).isEmpty());
    assertTrue(StepPacking.of(new LifetimePlan(4096, 0, List.of(), List.of(), 1)).isEmpty());
  }

  /** Steps that follow each other, each with sizes of its own, more lives than are looked at. */
  private static LifetimePlan everNewSizes(int concurrentSteps) {
    List<List<AllocStats>> steps = new ArrayList<>();
    LifetimePolicy policy = new LifetimePolicy(4096);
    long tick = 0;
    for (int number = 0; number < 16; number++) {
      List<AllocStats> lives = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        long bytes = 40 * KIB + 4096L * (i % 20) + number * KIB * KIB;
        lives.add(new AllocStats(tick, tick + 1, bytes, 64));
        tick += 2;
      }
      lives.forEach(policy::add);
      policy.bestFit();
      steps.add(lives);
    }
    return LifetimePlan.of(policy, steps, concurrentSteps);
  }

  @Test
  void shouldHaveABinForEverySizeWhenNotAllStepsAreLookedAt() {
    LifetimePlan made = everNewSizes(1);
    LifetimePlan packed = StepPacking.of(made).orElseThrow();
    assertEquals(320, packed.bins().size());
    assertEquals(
        made.bins().stream().map(LifetimePlan.BinPlan::index).toList(),
        packed.bins().stream().map(LifetimePlan.BinPlan::index).toList());
    int[] blocks = new Rehearsal(packed, 2).run();
    assertEquals(1, Arrays.stream(blocks).sum(), "the largest serves every step");
    LifetimePlan copies = StepCopies.of(everNewSizes(3), 2).orElseThrow();
    assertEquals(320, copies.bins().size());
    assertEquals(
        1,
        PlanChoice.best(made, PoolPolicies.ALL, 2).reservedBlocks().stream()
            .mapToInt(Integer::intValue)
            .sum());
  }

  @Test
  void shouldLookAtEqualStepsOnce() {
    List<AllocStats> step = step(new Random(7), 60, 64);
    List<List<AllocStats>> steps = new ArrayList<>();
    for (long later = 0; later < 1600; later += 160) {
      long by = later;
      steps.add(
          step.stream()
              .map(
                  life ->
                      new AllocStats(
                          life.beginTick() + by,
                          life.endTick() + by,
                          life.sizeBytes(),
                          life.alignment()))
              .toList());
    }
    LifetimePlan once = planOf(step);
    LifetimePlan often =
        new LifetimePlan(once.intervalBytes(), once.totalBytes(), once.bins(), steps, 1);
    LifetimePlan packed = StepPacking.of(often).orElseThrow();
    assertEquals(StepPacking.of(once).orElseThrow().bins(), packed.bins());
    assertEquals(steps, packed.steps());
  }

  @Test
  void shouldLeaveVeryLongStepsToThePolicies() {
    List<AllocStats> lives = new ArrayList<>();
    for (int i = 0; i <= 12_000; i++) {
      lives.add(new AllocStats(2L * i, 2L * i + 1, 40 * KIB, 64));
    }
    assertTrue(StepPacking.of(planOf(lives)).isEmpty());
    assertTrue(StepPacking.of(planOf(lives.subList(0, 12_000))).isPresent());
  }
}
