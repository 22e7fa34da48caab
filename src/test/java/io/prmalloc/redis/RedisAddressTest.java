package io.prmalloc.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.kept.PlanStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of a Redis that need not be there. */
class RedisAddressTest {

  private static IllegalArgumentException refused(String uri) {
    return assertThrows(IllegalArgumentException.class, () -> RedisPlanStore.at(uri).close());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          timeout=x                           | `x` of redis://***@h:1?timeout=x is not a whole
          timeout=                            | `` of
          timeout=5sec                        | `5sec` of
          timeout=0.5s                        | `0.5s` of
          timeout=+5s                         | `+5s` of
          timeout=-5s                         | `-5s` of
          timeout=٥s                          | `٥s` of
          timeout=5 s                         | is not one
          timeout=5s%20                       | `5s ` of
          timeout=5s&TIMEOUT=x                | `x` of
          timeout=x;timeout=5s                | `x` of
          timeout=0                           | is not more than 0
          timeout=0d                          | is not more than 0
          timeout=25d                         | is over 2147483647ms
          timeout=2147483648                  | is over 2147483647ms
          timeout=9999999999999d              | is over 2147483647ms
          timeout=9223372036854775807         | is over 2147483647ms
          timeout=99999999999999999999999999h | is over 2147483647ms
          """)
  void shouldRefuseATimeoutThatIsNone(String query, String reason) {
    IllegalArgumentException e = refused("redis://u:secret@h:1?" + query);
    assertTrue(e.getMessage().contains(reason), e::toString);
    assertFalse(e.getMessage().contains("secret"), e::toString);
  }

  @ParameterizedTest
  @CsvSource({
    "?timeout=500, timeout=500000000ns",
    "?timeout=2147483647, timeout=2147483647000000ns",
    "?x=y;timeout=5m, timeout=300s",
    "?timeout=7s&timeout=3h, timeout=10800s",
    "?timeout=24d, timeout=2073600s",
    "'', timeout=2s",
    "?clientName=timeout, timeout=2s",
  })
  void shouldTakeTheTimeoutOfTheAddress(String query, String shown) {
    try (PlanStore store = RedisPlanStore.at("redis://h:1" + query)) {
      assertTrue(store.toString().endsWith(shown), store::toString);
    }
  }

  /** To Netty no milliseconds mean to wait without an end. */
  @Test
  void shouldEndWhenTheTimeoutIsUnderAMillisecond() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        PlanStore store =
            RedisPlanStore.at("redis://127.0.0.1:" + silent.getLocalPort() + "?timeout=999us")) {
      assertThrows(IOException.class, () -> store.read("model"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://u:se cret@h:1",
        "redis://u:%secret@h:1",
        "redis://u:{secret}@h:1",
        "redis://u:secret@h:1:2",
        "redis://u:secret@h:99999",
        "redis://u:secret@h:port",
        "redis://u:secret@h/database",
        "redis://u:secret@",
        "redis://u:secret",
        "redis://u:sec#secret@h:1",
        "redis://u:sec?secret@h:1",
        "redis://u:sec/secret@h:1",
        "redis://u:sec?timeout=secret@h:1",
        "redis://u:s@secret/@h:1",
        "http://u:secret@h",
        "//u:secret@h",
        "redis:u:secret@h",
        "u:secret@h:1",
        "redis-sentinel://u:secret@h:1,h:port#main",
        "redis-sentinel://u:secret@h:1,h:99999#main",
        "redis-sentinel://u:sec/secret@h:1,h:2#main",
      })
  void shouldShowNoPasswordWhenAnAddressIsRefused(String uri) {
    for (Throwable e = refused(uri); e != null; e = e.getCause()) {
      assertFalse(e.toString().contains("sec"), e.toString());
      assertTrue(e.getMessage().startsWith("uri "), e.toString());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://u:secret@h:1",
        "redis://secret@h:1/0?timeout=3s",
        "redis://:secret@h",
        "redis://u:sec@ret@h",
        "redis://u:%73ecret@my_host:1",
        "rediss://secret@[::1]:5",
        "redis-sentinel://secret@h:1,h2:2#main",
        "redis-socket://secret@/tmp/x",
      })
  void shouldShowNoPasswordWhenAStoreIsShown(String uri) {
    try (PlanStore store = RedisPlanStore.at(uri)) {
      assertFalse(store.toString().contains("ecret"), store::toString);
      assertFalse(store.toString().contains("sec"), store::toString);
      if (uri.startsWith("redis-socket")) {
        return; // needs a library of the system
      }
      IOException away = assertThrows(IOException.class, () -> store.read("model"));
      for (Throwable e = away; e != null; e = e.getCause()) {
        assertFalse(e.toString().contains("ecret"), e.toString());
      }
    }
  }

  @Test
  void shouldNameThePlaceWhereAnAddressIsNone() {
    // Which index that is depends on the JDK.
    String message = refused("redis://u:se cret@h:1").getMessage();
    assertTrue(
        message.matches("uri is not one: Illegal character in authority at index (8|12)"), message);
    assertEquals(
        "uri redis://***@h:99999 is no address of a Redis, as redis://user:password@host:6379/0 is",
        refused("redis://u:secret@h:99999").getMessage());
  }
}
