package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.internal.os.AgronaAccess;
import io.prmalloc.internal.os.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** After the JIT has compiled the calls, the pool allocates no heap. */
class HandleGarbageTest {

  @TempDir private Path directory;

  private void check(String warmUp, String work) throws IOException, InterruptedException {
    ChildJvm.Result result =
        new ChildJvm(directory)
            .withC2()
            .flags(AgronaAccess.FLAG.split(" ", -1))
            // Code is used when it is compiled and not some time later: on a busy machine that
            // would be after the test.
            .flags("-Xbatch")
            .run(HandleGarbageMain.class, warmUp, work);
    assertEquals(0, result.exitCode(), warmUp + ", " + work + ": " + result);
  }

  private static void assumeHandlersInline() {
    assumeTrue(
        Runtime.version().feature() >= 22,
        "before Java 22 the JIT does not inline what an exception handler calls that never ran");
  }

  private static void assumeHandlersThatRunInline() {
    assumeTrue(
        Runtime.version().feature() < 22,
        "from Java 22 on the JIT does not inline what an exception handler calls that runs rarely");
  }

  // With the build each kind of work, in the long form each pair that differs.

  @ParameterizedTest
  @CsvSource({"raw, planned", "recording, mixed"})
  void shouldCostNoHeapWhenHandlesAreUsedInATry(String warmUp, String work) throws Exception {
    check(warmUp, work);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({
    "long, planned",
    "long, mixed",
    "mixed, aligned",
    "long, small",
    "misses, mixed",
    "mixed, planned",
    "mixed, small",
    "mixed, mixed",
    "recorded, planned",
    "recorded, mixed",
    "recording, planned"
  })
  void shouldCostNoHeapWhenHandlesAreUsedInATryAfterOtherWarmUps(String warmUp, String work)
      throws Exception {
    check(warmUp, work);
  }

  @ParameterizedTest
  @CsvSource("mixed, raw")
  void shouldCostNoHeapWhenAddressesAreUsed(String warmUp, String work) throws Exception {
    check(warmUp, work);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"long, raw", "raw, steps"})
  void shouldCostNoHeapWhenAddressesAreUsedAfterOtherWarmUps(String warmUp, String work)
      throws Exception {
    check(warmUp, work);
  }

  @ParameterizedTest
  @CsvSource({"mixed, nested", "misses, served"})
  void shouldCostNoHeapWhenTheBodyMakesCallsThatNeverFail(String warmUp, String work)
      throws Exception {
    assumeHandlersInline();
    check(warmUp, work);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource("mixed, opaque")
  void shouldCostNoHeapWhenTheBodyMakesOtherCallsThatNeverFail(String warmUp, String work)
      throws Exception {
    assumeHandlersInline();
    check(warmUp, work);
  }

  @ParameterizedTest
  @CsvSource("handles, failing")
  void shouldCostNoHeapWhenTheBodyFailsNowAndThen(String warmUp, String work) throws Exception {
    assumeHandlersThatRunInline();
    check(warmUp, work);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"long, failing", "mixed, failing"})
  void shouldCostNoHeapWhenTheBodyFailsNowAndThenAfterOtherWarmUps(String warmUp, String work)
      throws Exception {
    assumeHandlersThatRunInline();
    check(warmUp, work);
  }
}
