package io.prmalloc.trace.swap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.trace.MnnFiles;
import io.prmalloc.trace.MnnOp;
import io.prmalloc.trace.MnnOp.ScratchEvent;
import io.prmalloc.trace.MnnProfile;
import io.prmalloc.trace.simulate.ModelKind;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecomputingTest {

  /** Forward 0 → 1 → 2; backward 3 reads 2, 4 reads 1, 5 reads 0. Operator 1 has scratch memory. */
  private static SwapStep step() {
    List<ScratchEvent> none = List.of();
    List<MnnOp> ops =
        List.of(
            new MnnOp("a", List.of(), List.of("0"), List.of(), none),
            new MnnOp(
                "b",
                List.of("0"),
                List.of("1"),
                List.of(),
                List.of(new ScratchEvent(true, "1:0"), new ScratchEvent(false, "1:0"))),
            new MnnOp("c", List.of("1"), List.of("2"), List.of(), none),
            new MnnOp("d", List.of("2"), List.of("3"), List.of("2"), none),
            new MnnOp("e", List.of("3", "1"), List.of("4"), List.of("3", "1"), none),
            new MnnOp("f", List.of("4", "0"), List.of("5"), List.of("4", "0"), none));
    return SwapStep.of(
        new MnnProfile(
            "Net",
            1,
            new MnnFiles(Path.of("net"), "Net", 1),
            ops,
            Map.of("0", 1000L, "1", 500L, "1:0", 700L, "2", 100L, "3", 2000L, "4", 20L, "5", 10L),
            Map.of(),
            Map.of(0, 1.0, 1, 2.0, 2, 4.0, 3, 8.0, 4, 16.0, 5, 32.0)),
        3);
  }

  private static Treatment[] treatments(String letters) {
    return letters
        .chars()
        .mapToObj(
            letter ->
                switch (letter) {
                  case 'K' -> Treatment.KEEP;
                  case 'S' -> Treatment.SWAP;
                  default -> Treatment.RECOMPUTE;
                })
        .toArray(Treatment[]::new);
  }

  @ParameterizedTest
  @CsvSource({
    // What becomes of 0, 1, 2; 2 is needed first, and 0 last.
    "KKK, true",
    "KRK, true",
    "RKK, true",
    // 1 reads 0, which comes back one operator too late.
    "RRK, false",
    "SRK, false",
    // 2 reads 1, which comes back one operator too late.
    "KRR, false",
    "KSR, false",
    "KKR, true",
    "RKR, true",
    "SSS, true"
  })
  void shouldKnowWhatIsInMemoryWhenAskedForAChoice(String letters, boolean possible) {
    assertEquals(possible, new Recomputing(step()).isPossible(treatments(letters)));
  }

  /** Both are first needed by the same operator, which names one of them first. */
  @ParameterizedTest
  @CsvSource({"0;1, RR, true", "1;0, RR, false", "1;0, SR, true", "1;0, KR, true"})
  void shouldMindTheOrderWhenBothAreNeededAtOnce(String inputs, String letters, boolean possible) {
    MnnOp first = new MnnOp("a", List.of(), List.of("0"), List.of(), List.of());
    MnnOp second = new MnnOp("b", List.of("0"), List.of("1"), List.of(), List.of());
    MnnOp third =
        new MnnOp("c", List.of(inputs.split(";", -1)), List.of("2"), List.of("0", "1"), List.of());
    SwapStep step =
        SwapStep.of(
            new MnnProfile(
                "Net",
                1,
                new MnnFiles(Path.of("net"), "Net", 1),
                List.of(first, second, third),
                Map.of("0", 1000L, "1", 500L, "2", 100L),
                Map.of(),
                Map.of(0, 1.0, 1, 2.0, 2, 3.0)),
            2);

    assertEquals(possible, new Recomputing(step).isPossible(treatments(letters)));
  }

  /**
   * Tensor 1 goes after operator 2 and is made again for operator 4, with its scratch memory: alive
   * are 0 and 3 then, and 1 and 1:0 besides. Kept, it would be there with 0, 2 and 3 at operator 3.
   */
  @ParameterizedTest
  @CsvSource({
    "SYNC, KKK, 63, 3600",
    "SYNC, KRK, 65, 4200",
    "SEMI_SYNC, KRK, 65, 4200",
    "ASYNC, KRK, 65, 4200"
  })
  void shouldTakeTimeAndScratchMemoryWhenSomethingIsComputedAgain(
      SwapMode mode, String letters, double millis, long peakBytes) {
    SwapRun run =
        SwapSimulator.run(
            step(),
            treatments(letters),
            MapChooserTest.options(mode, ModelKind.OS, 0, true),
            null,
            null);

    assertEquals(millis, run.totalMillis(), 1e-9);
    assertEquals(63, run.computeMillis(), 1e-9);
    assertEquals(millis - 63, run.recomputeMillis(), 1e-9);
    assertEquals(0, run.stallMillis(), 1e-9);
    assertEquals(peakBytes, run.peakBytes());
    assertEquals(0, run.bytesOut() + run.bytesIn());
  }

  @Test
  void shouldNotComputeAgainWhenNobodyReadsItAgain() {
    MnnOp first = new MnnOp("a", List.of(), List.of("0", "1"), List.of(), List.of());
    MnnOp second = new MnnOp("b", List.of("1"), List.of("2"), List.of("0", "1"), List.of());
    SwapStep step =
        SwapStep.of(
            new MnnProfile(
                "Net",
                1,
                new MnnFiles(Path.of("net"), "Net", 1),
                List.of(first, second),
                Map.of("0", 1000L, "1", 500L, "2", 100L),
                Map.of(),
                Map.of(0, 1.0, 1, 2.0)),
            1);

    assertEquals(false, new Recomputing(step).isPossible(treatments("RK")));
    // It is written, and not read: its release finds nothing to release.
    SwapRun run =
        SwapSimulator.run(
            step,
            treatments("SK"),
            MapChooserTest.options(SwapMode.SYNC, ModelKind.POOL, 0, false),
            null,
            null);
    assertEquals(1000, run.bytesOut());
    assertEquals(0, run.bytesIn());
    assertEquals(4, run.totalMillis(), 1e-9);
  }
}
