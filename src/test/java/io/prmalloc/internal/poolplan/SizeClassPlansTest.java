package io.prmalloc.internal.poolplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.pool.PoolPolicies;
import io.prmalloc.pool.Steps;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
class SizeClassPlansTest {

  private static final long KIB = 1024;

  /** Each size alone in its step, so that geometric classes need one block for many sizes. */
  private static LifetimePlan oneAtATime(long... sizes) {
    List<List<Steps.Event>> steps = new ArrayList<>();
    for (long size : sizes) {
      steps.add(List.of(new Steps.Event(true, 0, size, 64), new Steps.Event(false, 0, size, 64)));
    }
    return Steps.learn(steps);
  }

  @ParameterizedTest
  @CsvSource({
    "32769, 36864",
    "36865, 40960",
    "65536, 65536",
    "65537, 73728",
    "131072, 131072",
    "131073, 147456",
    "1048577, 1179648",
    "1179649, 1310720"
  })
  void shouldHaveEightClassesFromAPowerOfTwoToTheNext(long bytes, long expected) {
    assertEquals(expected, SizeClassPlans.geometricBytes(bytes));
  }

  @Test
  void shouldServeSizesOfOneGroupFromTheSameBlock() {
    LifetimePlan made = oneAtATime(1025 * KIB, 1050 * KIB, 1100 * KIB, 1149 * KIB);
    LifetimePlan plan = SizeClassPlans.geometric(made);
    assertEquals(1152 * KIB, plan.totalBytes());
    BinPlan group = plan.bins().get(plan.bins().size() - 1);
    assertEquals(1152 * KIB, group.chunkBytes());
    assertEquals(4, plan.bins().size());
    for (BinPlan member : plan.bins().subList(0, 3)) {
      assertEquals(List.of(group.index()), member.virtualTargets());
      assertEquals(0, member.blocks());
    }
    assertNothingLacks(plan, 1);
  }

  private static void assertNothingLacks(LifetimePlan plan, double maxOversize) {
    int[] blocks = new Rehearsal(plan, maxOversize).run();
    int planned = plan.bins().stream().mapToInt(BinPlan::blocks).sum();
    assertEquals(planned, Arrays.stream(blocks).sum());
  }

  @Test
  void shouldServeEveryRequestWhenRandomStepsRepeat() {
    for (long seed = 0; seed < 30; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Steps.Event> step = Steps.random(random, 40, 8, new long[] {64, 64, 128});
      LifetimePlan made = Steps.learn(List.of(step, step, step));
      for (PlanCandidate candidate : PlanChoice.all(List.of(made), 2)) {
        assertServes(candidate.pool(), step, "seed " + seed + ", " + candidate.name());
      }
    }
  }

  /** A real pool that starts with a plan misses nothing. */
  private static void assertServes(KeptPool plan, List<Steps.Event> step, String message) {
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(SubAllocator.mmap(MmapOptions.DEFAULT))
            .plan(new KeptPlan(Optional.of(plan), List.of()))
            .build()) {
      for (int i = 0; i < 3; i++) {
        Map<Integer, Allocation> out = new HashMap<>();
        for (Steps.Event event : step) {
          if (event.begins()) {
            out.put(event.tensor(), pool.allocate(event.bytes(), event.alignment()));
          } else {
            out.remove(event.tensor()).close();
          }
        }
      }
      assertEquals(0, pool.poolStats().misses() + pool.poolStats().nullBins(), message);
      assertTrue(pool.poolStats().hits() > 0, message);
    }
  }

  @Test
  void shouldChooseTheOneOfFewestBytes() {
    for (long seed = 0; seed < 30; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Steps.Event> step = Steps.random(random, 40, 8, new long[] {64});
      LifetimePlan made = Steps.learn(List.of(step, step, step));
      KeptPool best = PlanChoice.best(made, PoolPolicies.ALL, 2);
      long least =
          PlanChoice.all(List.of(made), 2).stream()
              .mapToLong(PlanCandidate::bytes)
              .min()
              .orElseThrow();
      assertEquals(least, PlanChoice.bytes(best), "seed " + seed);
      KeptPool reference = PlanChoice.best(made, PoolPolicies.REFERENCE, 2);
      assertEquals(made.bins(), reference.plan().bins(), "seed " + seed);
    }
  }

  @Test
  void shouldServeFromGeometricClassesWhenTheyWin() {
    // Alignments that the packing of whole steps is not for.
    List<List<Steps.Event>> steps = new ArrayList<>();
    for (long size : new long[] {1025 * KIB, 1050 * KIB, 1100 * KIB, 1149 * KIB}) {
      steps.add(List.of(new Steps.Event(true, 0, size, 128), new Steps.Event(false, 0, size, 128)));
    }
    LifetimePlan made = Steps.learn(steps);
    KeptPool best = PlanChoice.best(made, PoolPolicies.ALL, 2);
    assertTrue(PlanChoice.bytes(best) <= 1152 * KIB);
    assertTrue(PlanChoice.bytes(PlanChoice.best(made, PoolPolicies.REFERENCE, 2)) >= 1149 * KIB);
  }

  @Test
  void shouldCostLittleMoreOrLessThanTheReferenceOnASharedTrace() throws IOException {
    List<Steps.Event> step = Steps.planned(Steps.read("Squeezenet.2"));
    LifetimePlan made = Steps.learn(List.of(step, step, step));
    long reference = PlanChoice.bytes(PlanChoice.best(made, PoolPolicies.REFERENCE, 2));
    for (PlanCandidate candidate : PlanChoice.all(List.of(made), 2)) {
      assertTrue(candidate.bytes() < 1.3 * reference, candidate.name());
    }
  }
}
