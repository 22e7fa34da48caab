package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.Api;
import io.prmalloc.trace.replay.lane.PoolSetup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A plan that cannot be written when a run is over does not cost the run's figures. */
class UnkeptPlanTest {

  private static final Trace TRACE = Trace.builder("t").allocate("a", 100_000).build();

  @TempDir private Path directory;
  private ReplayOptions options;
  private String complaint;

  @BeforeEach
  void chooseAFileWhoseDirectoryIsGone() {
    Path file = directory.resolve("gone").resolve("plan");
    complaint = file + ": cannot be written";
    options =
        ReplayOptions.DEFAULT
            .withSteps(100)
            .withApi(Api.HANDLE)
            .withPool(
                new PoolSetup(
                    Optional.empty(),
                    Optional.empty(),
                    Optional.of(file),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty()));
  }

  private void check(ReplayRun run) {
    assertEquals(Optional.of(complaint), run.failure());
    assertTrue(run.measured().isPresent(), run::toString);
    assertTrue(ReplayReport.json(run).contains("\"nanosPerPair\":"), run::toString);
  }

  @Test
  void shouldKeepTheFiguresOfEqualSteps() throws InterruptedException {
    check(new Replayer(TRACE, options, Duration.ZERO).run(ReplayAllocator.POOL, null));
  }

  @Test
  void shouldKeepTheFiguresOfStepsThatVary() throws InterruptedException {
    Traffic traffic = Traffic.of(List.of(TRACE), Optional.empty(), 0, 1);

    check(new VaryingReplayer(traffic, options).run(ReplayAllocator.PLANNED, null));
  }

  @Test
  void shouldKeepThePhasesOfTrafficThatShifts() throws InterruptedException {
    ShiftRun run =
        new ShiftReplayer(List.of(TRACE), options, Duration.ZERO).run(ReplayAllocator.POOL, null);

    assertEquals(Optional.of(complaint), run.failure());
    assertEquals(1, run.phases().size());
  }
}
