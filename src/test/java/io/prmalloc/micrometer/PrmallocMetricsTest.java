package io.prmalloc.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.EngineStats;
import io.prmalloc.pool.TensorPoolAllocator;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PrmallocMetricsTest {

  private static final int KIB = 1024;
  private static final int MIB = 1 << 20;

  private final SubAllocator source = SubAllocator.direct(64 * MIB);
  private final TensorPoolAllocator pool =
      TensorPoolAllocator.builder()
          .subAllocator(source)
          .executor(Runnable::run)
          .startStatisticStep(0)
          .stableStatisticStep(1)
          .maxOversize(1)
          .stepPlanningTime(Duration.ZERO)
          .build();
  private final MeterRegistry registry = new SimpleMeterRegistry();

  /** Goes on by a second at every look, so that nothing is recent. */
  private long nanos;

  private void bind(MeterRegistry to) {
    new PrmallocMetrics(pool, "main", () -> nanos += 1_000_000_000).bindTo(to);
  }

  @AfterEach
  void close() {
    pool.close();
  }

  private long gauge(String name, String... tags) {
    return (long) registry.get(name).tag("pool", "main").tags(tags).gauge().value();
  }

  private long count(String name, String... tags) {
    return (long) registry.get(name).tag("pool", "main").tags(tags).functionCounter().count();
  }

  private void learn() {
    while (!pool.isPooling()) {
      ScopedMemoryCollector step = pool.collect();
      pool.allocate(MIB).close();
      step.close();
    }
  }

  @Test
  void shouldTellOfMemory() {
    bind(registry);
    assertEquals(0, gauge("prmalloc.memory.reserved"));
    assertEquals(64 * MIB, gauge("prmalloc.memory.limit"));
    learn();
    assertEquals(0, gauge("prmalloc.memory.used"));
    long reserved = gauge("prmalloc.memory.reserved");
    assertEquals(source.bytesReserved(), reserved);
    assertEquals(reserved, gauge("prmalloc.memory.committed"));
    assertEquals(reserved, gauge("prmalloc.plan.arena"));
    Allocation allocation = pool.allocate(MIB - 1);
    assertEquals(MIB - 1, gauge("prmalloc.memory.used"));
    allocation.close();
    assertEquals(0, gauge("prmalloc.memory.used"));
    assertTrue(gauge("prmalloc.memory.used.peak") >= MIB);
    assertTrue(gauge("prmalloc.memory.reserved.peak") >= reserved);

    long trimmed = pool.trim();

    assertEquals(reserved, gauge("prmalloc.memory.reserved"));
    assertEquals(reserved - trimmed, gauge("prmalloc.memory.committed"));
    pool.allocate(MIB).close();
    assertEquals(reserved, gauge("prmalloc.memory.committed"));
  }

  @Test
  void shouldTellOfRequestsByWhatTheyFound() {
    bind(registry);
    learn();
    long unpooled = count("prmalloc.requests.unpooled");
    assertTrue(unpooled > 0);
    pool.allocate(100).close();
    List<Allocation> out =
        LongStream.of(MIB, MIB, 64 * KIB, 64 * KIB + 1, 3 * MIB).mapToObj(pool::allocate).toList();
    assertEquals(1, count("prmalloc.requests", "result", "small"));
    assertEquals(1, count("prmalloc.requests", "result", "hit"));
    assertEquals(1, count("prmalloc.requests", "result", "miss"));
    assertEquals(3, count("prmalloc.requests", "result", "null_bin"));
    assertEquals(unpooled + 4, count("prmalloc.requests.unpooled"));
    assertEquals(1, count("prmalloc.null.bins", "size", "65536"));
    assertEquals(1, count("prmalloc.null.bins", "size", "131072"));
    assertEquals(0, count("prmalloc.null.bins", "size", "2097152"));
    assertEquals(1, count("prmalloc.null.bins", "size", "4194304"));
    assertEquals(16, registry.get("prmalloc.null.bins").functionCounters().size());
    out.forEach(Allocation::close);
  }

  @Test
  void shouldTellOfPlannerAndSteps() {
    bind(registry);
    assertEquals(1, gauge("prmalloc.planner.phase", "phase", "waiting"));
    for (int i = 0; i < 10; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        step.allocate(100 * KIB).close();
        if (i == 9) {
          step.allocate(300 * KIB).close();
        }
      }
    }
    assertEquals(pool.stepStats().plannedSteps(), count("prmalloc.steps", "kind", "planned"));
    assertEquals(
        10,
        count("prmalloc.steps", "kind", "planned") + count("prmalloc.steps", "kind", "unplanned"));
    assertEquals(1, count("prmalloc.steps.departed"));
    assertEquals(pool.stepStats().departedRequests(), count("prmalloc.steps.departed.requests"));
    assertEquals(1, count("prmalloc.steps.departed.requests"));
    assertEquals(1, count("prmalloc.steps.raised"));
    assertEquals(0, count("prmalloc.steps.lowered"));
    assertEquals(1, count("prmalloc.steps.replans"));
    assertEquals(1, gauge("prmalloc.steps.plans"));
    assertEquals(1, gauge("prmalloc.steps.arenas"));
    assertEquals(pool.stepStats().arenaBytes(), gauge("prmalloc.steps.arena.memory"));
    learn();
    assertEquals(0, gauge("prmalloc.planner.phase", "phase", "waiting"));
    assertEquals(1, gauge("prmalloc.planner.phase", "phase", "done"));
    assertEquals(pool.poolStats().packedSteps(), gauge("prmalloc.planner.packed.steps"));
  }

  @Test
  void shouldTellOfAnEngineThatWasAttachedBefore() {
    pool.attachEngine(() -> new EngineStats("engine", 1000, 3, 200, 40, 80, 2, 17));
    bind(registry);
    assertEquals(1000, gauge("prmalloc.engine.memory", "engine", "engine", "kind", "tensors"));
    assertEquals(200, gauge("prmalloc.engine.memory", "engine", "engine", "kind", "weights"));
    assertEquals(40, gauge("prmalloc.engine.memory", "engine", "engine", "kind", "overrun"));
    assertEquals(17, count("prmalloc.engine.requests", "engine", "engine"));
    assertEquals(2, count("prmalloc.engine.overruns", "engine", "engine"));
  }

  @Test
  void shouldTellOfLearningThatFails() {
    try (TensorPoolAllocator failing =
        TensorPoolAllocator.builder().executor(Runnable::run).startStatisticStep(0).build()) {
      new PrmallocMetrics(failing, "failing", () -> nanos).bindTo(registry);
      Tags tags = Tags.of("pool", "failing");
      assertEquals(
          0, registry.get("prmalloc.planner.failures").tags(tags).functionCounter().count());
      ScopedMemoryCollector step = failing.collect();
      // Nothing so small is to be planned.
      failing.planner().trackFree(failing.planner().trackAllocate(64, 100));
      step.close();
      nanos += Duration.ofSeconds(1).toNanos();
      assertEquals(
          1, registry.get("prmalloc.planner.failures").tags(tags).functionCounter().count());
      assertEquals(
          1,
          registry
              .get("prmalloc.planner.phase")
              .tags(tags.and("phase", "gave_up"))
              .gauge()
              .value());
    }
  }

  @Test
  void shouldTellOfPageFaults() {
    bind(registry);
    long before = OperatingSystem.processUsage().minorFaults();
    double told =
        registry.get("prmalloc.process.page.faults").tag("kind", "minor").functionCounter().count();
    assertTrue(told >= before && told <= OperatingSystem.processUsage().minorFaults());
    assertNotNull(registry.get("prmalloc.process.page.faults").tag("kind", "major").meter());
  }

  @Test
  void shouldShareOneSnapshotWhenTheRegistryAsksAtOnce() {
    new PrmallocMetrics(pool, "main", () -> nanos).bindTo(registry);
    assertEquals(0, gauge("prmalloc.memory.used"));
    Allocation allocation = pool.allocate(100);
    assertEquals(0, gauge("prmalloc.memory.used"));
    nanos += Duration.ofMillis(100).toNanos();
    assertEquals(100, gauge("prmalloc.memory.used"));
    allocation.close();
  }

  @Test
  void shouldTellPoolsApartWhenTheyShareARegistry() {
    bind(registry);
    try (TensorPoolAllocator other = TensorPoolAllocator.builder().build()) {
      Allocation allocation = other.allocate(100);
      new PrmallocMetrics(other, "other").bindTo(registry);
      assertEquals(100, registry.get("prmalloc.memory.used").tag("pool", "other").gauge().value());
      assertEquals(0, gauge("prmalloc.memory.used"));
      allocation.close();
    }
  }

  @Test
  void shouldRefuseASecondPoolOfAName() {
    bind(registry);
    try (TensorPoolAllocator other = TensorPoolAllocator.builder().build()) {
      IllegalStateException refused =
          assertThrows(
              IllegalStateException.class,
              () -> new PrmallocMetrics(other, "main").bindTo(registry));
      assertTrue(refused.getMessage().contains("`main`"), refused::getMessage);
      new PrmallocMetrics(other, "main").bindTo(new SimpleMeterRegistry());
    }
    // The first one is still shown, and may be bound again.
    bind(registry);
    Allocation allocation = pool.allocate(100);
    assertEquals(100, gauge("prmalloc.memory.used"));
    allocation.close();
  }

  private static void assertRefused(TensorPoolAllocator pool, MeterRegistry registry) {
    IllegalStateException e =
        assertThrows(
            IllegalStateException.class, () -> new PrmallocMetrics(pool, "a").bindTo(registry));
    assertTrue(e.getMessage().contains("another pool with the name `a`"), e::getMessage);
  }

  @Test
  void shouldRefuseASecondPoolOfANameWhenRegistriesAreComposed() {
    try (TensorPoolAllocator one = TensorPoolAllocator.builder().build();
        TensorPoolAllocator other = TensorPoolAllocator.builder().build()) {
      MeterRegistry below = new SimpleMeterRegistry();
      CompositeMeterRegistry inner = new CompositeMeterRegistry(Clock.SYSTEM, List.of(below));
      CompositeMeterRegistry outer = new CompositeMeterRegistry(Clock.SYSTEM, List.of(inner));
      CompositeMeterRegistry beside = new CompositeMeterRegistry(Clock.SYSTEM, List.of(below));
      List<MeterRegistry> all = List.of(below, inner, outer, beside);
      new PrmallocMetrics(one, "a").bindTo(below);
      all.forEach(registry -> assertRefused(other, registry));
      MeterRegistry added = new SimpleMeterRegistry();
      new PrmallocMetrics(other, "a").bindTo(added);
      // The other way around: through the composite first, and to a part that was given later.
      CompositeMeterRegistry late = new CompositeMeterRegistry();
      new PrmallocMetrics(one, "a").bindTo(late);
      MeterRegistry part = new SimpleMeterRegistry();
      late.add(part);
      assertRefused(other, part);
      late.remove(part);
      new PrmallocMetrics(other, "a").bindTo(new CompositeMeterRegistry());
      // The same pool may be there on both ways.
      all.forEach(registry -> new PrmallocMetrics(one, "a").bindTo(registry));
    }
  }

  @Test
  void shouldShowThePoolAfterAClosedOneWhenRegistriesAreComposed() {
    MeterRegistry below = new SimpleMeterRegistry();
    CompositeMeterRegistry composite = new CompositeMeterRegistry(Clock.SYSTEM, List.of(below));
    long bytes = 4096;
    for (MeterRegistry registry : List.of(below, composite, below, composite)) {
      bytes += 4096;
      try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
          Allocation taken = pool.allocate(bytes)) {
        new PrmallocMetrics(pool, "a").bindTo(registry);
        double used = below.get("prmalloc.memory.used").gauge().value();
        assertEquals((double) taken.sizeBytes(), used, registry::toString);
      }
    }
  }

  @Test
  void shouldShowThePoolThatComesAfterOneThatIsClosed() {
    PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    TensorPoolAllocator before = TensorPoolAllocator.builder().build();
    new PrmallocMetrics(before, "main").bindTo(prometheus);
    before.allocate(100).close();
    before.close();
    int meters = prometheus.getMeters().size();
    bind(prometheus);
    assertEquals(meters, prometheus.getMeters().size());
    Allocation allocation = pool.allocate(300);
    String text = prometheus.scrape();
    assertTrue(text.contains("\nprmalloc_memory_used_bytes{pool=\"main\"} 300.0\n"), text);
    allocation.close();
  }

  @Test
  void shouldTellOfPageFaultsWhenThePoolThatWasBoundFirstIsForgotten() throws Exception {
    WeakReference<TensorPoolAllocator> first =
        new WeakReference<>(TensorPoolAllocator.builder().build());
    new PrmallocMetrics(first.get(), "first").bindTo(registry);
    bind(registry);
    assertEquals(2, registry.find("prmalloc.process.page.faults").meters().size());
    while (first.get() != null) {
      System.gc();
      Thread.sleep(1);
    }
    long before = OperatingSystem.processUsage().minorFaults();
    double told =
        registry.get("prmalloc.process.page.faults").tag("kind", "minor").functionCounter().count();
    assertTrue(told >= before, () -> told + " of " + before);
  }

  @Test
  void shouldRefuseNull() {
    assertThrows(NullPointerException.class, () -> new PrmallocMetrics(null, "main"));
    assertThrows(NullPointerException.class, () -> new PrmallocMetrics(pool, null));
  }

  @Test
  void shouldReadAsPrometheusWantsIt() {
    PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    bind(prometheus);
    Allocation allocation = pool.allocate(100);
    String text = prometheus.scrape();
    assertTrue(text.contains("\nprmalloc_memory_used_bytes{pool=\"main\"} 100.0\n"), text);
    assertTrue(
        text.contains("\nprmalloc_requests_total{pool=\"main\",result=\"small\"} 1.0\n"), text);
    allocation.close();
  }

  @Test
  void shouldDescribeEveryMeter() {
    bind(registry);
    assertFalse(registry.getMeters().isEmpty());
    for (Meter meter : registry.getMeters()) {
      assertNotNull(meter.getId().getDescription(), meter.getId().toString());
    }
  }
}
