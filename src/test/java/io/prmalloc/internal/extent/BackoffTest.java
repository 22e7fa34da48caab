package io.prmalloc.internal.extent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BackoffTest {

  private final Backoff backoff = new Backoff();

  private int occasions() {
    int occasions = 0;
    while (!backoff.isOver()) {
      occasions++;
    }
    return occasions;
  }

  @Test
  void shouldWaitTwiceAsLongEachTime() {
    assertTrue(backoff.isOver());
    backoff.refused();
    assertEquals(0, occasions());
    backoff.refused();
    assertEquals(1, occasions());
    backoff.refused();
    assertTrue(backoff.isWaiting());
    assertEquals(3, occasions());
    assertFalse(backoff.isWaiting());
  }

  @Test
  void shouldNotWaitForEver() {
    for (int i = 0; i < 100; i++) {
      backoff.refused();
    }
    assertEquals((1 << 15) - 1, occasions());
  }

  @Test
  void shouldWaitHalfAsLongWhenTheMemoryWasOfUse() {
    for (int i = 0; i < 4; i++) {
      backoff.refused();
    }
    assertEquals(7, occasions());
    backoff.used(256 << 4);
    backoff.refused();
    assertEquals(3, occasions());
    backoff.used(100);
    backoff.refused();
    assertEquals(7, occasions());
  }
}
