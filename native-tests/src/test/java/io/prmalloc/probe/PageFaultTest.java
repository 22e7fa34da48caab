package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.internal.os.HugePageMode;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Page faults of this thread, counted by C around whole steps in which every page of every tensor
 * is touched. The Java heap of this module's JVMs is resident from the start, so handles, which may
 * be garbage, cause no faults.
 */
@NeedsProbe
class PageFaultTest {

  // The C library hides what allocateDirect costs: whenever a block of up to 32 MiB comes back for
  // which it asked the system, it keeps that much and more for itself from then on. A step of
  // smaller tensors then causes one fault or so, and the memory stays resident for ever. What a
  // thread gave back is kept in heaps of up to 64 MiB, so a tensor may find room there as long as
  // it is smaller than that, even one over 32 MiB. So what allocateDirect costs is shown twice:
  // with tensors larger than any of this, and with a C library that keeps to its first threshold.
  // Both times in a JVM of its own, for what earlier tests gave back is kept, too.

  /** No tensor over 24 MiB; some 70 MiB at a time, which more layers would not change. */
  private static final Step STEP = Step.of(7, 30, 24 << 20);

  /** Two tensors between 64 and 96 MiB; some 110 MiB at a time. */
  private static final Step LARGE_STEP = Step.of(163, 4, 96 << 20);

  private static final int STEPS = 51;

  /** Each takes a thousand times as long, and has more than ten times the faults asked for. */
  private static final int PLAIN_STEPS = 1;

  /** In the first of them the C library learns what it keeps. */
  private static final int PLAIN_SETTLING_STEPS = 2;

  private static final long THOUSANDS = 2000;

  @TempDir private Path directory;

  static Stream<Setting> settledPools() {
    return Setting.all().filter(setting -> setting.kind() == Setting.Kind.POOL_SETTLED);
  }

  private static void assertNoFaults(Setting setting, Step step) {
    try (TensorPoolAllocator pool = Pools.open(setting.source().open())) {
      Tensors tensors = setting.tensors(pool);
      Touch touch = new Touch(tensors, step);
      // No page needs to be there yet: the steps that are not counted touch them all.
      Pools.warmUp(pool, step, tensors);
      FaultCount count = FaultCount.of(STEPS, () -> Pools.runStep(pool, step, tensors, touch));
      assertTrue(touch.pages() > 0);
      assertEquals(0, count.medianMinor(), count::toString);
      assertEquals(0, count.medianMajor(), count::toString);
      // Mostly there is none at all. A stray one is the kernel's, which may take a page away to
      // move or merge it, or the JVM's, when code of ours is compiled again just now; so no more
      // than one step in ten may have any.
      assertTrue(count.stepsWithFaults() * 10 <= count.steps(), count::toString);
    }
  }

  @ParameterizedTest
  @MethodSource("settledPools")
  void shouldCauseNoFaultWhenPoolHasSettled(Setting setting) {
    assertNoFaults(setting, STEP);
  }

  private static void assumeSmallPages() {
    assumeTrue(
        OperatingSystem.hugePageMode() != HugePageMode.ALWAYS,
        "every memory gets huge pages here, so one fault brings in 2 MiB");
  }

  private void assertOnlyPlainBuffersCauseThem(Map<String, String> environment, String step)
      throws Exception {
    long median =
        Long.parseLong(ChildJvm.run(directory, environment, PlainAndPooled.class, step).strip());
    assumeSmallPages();
    assertTrue(median >= THOUSANDS, () -> "plain buffers: " + median);
  }

  @Test
  void shouldCauseNoneButInPlainBuffersWhenTheseAreLargerThanWhatTheCLibraryKeeps()
      throws Exception {
    assertOnlyPlainBuffersCauseThem(Map.of(), "large");
  }

  @Tag("long")
  @Test
  void shouldCauseNoneButInPlainBuffersWhenTheCLibraryKeepsLittle() throws Exception {
    // 128 KiB is where glibc begins; to set it keeps it from growing. Other C libraries have
    // such a threshold for good.
    assertOnlyPlainBuffersCauseThem(Map.of("MALLOC_MMAP_THRESHOLD_", "131072"), "usual");
  }

  /**
   * The same step through plain buffers and through a pool, side by side in a JVM of its own. Says
   * how many faults plain buffers cause, and fails if the pool causes any.
   */
  static final class PlainAndPooled {

    private PlainAndPooled() {}

    public static void main(String[] arguments) {
      Step step = arguments[0].equals("large") ? LARGE_STEP : STEP;
      Tensors plain = new Tensors.PlainBuffers();
      Touch touchPlain = new Touch(plain, step);
      FaultCount plainCount =
          FaultCount.of(PLAIN_SETTLING_STEPS, PLAIN_STEPS, () -> step.run(plain, touchPlain));
      assertNoFaults(new Setting(Setting.Kind.POOL_SETTLED, Source.DIRECT, false), step);
      System.out.println(plainCount.medianMinor());
    }
  }
}
