package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.Api;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VaryingReplayerTest {

  private static final Trace TRACE =
      Trace.builder("t")
          .allocate("large", 100_000)
          .allocate("small", 100)
          .release("large")
          .allocate("other", 70_001)
          .build();

  private static final Trace OTHER = Trace.builder("o").allocate("it", 500_000).build();

  private static final Optional<FactorRange> QUARTER = Optional.of(FactorRange.DEFAULT);

  private static final ReplayOptions FEW_STEPS =
      ReplayOptions.DEFAULT.withSteps(150).withTouch(Touch.ALL);

  private static List<List<Long>> sizes(Traffic traffic, ReplayOptions options)
      throws InterruptedException {
    SeenSizes seen = new SeenSizes();
    ReplayRun run = new VaryingReplayer(traffic, options).run(ReplayAllocator.MALLOC, seen, null);
    assertEquals(Optional.empty(), run.failure());
    return seen.sizes();
  }

  /** The sizes of TRACE at a factor. */
  private static List<Long> scaled(double factor) {
    return List.of(
        (long) (100_000 * factor), Math.max(64, (long) (100 * factor)), (long) (70_001 * factor));
  }

  @Test
  void shouldMultiplyAllSizesOfAStepByOneFactorOfItsOwn() throws InterruptedException {
    Traffic traffic = Traffic.of(List.of(TRACE), QUARTER, 0, 7);

    List<Long> asked = sizes(traffic, FEW_STEPS).get(0);

    Traffic.Draws draws = traffic.new Draws(0);
    Set<Double> factors = new HashSet<>();
    List<Long> expected = new ArrayList<>();
    for (int step = 0; step < 150; step++) {
      draws.next();
      assertTrue(draws.factor() >= 0.25 && draws.factor() < 1, "" + draws.factor());
      factors.add(draws.factor());
      expected.addAll(scaled(draws.factor()));
    }
    assertEquals(expected, asked);
    assertEquals(150, factors.size());
  }

  @Test
  void shouldDrawTheSameStepsFromTheSameSeedAndOthersForEachThread() throws InterruptedException {
    ReplayOptions two = FEW_STEPS.withThreads(2).withSteps(20);
    List<List<Long>> first = sizes(Traffic.of(List.of(TRACE), QUARTER, 0, 7), two);

    assertEquals(first, sizes(Traffic.of(List.of(TRACE), QUARTER, 0, 7), two));
    assertNotEquals(first, sizes(Traffic.of(List.of(TRACE), QUARTER, 0, 8), two));
    assertNotEquals(first.get(0), first.get(1));
  }

  @Test
  void shouldUseAllFactorsThatAreDrawnOnceAndNoOther() throws InterruptedException {
    Traffic traffic = Traffic.of(List.of(TRACE), QUARTER, 16, 3);
    List<Long> asked = sizes(traffic, FEW_STEPS).get(0);

    Set<List<Long>> expected = new HashSet<>();
    for (double factor : traffic.factors()) {
      expected.add(scaled(factor));
    }
    Set<List<Long>> seen = new HashSet<>();
    for (int step = 0; step < 150; step++) {
      seen.add(List.copyOf(asked.subList(3 * step, 3 * step + 3)));
    }
    assertEquals(16, expected.size());
    assertEquals(expected, seen);
  }

  @Test
  void shouldPickInputsByWeightAndLeaveTheirSizesAsTheyAre() throws InterruptedException {
    Traffic traffic = new Traffic(List.of(TRACE, OTHER), List.of(3.0, 1.0), Optional.empty(), 0, 1);
    List<Long> asked = sizes(traffic, FEW_STEPS.withSteps(1000).withTouch(Touch.NONE)).get(0);

    long others = asked.stream().filter(size -> size == 500_000).count();
    assertEquals(new HashSet<>(List.of(100_000L, 100L, 70_001L, 500_000L)), new HashSet<>(asked));
    assertEquals(1000, others + (asked.size() - others) / 3);
    // Four standard deviations.
    assertEquals(250, (float) others, 55);
  }

  @Test
  void shouldNeverPickAnInputOfNoWeight() throws InterruptedException {
    Traffic traffic = new Traffic(List.of(TRACE, OTHER), List.of(0.0, 2.0), Optional.empty(), 0, 1);

    assertEquals(Set.of(500_000L), new HashSet<>(sizes(traffic, FEW_STEPS).get(0)));
  }

  @ParameterizedTest
  @CsvSource({
    "POOL, RAW",
    "POOL, HANDLE",
    "PLANNED, RAW",
    "PLANNED, HANDLE",
    "CPU, RAW",
    "MALLOC, RAW",
    "NETTY, RAW",
    "NETTY_ADAPTIVE, RAW"
  })
  void shouldMeasureFromTheFirstStepOn(ReplayAllocator allocator, Api api)
      throws InterruptedException {
    Traffic traffic = Traffic.of(List.of(TRACE, OTHER), QUARTER, 4, 1);
    ReplayOptions options = FEW_STEPS.withThreads(2).withApi(api);

    ReplayRun run = new VaryingReplayer(traffic, options).run(allocator, null);

    assertEquals(Optional.empty(), run.failure());
    assertEquals(2, run.threads());
    assertEquals(150, run.steps());
    ReplayRun.Measured measured = run.measured().orElseThrow();
    ReplayRun.FromCold cold = run.cold().orElseThrow();
    assertTrue(measured.nanosPerPair() > 0, measured::toString);
    for (ReplayRun.Percentiles times : List.of(cold.firstHundred(), cold.steady())) {
      assertTrue(times.p50() > 0 && times.p50() <= times.p99(), cold::toString);
      assertTrue(times.p99() <= times.max() && times.max() <= measured.maxMicros(), cold::toString);
    }
    assertTrue(measured.peakRssBytes() >= cold.startRssBytes(), run::toString);
    assertTrue(cold.endRssBytes() > 0, run::toString);
  }

  @Test
  void shouldCloseEveryStep() throws InterruptedException {
    SeenSizes seen = new SeenSizes();
    new VaryingReplayer(Traffic.of(List.of(TRACE), QUARTER, 0, 1), FEW_STEPS)
        .run(ReplayAllocator.MALLOC, seen, null);

    assertEquals(300, seen.steps().size());
    assertEquals(0, seen.steps().stream().mapToInt(Integer::intValue).sum());
  }

  @Test
  void shouldNameTensorAndScaledSizeWhenTensorsOverlap() throws InterruptedException {
    Trace two = Trace.builder("t").allocate("first", 400).allocate("second", 400).build();
    BrokenTarget target = new BrokenTarget((tensor, before) -> tensor == 0 ? 0L : 40L);

    ReplayRun run =
        new VaryingReplayer(
                Traffic.of(List.of(two), Optional.of(new FactorRange(0.5, 0.5)), 0, 1), FEW_STEPS)
            .run(ReplayAllocator.MALLOC, target, null);

    String failure = run.failure().orElseThrow();
    assertTrue(
        failure.startsWith(
            "thread 0, step 0, releasing tensor first of 200 bytes: the byte at offset 40 is 0x"),
        failure);
    assertEquals(0, target.out());
    assertTrue(target.isClosed());
  }

  @Test
  void shouldRefuseWhenAFactorMakesATensorTooLarge() {
    Traffic traffic = Traffic.of(List.of(OTHER), Optional.of(new FactorRange(1, 5000)), 0, 1);

    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> new VaryingReplayer(traffic, ReplayOptions.DEFAULT));

    assertEquals(
        "o: tensor it of 500000 bytes times 5000.0 exceeds 2147483519, the most that can be"
            + " replayed",
        refused.getMessage());
  }

  @Test
  void shouldKnowTheLoadOfTheLargestStep() {
    Traffic doubled = Traffic.of(List.of(TRACE, OTHER), Optional.of(new FactorRange(0, 2)), 0, 1);

    assertEquals(1_000_000, doubled.loadBytes(1));
    assertEquals(1_000_000, doubled.loadBytes(64));
    assertEquals(100_032 + 128, Traffic.of(List.of(TRACE), Optional.empty(), 0, 1).loadBytes(64));
  }
}
