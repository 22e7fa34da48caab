package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plan files with numbers that are out of range, and with a right checksum. */
class PlanFuzzTest {

  @TempDir private Path directory;

  private static BinPlan bin(int index, int interval, int blocks, List<Integer> targets) {
    return new BinPlan(index, LifetimePolicy.chunkBytes(index, interval), 64, blocks, targets);
  }

  private static KeptPlan plan(int interval) {
    List<BinPlan> bins =
        List.of(
            bin(0, interval, 2, List.of(2)),
            bin(1, interval, 0, List.of(2)),
            bin(2, interval, 1, List.of()));
    long total = bins.stream().mapToLong(bin -> bin.blocks() * bin.chunkBytes()).sum();
    KeptPool pool =
        new KeptPool(new LifetimePlan(interval, total, bins, List.of(), 2), List.of(2, 0, 2));
    KeptStep step =
        new KeptStep(
            "a", false, new long[] {100, 200, 100}, new int[] {2, 3, 3}, new long[] {0, 128, 0});
    KeptStep small = new KeptStep(7, false, new long[] {70_000}, new int[] {1}, new long[] {0});
    KeptStep large = new KeptStep(7L, true, new long[] {90_000}, new int[] {1}, new long[] {0});
    return new KeptPlan(Optional.of(pool), List.of(step, small, large));
  }

  @Test
  void shouldRefuseEveryNumberThatIsNoPlanOrKeepToTheLimit() throws Exception {
    Path first = directory.resolve("first.json");
    plan(4096).save(first);
    Path fine = directory.resolve("fine.json");
    plan(64).save(fine);
    ChildJvm.Result result =
        new ChildJvm(directory).run(PlanFuzzMain.class, first.toString(), fine.toString());
    assertEquals(0, result.exitCode(), result.errors());
    Matcher counts =
        Pattern.compile("refused (\\d+), no memory (\\d+), served (\\d+)\\R")
            .matcher(result.output());
    for (int file = 0; file < 2; file++) {
      assertTrue(counts.find(), result.output());
      for (int outcome = 1; outcome <= 3; outcome++) {
        assertTrue(Integer.parseInt(counts.group(outcome)) > 0, result.output());
      }
    }
    String rest = counts.replaceAll("").strip();
    assertTrue(
        rest.matches(
            "0 bytes taken: the plan's blocks and size classes need \\d+ bytes of the Java heap, not"
                + " from 0 to \\d+: start the JVM with a larger -Xmx"),
        rest);
  }
}
