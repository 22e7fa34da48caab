package io.prmalloc.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.prmalloc.PageCode;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.pool.PoolSnapshot;
import io.prmalloc.pool.TensorPoolAllocator;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** The code on the page {@code docs/observability.md}, and the names in its tables. */
class ObservabilityPageTest {

  private static final ObjectName BEAN = name();

  private static ObjectName name() {
    try {
      return new ObjectName("io.prmalloc:type=TensorPool,name=main");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("observability.md", ObservabilityPageTest.class);
  }

  @Test
  void shouldNameEveryMeterOnThePage() throws Exception {
    String page = Files.readString(Path.of("../docs/observability.md"));
    MeterRegistry registry = new SimpleMeterRegistry();
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      new PrmallocMetrics(pool, "main").bindTo(registry);
      List<String> missing =
          registry.getMeters().stream()
              .map(meter -> meter.getId().getName())
              .distinct()
              .filter(name -> !isNamed(page, name))
              .toList();
      assertEquals(List.of(), missing);
    }
  }

  /** In full, or by what follows {@code prmalloc.memory} or {@code prmalloc.steps}. */
  private static boolean isNamed(String page, String name) {
    String end = name.replaceFirst("prmalloc\\.[a-z]+", "");
    return page.contains("`" + name + "`")
        || Pattern.compile("`prmalloc[^\n]*`" + Pattern.quote(end) + "`").matcher(page).find();
  }

  @Test
  void shouldLook() {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      // page
      PoolSnapshot now = pool.snapshot();
      long used = now.memory().bytesInUse();
      long reserved = now.memory().bytesReserved();
      double hitRate = now.requests().hitRate();
      System.out.println(pool.dumpStats());
      // end of page
      assertEquals(0, used + reserved);
      assertEquals(1, hitRate);
    }
  }

  @Test
  void shouldSayWhyLearningFailed() {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      // page
      PoolSnapshot state = pool.snapshot();
      if (state.phase() == MemoryPlanner.Phase.GAVE_UP) {
        System.out.println(state.lastLearningFailure().orElseThrow());
      }
      // end of page
      assertEquals(MemoryPlanner.Phase.WAITING, state.phase());
    }
  }

  @Test
  void shouldNameEveryPhaseOnThePage() throws Exception {
    String page = Files.readString(Path.of("../docs/observability.md"));
    for (MemoryPlanner.Phase phase : MemoryPlanner.Phase.values()) {
      assertTrue(page.contains("`" + phase.name().toLowerCase(Locale.ROOT) + "`"), phase.name());
    }
  }

  @Test
  void shouldMeasure() {
    MeterRegistry registry = new SimpleMeterRegistry();
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      // page
      new PrmallocMetrics(pool, "main").bindTo(registry);
      // end of page
      assertFalse(registry.getMeters().isEmpty());
    }
  }

  @Test
  void shouldShowABean() {
    // page
    TensorPoolAllocator shown = TensorPoolAllocator.builder().jmx("main").build();
    // end of page
    assertTrue(ManagementFactory.getPlatformMBeanServer().isRegistered(BEAN));
    shown.close();
  }

  private static void dropCaches() {}

  @Test
  void shouldLimit() {
    // page
    TensorPoolAllocator limited =
        TensorPoolAllocator.builder()
            .subAllocator(SubAllocator.direct(512L << 20)) // refuses more
            .softLimit(400L << 20, (reservedBytes, limitBytes) -> dropCaches()) // tells of more
            .build();
    // end of page
    assertEquals(512L << 20, limited.stats().bytesLimit().getAsLong());
    limited.close();
  }

  @Test
  void shouldGiveBack() {
    // page
    TensorPoolAllocator patient =
        TensorPoolAllocator.builder().trimAfterIdle(Duration.ofMinutes(5)).build();
    long bytes = patient.trim();
    // end of page
    assertEquals(0, bytes);
    patient.close();
  }
}
