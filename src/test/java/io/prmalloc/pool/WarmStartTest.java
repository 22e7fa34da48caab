package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.LogRecords;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.kept.PlanFormatException;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.process.LimitedPoolMain;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool that starts with the plan of another one. */
class WarmStartTest {

  private static final int[] SHARED = {100_000, 40_000, 300_000, 40_000, 100_000, 50_000};
  private static final int[] PLANNED = {70_000, 100, 90_000, 100};

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("plan.json");
  }

  private static TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder().startStatisticStep(0).executor(Runnable::run);
  }

  private static void step(TensorPoolAllocator pool, boolean planned, int... sizes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      Deque<Allocation> live = new ArrayDeque<>();
      for (int size : sizes) {
        live.add(planned ? step.allocate(size) : pool.allocate(size));
        if (live.size() > 2) {
          live.poll().close();
        }
      }
      live.forEach(Allocation::close);
    }
  }

  /** A pool that has both kinds of plan, saved. */
  private void save() throws IOException {
    try (TensorPoolAllocator pool = builder().build()) {
      while (!pool.isPooling()) {
        step(pool, false, SHARED);
      }
      while (pool.stepStats().plans() == 0) {
        step(pool, true, PLANNED);
      }
      assertEquals(0, pool.plan().save(file()));
    }
  }

  @Test
  void shouldServeFromTheFirstStepOnWhenAPlanWasKept() throws IOException {
    save();
    try (TensorPoolAllocator pool = builder().plan(file()).build()) {
      assertTrue(pool.isPooling());
      assertEquals(MemoryPlanner.Phase.DONE, pool.planner().phase());
      for (int i = 0; i < 3; i++) {
        step(pool, false, SHARED);
        step(pool, true, PLANNED);
      }
      PoolStats stats = pool.poolStats();
      assertEquals(3L * SHARED.length, stats.hits());
      assertEquals(0, stats.misses() + stats.nullBins() + stats.unpooledRequests());
      assertEquals(1, stats.hitRate());
      assertEquals(3, pool.stepStats().plannedSteps());
      assertEquals(0, pool.stepStats().departedSteps() + pool.stepStats().unplannedSteps());
      // What was kept can be kept on.
      assertEquals(pool.plan(), io.prmalloc.kept.KeptPlan.load(file()));
    }
  }

  @Test
  void shouldLearnAnewWhenThePlanIsOfOtherSteps() throws IOException {
    save();
    try (TensorPoolAllocator pool = builder().plan(file()).build()) {
      int[] other = {PLANNED[0], 300_000, 100};
      for (int i = 0; i < KeyedSteps.DEPARTURES + KeyedSteps.REPEATS + 5; i++) {
        step(pool, true, other);
      }
      assertEquals(1, pool.stepStats().replans());
      assertEquals(5, pool.stepStats().plannedSteps() - KeyedSteps.DEPARTURES);
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  @Test
  void shouldRefuseOrStartColdWhenTheFileIsBad() throws IOException {
    save();
    Files.writeString(file(), Files.readString(file()).replace("90000", "90001"));
    assertThrows(PlanFormatException.class, () -> builder().plan(file()));
    try (TensorPoolAllocator pool = builder().planIfUsable(file()).build()) {
      assertFalse(pool.isPooling());
      assertTrue(pool.plan().isEmpty());
    }
    Path missing = directory.resolve("missing");
    assertThrows(UncheckedIOException.class, () -> builder().plan(missing));
    builder().planIfUsable(missing).build().close();
  }

  /** What the builder logs while something runs. */
  private static List<String> logged(Runnable work) {
    try (LogRecords log = new LogRecords(TensorPoolBuilder.class.getName())) {
      work.run();
      return log.all();
    }
  }

  /** Starts a pool with the file if it is usable, and answers why it is not. */
  private String coldBecause(SubAllocator source) {
    List<String> lines =
        logged(
            () -> {
              try (TensorPoolAllocator pool =
                  builder().subAllocator(source).planIfUsable(file()).build()) {
                assertFalse(pool.isPooling());
                assertTrue(pool.plan().isEmpty());
                assertEquals(0, source.bytesReserved());
                step(pool, false, 50_000);
                assertNotEquals(MemoryPlanner.Phase.WAITING, pool.planner().phase());
              }
            });
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(lines.get(0).startsWith("no plan to start with, so the pool starts cold: "));
    return lines.get(0);
  }

  private void savePlanOf(LifetimePlan plan, int... reserved) throws IOException {
    KeptPool kept = new KeptPool(plan, Arrays.stream(reserved).boxed().toList());
    new KeptPlan(Optional.of(kept), List.of()).save(file());
  }

  private static LifetimePlan blocks(int count, int chunkBytes) {
    int index = LifetimePolicy.index(chunkBytes, 32 << 10);
    LifetimePlan.BinPlan bin = new LifetimePlan.BinPlan(index, chunkBytes, 64, count, List.of());
    return new LifetimePlan(32 << 10, (long) count * chunkBytes, List.of(bin), List.of(), 1);
  }

  @Test
  void shouldStartColdWhenThePlanIsTooLargeForTheLimit() throws IOException {
    savePlanOf(blocks(3, 20 << 20), 3);
    SubAllocator limited = SubAllocator.direct(48L << 20);
    assertTrue(
        coldBecause(limited)
            .endsWith(
                "cannot reserve 62914560 bytes: 0 reserved, limit 50331648 of the sub-allocator:"
                    + " give it a larger limitBytes"));
    assertThrows(
        OutOfNativeMemoryException.class,
        () -> builder().subAllocator(limited).plan(file()).build());
    SubAllocator enough = SubAllocator.direct(60L << 20);
    try (TensorPoolAllocator pool = builder().subAllocator(enough).planIfUsable(file()).build()) {
      assertEquals(60L << 20, pool.poolStats().arenaBytes());
    }
    assertEquals(0, enough.bytesReserved());
  }

  @Test
  void shouldStartColdWhenThePlanIsTooLargeForTheJvm() throws IOException {
    int count = (int) (Runtime.getRuntime().maxMemory() / (1 << 30)) + 2;
    savePlanOf(blocks(count, 1 << 30), count);
    String reason = coldBecause(SubAllocator.direct());
    assertTrue(reason.endsWith("start it with a larger -XX:MaxDirectMemorySize"), reason);
  }

  @Test
  void shouldTakeNoHeapForNumbersThatCannotBeMeant() throws IOException {
    savePlanOf(blocks(1, 64 << 10), 1);
    String good = Files.readString(file());
    Files.writeString(file(), good.replaceAll("\"reserved\"( ?: ?)1", "\"reserved\"$11073741824"));
    String reason = coldBecause(SubAllocator.direct());
    assertTrue(
        reason.endsWith("reserved up to bin 0 is 1073741824, not from 0 to 1048576"), reason);
    assertEquals(
        "bytes reserved up to bin "
            + LifetimePolicy.index(1 << 30, 32 << 10)
            + " is 281474976710656, not from 0 to 140737488355328",
        assertThrows(
                PlanFormatException.class, () -> new KeptPool(blocks(1, 1 << 30), List.of(1 << 18)))
            .getMessage());
    assertEquals(
        "bytes of a step is 1152921504606847040, not from 0 to 140737488355328",
        assertThrows(
                PlanFormatException.class,
                () ->
                    new KeptStep(
                        null, false, new long[] {64}, new int[] {1}, new long[] {1L << 60}))
            .getMessage());
  }

  @Test
  void shouldStartColdWhenTheFileIsADirectory() throws IOException {
    Files.createDirectory(file());
    assertTrue(coldBecause(SubAllocator.direct()).contains("FileSystemException: " + file()));
  }

  @Test
  void shouldStartColdWhenTheFileMayNotBeRead() throws IOException {
    save();
    assumeTrue(file().toFile().setReadable(false) && !Files.isReadable(file()), "root reads all");
    assertTrue(coldBecause(SubAllocator.direct()).contains("AccessDenied"));
  }

  @Test
  void shouldStartColdWhenJacksonIsNotThere() throws Exception {
    save();
    String places =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(place -> !place.contains("jackson"))
            .collect(Collectors.joining(File.pathSeparator));
    ChildJvm.Result result =
        new ChildJvm(directory)
            .flags("-cp", places, "-Dprmalloc.planIfUsable=true", "-Dprmalloc.plan=" + file())
            .run(LimitedPoolMain.class, "1", "1", "0");
    assertEquals(0, result.exitCode(), result.errors());
    assertEquals("all, pooling false, arena 0", result.output());
    String words = "plans in files need com.fasterxml.jackson.core:jackson-core on the class path";
    assertEquals(
        1, result.errors().lines().filter(line -> line.contains(words)).count(), result.errors());
  }

  @Test
  void shouldReadTheFileThatThePropertyNames() throws IOException {
    save();
    System.setProperty("prmalloc.plan", file().toString());
    try {
      try (TensorPoolAllocator pool = builder().build()) {
        assertTrue(pool.isPooling());
      }
      Files.writeString(file(), "{");
      assertThrows(PlanFormatException.class, () -> builder().build());
      System.setProperty("prmalloc.planIfUsable", "true");
      try (TensorPoolAllocator pool = builder().build()) {
        assertFalse(pool.isPooling());
      }
    } finally {
      System.clearProperty("prmalloc.plan");
      System.clearProperty("prmalloc.planIfUsable");
    }
  }

  @Test
  void shouldHoldNothingWhenThereIsNoMemoryForThePlan() throws IOException {
    save();
    SubAllocator source = SubAllocator.direct(400_000);
    assertThrows(
        OutOfNativeMemoryException.class,
        () -> builder().subAllocator(source).plan(file()).build());
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldNotPoolWhenMemoryOptimizationIsOff() throws IOException {
    save();
    try (TensorPoolAllocator pool =
        builder().enableMemoryOptimization(false).plan(file()).build()) {
      assertFalse(pool.isPooling());
    }
  }
}
