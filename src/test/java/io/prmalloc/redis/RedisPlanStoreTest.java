package io.prmalloc.redis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.PlanStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Plans in a real Redis. */
class RedisPlanStoreTest {

  private static final String KEY = "model.v" + KeptPlan.FORMAT_VERSION;
  private static final String REDIS_KEY = "prmalloc:plan:" + KEY;

  private static RedisServer redis;

  @BeforeAll
  static void start() throws IOException {
    assumeTrue(RedisServer.isInstalled(), RedisServer.NOT_INSTALLED);
    redis = new RedisServer();
  }

  @AfterAll
  static void end() {
    if (redis != null) {
      redis.close();
    }
  }

  @BeforeEach
  void clear() {
    redis.ask(commands -> commands.flushall());
  }

  private static PlanStore store() {
    return RedisPlanStore.at(redis.uri() + "?timeout=10s");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void shouldReplaceOnlyWhatWasReadWhenBytesArePutUnderAKey() throws IOException {
    try (PlanStore store = store()) {
      assertTrue(store.read(KEY).isEmpty());
      assertFalse(store.replace(KEY, Optional.of(bytes("a")), bytes("b")));
      assertTrue(store.replace(KEY, Optional.empty(), bytes("a")));
      assertFalse(store.replace(KEY, Optional.empty(), bytes("b")));
      assertFalse(store.replace(KEY, Optional.of(bytes("b")), bytes("c")));
      assertTrue(store.replace(KEY, Optional.of(bytes("a")), bytes("b")));
      assertArrayEquals(bytes("b"), store.read(KEY).orElseThrow());
      assertTrue(store.read("other.v3").isEmpty());
    }
    assertEquals("b", redis.ask(commands -> commands.get(REDIS_KEY)));
  }

  @Test
  void shouldTakeWhatIsNoStringForNoBytes() throws IOException {
    redis.ask(commands -> commands.lpush(REDIS_KEY, "an element"));
    try (PlanStore store = store()) {
      Optional<byte[]> read = store.read(KEY);
      assertEquals(0, read.orElseThrow().length);
      assertFalse(store.replace(KEY, Optional.empty(), bytes("a")));
      assertTrue(store.replace(KEY, read, bytes("a")));
      assertArrayEquals(bytes("a"), store.read(KEY).orElseThrow());
    }
  }

  @Test
  void shouldReadNoMoreThanThereMayBe() throws IOException {
    redis.ask(commands -> commands.setrange(REDIS_KEY, PlanStore.MAX_BYTES, "end"));
    try (PlanStore store = RedisPlanStore.at(redis.uri() + "?timeout=10m")) {
      Optional<byte[]> read = store.read(KEY);
      assertEquals(PlanStore.MAX_BYTES + 1, read.orElseThrow().length);
      // It is no plan, so a plan may take its place.
      assertTrue(store.replace(KEY, read, bytes("a")));
      assertArrayEquals(bytes("a"), store.read(KEY).orElseThrow());
    }
  }

  private static void add(PlanStore store, int times) {
    try {
      for (int left = times; left > 0; ) {
        Optional<byte[]> read = store.read(KEY);
        String now = read.map(text -> new String(text, StandardCharsets.UTF_8)).orElse("0");
        String next = Integer.toString(Integer.parseInt(now) + 1);
        left -= store.replace(KEY, read, bytes(next)) ? 1 : 0;
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldLoseNothingWhenSeveralPublishAtTheSameTime() {
    try (PlanStore one = RedisPlanStore.at(redis.uri() + "?timeout=10m");
        PlanStore other = RedisPlanStore.at(redis.uri() + "?timeout=10m")) {
      CompletableFuture<Void> beside = CompletableFuture.runAsync(() -> add(other, 100));
      add(one, 100);
      beside.join();
    }
    assertEquals("200", redis.ask(commands -> commands.get(REDIS_KEY)));
  }

  @Test
  void shouldSayThatItIsAwayAndComeBackWhenRedisIsRestarted() throws IOException {
    try (PlanStore store = store()) {
      assertTrue(store.replace(KEY, Optional.empty(), bytes("a")));
      redis.kill();
      assertThrows(IOException.class, () -> store.read(KEY));
      assertThrows(IOException.class, () -> store.replace(KEY, Optional.empty(), bytes("b")));
      redis.start();
      assertTrue(store.read(KEY).isEmpty());
      assertTrue(store.replace(KEY, Optional.empty(), bytes("b")));
    }
  }

  @Test
  void shouldPublishNothingWhenItMayOnlyRead() throws IOException {
    redis.ask(commands -> commands.set(REDIS_KEY, "a"));
    redis.ask(
        commands ->
            commands.aclSetuser(
                "reader",
                AclSetuserArgs.Builder.on()
                    .addPassword("word")
                    .keyPattern("*")
                    .addCommand(CommandType.TYPE)
                    .addCommand(CommandType.GETRANGE)
                    .addCommand(CommandType.CLIENT)));
    String reader = redis.uri().replace("//", "//reader:word@") + "?timeout=10s";
    try (PlanStore store = store();
        PlanStore limited = RedisPlanStore.at(reader)) {
      assertArrayEquals(bytes("a"), limited.read(KEY).orElseThrow());
      assertFalse(limited.replace(KEY, Optional.of(bytes("a")), bytes("b")));
      // A primary that becomes a replica, as in a failover, with connections that stay.
      assertTrue(store.replace(KEY, Optional.of(bytes("a")), bytes("b")));
      redis.ask(commands -> commands.replicaof("127.0.0.1", 1));
      assertArrayEquals(bytes("b"), store.read(KEY).orElseThrow());
      assertFalse(store.replace(KEY, Optional.of(bytes("b")), bytes("c")));
      redis.ask(commands -> commands.replicaofNoOne());
      assertTrue(store.replace(KEY, Optional.of(bytes("b")), bytes("c")));
    }
  }

  @Test
  void shouldWaitNoLongerThanToldWhenTlsIsNotAnswered() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        PlanStore store =
            RedisPlanStore.at("rediss://127.0.0.1:" + silent.getLocalPort() + "?timeout=50ms")) {
      long start = System.nanoTime();
      assertThrows(IOException.class, () -> store.read(KEY));
      long took = System.nanoTime() - start;
      // That of a TLS handshake is ten seconds else.
      assertTrue(took < Duration.ofSeconds(9).toNanos(), () -> took + " ns");
    }
  }

  @Test
  void shouldWaitAsLongAsTheAddressSays() {
    for (String uri : List.of("", "?timeout=60s", "?clientName=x&TIMEOUT=1m")) {
      try (PlanStore store = RedisPlanStore.at("redis://127.0.0.1:1" + uri)) {
        boolean isTold = uri.contains("?");
        assertEquals(!isTold, store.toString().contains("timeout=2s"), store::toString);
      }
    }
    for (String none : List.of("0", "0s")) {
      IllegalArgumentException refused =
          assertThrows(
              IllegalArgumentException.class,
              () -> RedisPlanStore.at("redis://:secret@127.0.0.1:1?timeout=" + none));
      assertTrue(refused.getMessage().contains("not more than 0"), refused::getMessage);
      assertFalse(refused.getMessage().contains("secret"), refused::getMessage);
    }
  }

  @Test
  void shouldHideThePasswordWhenItIsShown() {
    try (PlanStore store = RedisPlanStore.at("redis://user:secret@127.0.0.1:1")) {
      assertFalse(store.toString().contains("secret"), store::toString);
      assertTrue(store.toString().contains("127.0.0.1"), store::toString);
    }
    assertThrows(IllegalArgumentException.class, () -> RedisPlanStore.at("no address"));
  }
}
