package io.prmalloc.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.PageCode;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/** The code on the page {@code docs/fleet.md}. */
class FleetPageTest {

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("fleet.md", FleetPageTest.class);
  }

  private static void serve(TensorPoolAllocator pool) {
    try (ScopedMemoryCollector step = pool.collect();
        Allocation input = step.allocate(100_000)) {
      input.byteBuffer().put(0, (byte) 1);
    }
  }

  @Test
  void shouldSharePlans() throws Exception {
    java.nio.file.Path file = Path.of("").resolve("detector-2.v3.json");
    Files.deleteIfExists(file);
    // page
    PlanStore plans = PlanStore.directory(Path.of("/var/lib/plans"));
    TensorPoolAllocator pool = TensorPoolAllocator.builder().planStore(plans, "detector-2").build();
    // end of page
    while (!Files.exists(file)) {
      serve(pool);
      Thread.sleep(1);
    }
    try (TensorPoolAllocator replica =
        TensorPoolAllocator.builder().planStore(plans, "detector-2").build()) {
      serve(replica);
      assertEquals(1, replica.stepStats().plannedSteps());
    }
    pool.close();
    plans.close();
  }

  @Test
  void shouldOpenAStoreThatIsAway() throws IOException {
    // page
    PlanStore redis = RedisPlanStore.at("redis://127.0.0.1:6379?timeout=500ms");
    // end of page
    try (redis) {
      assertTrue(redis.toString().contains("127.0.0.1"), redis::toString);
    }
  }

  /** Sends the page's directory to where build output goes. */
  private static final class Path {
    private Path() {}

    static java.nio.file.Path of(String name) throws IOException {
      assertTrue(name.isEmpty() || name.equals("/var/lib/plans"), name);
      return Files.createDirectories(java.nio.file.Path.of("target", "plans"));
    }
  }
}
