package io.prmalloc.pool.race;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.ChildJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The results of concurrent operations on buffers, bins and stacks are those of the same operations
 * in some sequence. Here in short form; the profile {@code proof} runs more and longer.
 */
@Tag("jdk-independent")
class LincheckTest {

  private static final boolean IN_SHORT = System.getProperty("proof.lincheck.scenarios") == null;
  private static final String SCENARIOS = System.getProperty("proof.lincheck.scenarios", "2");
  private static final String RUNS = System.getProperty("proof.lincheck.runs", "50");

  @TempDir private Path directory;

  @ParameterizedTest
  @EnumSource
  void shouldLookAsIfInARowWhenThreadsWorkTogether(LincheckMain.Strategy strategy)
      throws Exception {
    ChildJvm child = new ChildJvm(directory);
    // C2 takes longer for the code that Lincheck makes than a short run with C1.
    if (!IN_SHORT) {
      child.withC2();
    }
    ChildJvm.Result result =
        child
            .flags("-Xmx1g", "-XX:+EnableDynamicAgentLoading", "-Djdk.attach.allowAttachSelf=true")
            .flags("--add-opens=java.base/java.lang=ALL-UNNAMED")
            .flags("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED")
            .flags("--add-exports=java.base/jdk.internal.util=ALL-UNNAMED")
            .run(LincheckMain.class, strategy.name(), SCENARIOS, RUNS);
    assertEquals(0, result.exitCode(), () -> result.output() + result.errors());
    for (LincheckMain.Model model : LincheckMain.Model.values()) {
      assertTrue(result.output().contains(model + " is sound"), () -> result.output());
    }
  }
}
