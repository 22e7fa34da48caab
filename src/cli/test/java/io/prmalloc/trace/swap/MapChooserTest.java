package io.prmalloc.trace.swap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.trace.simulate.ModelKind;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
class MapChooserTest {

  private record Best(long leastPeak, double leastMillis) {}

  /** Every choice there is. */
  private static Best exact(SwapStep step, SwapOptions options) {
    Treatment[] treatments = new Treatment[step.maps.size()];
    Arrays.fill(treatments, Treatment.KEEP);
    Recomputing recomputing = new Recomputing(step);
    long leastPeak = Long.MAX_VALUE;
    double leastMillis = Double.POSITIVE_INFINITY;
    List<Treatment> choices =
        options.recompute()
            ? List.of(Treatment.KEEP, Treatment.SWAP, Treatment.RECOMPUTE)
            : List.of(Treatment.KEEP, Treatment.SWAP);
    int kinds = choices.size();
    for (int code = 0; code < Math.pow(kinds, treatments.length); code++) {
      int rest = code;
      for (int i = 0; i < treatments.length; i++) {
        treatments[i] = choices.get(rest % kinds);
        rest /= kinds;
      }
      if (!recomputing.isPossible(treatments)) {
        continue;
      }
      SwapRun run = SwapSimulator.run(step, treatments, options, null, null);
      leastPeak = Math.min(leastPeak, run.peakBytes());
      if (run.peakBytes() <= options.budgetBytes().getAsLong()) {
        leastMillis = Math.min(leastMillis, run.totalMillis());
      }
    }
    return new Best(leastPeak, leastMillis);
  }

  @ParameterizedTest
  @CsvSource({
    "SYNC,OS,false",
    "SYNC,OS,true",
    "SEMI_SYNC,OS,false",
    "SEMI_SYNC,OS,true",
    "ASYNC,OS,false",
    "ASYNC,OS,true",
    "SYNC,POOL,false",
    "SEMI_SYNC,POOL,true",
    "ASYNC,POOL,false"
  })
  void shouldBeNearlyAsGoodAsTheExactAnswerWhenStepsAreSmall(
      SwapMode mode, ModelKind kind, boolean recompute) {
    int kept = 0;
    int optimal = 0;
    int missed = 0;
    for (long seed = 0; seed < 150; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SwapStep step = RandomSteps.step(random, recompute ? 6 : 8);
      long all = peak(step, mode, kind, Treatment.KEEP);
      long none = peak(step, mode, kind, Treatment.SWAP);
      long budget = Math.min(all, none) + (long) (random.nextDouble() * Math.abs(all - none));
      SwapOptions options = options(mode, kind, budget, recompute);
      Best best = exact(step, options);

      Treatment[] chosen = new MapChooser(step, options).choose();

      String message = "seed " + seed;
      assertTrue(new Recomputing(step).isPossible(chosen), message);
      SwapRun run = SwapSimulator.run(step, chosen, options, null, null);
      if (run.peakBytes() > budget) {
        missed += best.leastPeak <= budget ? 1 : 0;
        continue;
      }
      assertTrue(run.totalMillis() >= best.leastMillis - 1e-6, message);
      kept++;
      optimal += run.totalMillis() <= best.leastMillis + 1e-6 ? 1 : 0;
    }
    assertEquals(0, missed, "budgets that could have been kept");
    assertTrue(optimal >= 0.95 * kept, optimal + " of " + kept + " are as good as can be");
  }

  private static SwapStep step(long seed, int layers) {
    return SwapStep.of(RandomSteps.profile(new SplittableRandom(seed), layers), layers);
  }

  /** There are some 16,000 exchanges of one for two, and two for one. */
  @Test
  void shouldLookAtNoMoreExchangesThanItMayTryWhenMapsAreMany() {
    SwapStep step = step(1, 40);
    long all = peak(step, SwapMode.SYNC, ModelKind.OS, Treatment.KEEP);
    long none = peak(step, SwapMode.SYNC, ModelKind.OS, Treatment.SWAP);
    MapChooser chooser =
        new MapChooser(step, options(SwapMode.SYNC, ModelKind.OS, (all + none) / 2, false));

    chooser.choose();

    long bound = 4000 + 2L * step.maps.size() + 1;
    assertTrue(chooser.exchanges() <= bound, chooser.exchanges() + " of " + bound);
  }

  /** Wherever it is ended, all maps swapped are tried, and nothing but that any more. */
  @Test
  void shouldAnswerWithTheBestSoFarWhenItIsEnded() {
    SwapStep step = step(2, 30);
    long all = peak(step, SwapMode.ASYNC, ModelKind.OS, Treatment.KEEP);
    long none = peak(step, SwapMode.ASYNC, ModelKind.OS, Treatment.SWAP);
    SwapOptions options = options(SwapMode.ASYNC, ModelKind.OS, (all + none) / 2, false);
    Treatment[] swapped = new Treatment[step.maps.size()];
    Arrays.fill(swapped, Treatment.SWAP);
    double swappedMillis = SwapSimulator.run(step, swapped, options, null, null).totalMillis();
    double least = Double.POSITIVE_INFINITY;
    for (int end : new int[] {1, 2, 10, 100, 1000, Integer.MAX_VALUE}) {
      AtomicInteger asked = new AtomicInteger();
      Treatment[] chosen =
          new MapChooser(step, options, (present, simulations) -> asked.incrementAndGet() < end)
              .choose();

      SwapRun run = SwapSimulator.run(step, chosen, options, null, null);
      assertTrue(asked.get() <= end, "asked " + asked + " times");
      assertTrue(run.peakBytes() <= options.budgetBytes().getAsLong(), "end " + end);
      assertTrue(run.totalMillis() <= swappedMillis, "end " + end);
      least = Math.min(least, run.totalMillis());
    }
    assertTrue(least < swappedMillis, "nothing was won");
  }

  /** Of many maps even the short list takes long: each map is looked at over all operators. */
  @Test
  void shouldAskForEachMapWhenItLooksForTheNextToLeave() {
    SwapStep step = step(2, 30);
    long all = peak(step, SwapMode.SYNC, ModelKind.OS, Treatment.KEEP);
    AtomicInteger asked = new AtomicInteger();
    new MapChooser(
            step,
            options(SwapMode.SYNC, ModelKind.OS, all - 1, false),
            (present, simulations) -> {
              asked.addAndGet(simulations == 2 ? 1 : 0);
              return simulations <= 2;
            })
        .choose();

    assertTrue(asked.get() >= step.maps.size(), asked + " times");
  }

  private static long peak(SwapStep step, SwapMode mode, ModelKind kind, Treatment treatment) {
    Treatment[] treatments = new Treatment[step.maps.size()];
    Arrays.fill(treatments, treatment);
    return SwapSimulator.run(step, treatments, options(mode, kind, 0, false), null, null)
        .peakBytes();
  }

  static SwapOptions options(SwapMode mode, ModelKind kind, long budget, boolean recompute) {
    return new SwapOptions(
        mode, kind, 1e6, 2e6, OptionalInt.empty(), OptionalLong.of(budget), recompute);
  }
}
