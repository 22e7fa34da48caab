package io.prmalloc.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PlanMergeTest {

  private static final long CHUNK = 32 * 1024 + 4096;

  private static KeptPool pool(long loadBytes, int blocks) {
    BinPlan bin = new BinPlan(0, CHUNK, 64, blocks, List.of());
    LifetimePlan plan = new LifetimePlan(4096, blocks * CHUNK, List.of(bin), List.of(), 1);
    return new KeptPool(plan, List.of(blocks), loadBytes);
  }

  /** Two requests that live one after the other, the second at an offset. */
  private static KeptStep step(Object key, boolean implicit, long bytes, long offset) {
    return new KeptStep(
        key, implicit, new long[] {bytes, bytes}, new int[] {1, 2}, new long[] {0, offset});
  }

  private static KeptPlan plan(KeptPool pool, KeptStep... steps) {
    return new KeptPlan(Optional.ofNullable(pool), List.of(steps));
  }

  private static void assertStays(KeptPlan shared, KeptPlan own) {
    assertEquals(shared, PlanMerge.merge(shared, own));
  }

  private static void assertTakesOver(KeptPlan worse, KeptPlan better) {
    assertEquals(better, PlanMerge.merge(worse, better));
    assertStays(better, worse);
  }

  @Test
  void shouldTakeThePoolsPlanOfLargerLoadAndThenOfFewerBytes() {
    assertTakesOver(plan(null), plan(pool(0, 1)));
    assertTakesOver(plan(pool(0, 1)), plan(pool(100, 1)));
    assertTakesOver(plan(pool(100, 1)), plan(pool(101, 9)));
    assertTakesOver(plan(pool(100, 3)), plan(pool(100, 2)));
    assertStays(plan(pool(100, 2)), plan(pool(100, 2)));
  }

  @Test
  void shouldTakeTheStepsOfLargerLoadAndThenOfFewerBytes() {
    assertTakesOver(plan(null, step("a", false, 1_000, 0)), plan(null, step("a", false, 9_000, 0)));
    assertTakesOver(
        plan(null, step("a", false, 1_000, 1_024)), plan(null, step("a", false, 1_000, 0)));
  }

  @Test
  void shouldKeepStepsThatAreNotTheSameSideBySide() {
    KeptStep one = step("a", false, 1_000, 0);
    List<KeptStep> others =
        List.of(
            step("b", false, 1_000, 0),
            step(1, false, 1_000, 0),
            step(null, false, 1_000, 0),
            step("a", true, 1_000, 0),
            // Both live at once, so a plan for either needs more than each.
            new KeptStep(
                "a", false, new long[] {10, 2_000}, new int[] {2, 2}, new long[] {2_048, 0}));
    for (KeptStep other : others) {
      KeptPlan merged = PlanMerge.merge(plan(null, one), plan(pool(1, 1), other));
      assertEquals(plan(pool(1, 1), one, other), merged);
    }
  }

  @Test
  void shouldLeaveOutKeysThatCannotBeKept() {
    assertStays(plan(null), plan(null, step(new Object(), false, 1_000, 0)));
  }

  @Test
  void shouldHaveNoMoreStructuresOfAKeyThanAPool() {
    List<KeptStep> steps = new ArrayList<>();
    for (int requests = 1; requests <= KeyedSteps.MAX_STRUCTURES + 1; requests++) {
      // One large request at another place in each.
      long[] sizes = new long[KeyedSteps.MAX_STRUCTURES + 1];
      int[] ends = new int[sizes.length];
      long[] offsets = new long[sizes.length];
      for (int i = 0; i < sizes.length; i++) {
        sizes[i] = i == requests - 1 ? 100_000 : 64;
        ends[i] = sizes.length;
        offsets[i] = i < requests ? 64L * i : 64L * (i - 1) + 100_032;
      }
      steps.add(new KeptStep("a", false, sizes, ends, offsets));
    }
    KeptPlan own = new KeptPlan(Optional.empty(), steps);
    assertEquals(steps.subList(0, steps.size() - 1), PlanMerge.merge(plan(null), own).steps());
  }
}
