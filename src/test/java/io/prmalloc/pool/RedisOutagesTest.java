package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.LogRecords;
import io.prmalloc.internal.lifecycle.PlanSharing;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.redis.RedisPlanStore;
import io.prmalloc.redis.RedisServer;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** The pool serves through every outage of a real Redis. */
class RedisOutagesTest {

  private static final String REDIS_KEY = "prmalloc:plan:model.v" + KeptPlan.FORMAT_VERSION;

  private static final PlanSharing.Pace QUICK =
      new PlanSharing.Pace(
          Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMillis(20), Duration.ofHours(1));

  @SuppressWarnings("try") // nothing is asked of the step
  private static void step(TensorPoolAllocator pool) {
    try (ScopedMemoryCollector step = pool.collect();
        Allocation one = pool.allocate(100_000);
        Allocation other = pool.allocate(50_000)) {
      one.byteBuffer().putLong(0, 1);
      other.byteBuffer().putLong(0, 1);
    }
  }

  private static TensorPoolAllocator pool(PlanStore store) {
    return TensorPoolAllocator.builder()
        .startStatisticStep(0)
        .stableStatisticStep(2)
        .planStore(store, "model")
        .sharingPace(QUICK)
        .build();
  }

  private static long count(TensorPoolAllocator pool, String result) {
    return pool.snapshot().planStore().get(result);
  }

  /** Steps go on until something is so. */
  private static void serveUntil(TensorPoolAllocator pool, BooleanSupplier condition)
      throws InterruptedException {
    while (!condition.getAsBoolean()) {
      step(pool);
      Thread.sleep(1);
    }
  }

  @Test
  void shouldServeWarnOnceAndRecoverWhateverBecomesOfRedis() throws Exception {
    assumeTrue(RedisServer.isInstalled(), RedisServer.NOT_INSTALLED);
    try (LogRecords log = new LogRecords(PlanSharing.class.getName());
        RedisServer redis = new RedisServer();
        PlanStore store = RedisPlanStore.at(redis.uri() + "?timeout=300ms")) {
      redis.ask(commands -> commands.set(REDIS_KEY, "garbage"));
      redis.stop();
      try (TensorPoolAllocator pool = pool(store)) {
        // Slow.
        serveUntil(pool, () -> count(pool, "unavailable") > 0);
        redis.resume();
        // Garbage, and full, so that it cannot be replaced.
        redis.ask(commands -> commands.configSet("maxmemory", "1"));
        serveUntil(pool, () -> count(pool, "refused") > 0 && pool.isPooling());
        serveUntil(pool, () -> count(pool, "unavailable") > 1);
        assertEquals(0, count(pool, "published"));
        redis.ask(commands -> commands.configSet("maxmemory", "0"));
        serveUntil(pool, () -> count(pool, "published") == 1);
        // Killed, and restarted with nothing in it.
        redis.kill();
        long before = count(pool, "unavailable");
        pool.replan();
        serveUntil(pool, () -> count(pool, "unavailable") > before);
        redis.start();
        serveUntil(pool, () -> count(pool, "published") >= 2);
        assertEquals(1, count(pool, "refused"));
        try (TensorPoolAllocator replica = pool(store)) {
          step(replica);
          assertEquals(2, replica.poolStats().hits());
          assertEquals(0, replica.poolStats().unpooledRequests());
        }
      }
      assertEquals(1, log.all().stream().filter(line -> line.contains("is refused: ")).count());
      // Away are: a server that is slow, one that is full, one that is killed. Each is said once.
      long back = log.all().stream().filter(line -> line.contains("is there again")).count();
      assertTrue(back >= 2 && back <= 3, log.all()::toString);
    }
  }
}
