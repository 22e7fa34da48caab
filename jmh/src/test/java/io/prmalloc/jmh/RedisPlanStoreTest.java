package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.LettuceVersion;
import io.netty.util.Version;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.redis.RedisPlanStore;
import io.prmalloc.redis.RedisServer;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Plans in Redis: the adapter is compiled against Lettuce 6 and Netty 4.1, and runs here on Lettuce
 * 7 and the Netty 4.2 that this module has for the benchmarks' sake.
 */
class RedisPlanStoreTest {

  private static final byte[] PLAN = {1, 2, 3};

  @Test
  void shouldRunOnTheNewerLettuceAndNettyHere() throws IOException {
    assertTrue(LettuceVersion.getVersion().startsWith("7."), LettuceVersion.getVersion());
    String netty = Version.identify().get("netty-transport").artifactVersion();
    assertTrue(netty.startsWith("4.2."), netty);
    assumeTrue(RedisServer.isInstalled(), RedisServer.NOT_INSTALLED);
    try (RedisServer redis = new RedisServer();
        PlanStore store = RedisPlanStore.at(redis.uri() + "?timeout=10s")) {
      assertTrue(store.read("model").isEmpty());
      assertTrue(store.replace("model", Optional.empty(), PLAN));
      assertFalse(store.replace("model", Optional.empty(), PLAN));
      assertArrayEquals(PLAN, store.read("model").orElseThrow());
      redis.kill();
      assertThrows(IOException.class, () -> store.read("model"));
      redis.start();
      assertTrue(store.read("model").isEmpty());
    }
  }
}
