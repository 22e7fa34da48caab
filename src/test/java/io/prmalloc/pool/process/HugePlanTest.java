package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptStep;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A shared plan that is too much for the heap of one replica. */
class HugePlanTest {

  private static final int REQUESTS = 400_000;

  @TempDir private Path plans;
  @TempDir private Path directory;

  private static byte[] huge() {
    long[] sizes = new long[REQUESTS];
    int[] ends = new int[REQUESTS];
    for (int request = 0; request < REQUESTS; request++) {
      sizes[request] = 64;
      ends[request] = request + 1;
    }
    KeptStep step = new KeptStep("key", false, sizes, ends, new long[REQUESTS]);
    return new KeptPlan(Optional.empty(), List.of(step)).encode();
  }

  @Test
  void shouldRefuseAPlanBeforeItExhaustsTheHeapAndLeaveItForTheOthers() throws Exception {
    byte[] plan = huge();
    Path file = Files.write(plans.resolve("model.v" + KeptPlan.FORMAT_VERSION + ".json"), plan);
    // The heap is exhausted where the plan is read, and then the process ends.
    ChildJvm.Result result =
        new ChildJvm(directory)
            .flags("-Xmx40m", "-XX:+ExitOnOutOfMemoryError")
            .run(HugePlanMain.class, plans.toString());
    assertEquals(0, result.exitCode(), result.errors());
    assertEquals("{published=0, refused=1, taken=0, unavailable=0}", result.output().strip());
    assertArrayEquals(plan, Files.readAllBytes(file));
  }
}
