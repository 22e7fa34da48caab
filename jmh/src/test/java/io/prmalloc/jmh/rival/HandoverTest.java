package io.prmalloc.jmh.rival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.jmh.HandoverBenchmark;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HandoverTest {

  private static final int CAPACITY = 8;
  private static final int AT_A_TIME = CAPACITY / Handover.PARTS;
  private static final int ITEMS = 200_000;

  /** Hands over plain numbers. */
  private static final class Numbers extends Handover {
    private final long[] slots;
    private long expected;

    Numbers(int capacity) {
      super(capacity);
      slots = new long[capacity];
    }

    @Override
    void fill(int from, int to, long bytes, long value) {
      for (int slot = from; slot < to; slot++) {
        slots[slot] = value + slot - from;
      }
    }

    @Override
    void drain(int from, int to) {
      for (int slot = from; slot < to; slot++) {
        assertEquals(expected++, slots[slot]);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Handover.PARTS, CAPACITY, 256})
  void shouldKeepTheOrderAndLoseNothingWhenTwoThreadsRun(int capacity) {
    Numbers handover = new Numbers(capacity);
    CompletableFuture<Void> consumer =
        CompletableFuture.runAsync(
            () -> {
              while (handover.expected < ITEMS) {
                if (!handover.consume()) {
                  Thread.onSpinWait();
                }
              }
            });
    for (int item = 0; item < ITEMS && !consumer.isDone(); ) {
      if (handover.produce(1, item)) {
        item += capacity / Handover.PARTS;
      } else {
        Thread.onSpinWait();
      }
    }
    consumer.join();
    assertEquals(ITEMS, handover.expected);
    assertFalse(handover.consume());
  }

  @Test
  void shouldRefuseWhenFullOrEmpty() {
    Numbers handover = new Numbers(CAPACITY);
    assertFalse(handover.consume());
    for (int item = 0; item < CAPACITY; item += AT_A_TIME) {
      assertTrue(handover.produce(1, item));
    }
    assertFalse(handover.produce(1, CAPACITY));
    assertTrue(handover.consume());
    assertEquals(AT_A_TIME, handover.expected);
    assertTrue(handover.produce(1, CAPACITY));
    assertFalse(handover.produce(1, CAPACITY + AT_A_TIME));
    for (int item = 0; item < CAPACITY; item += AT_A_TIME) {
      assertTrue(handover.consume());
    }
    assertFalse(handover.consume());
    assertEquals(CAPACITY + AT_A_TIME, handover.expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, 6})
  void shouldRefuseACapacityThatIsNotAPowerOfTwoWithQuarters(int capacity) {
    assertThrows(IllegalArgumentException.class, () -> new Numbers(capacity));
  }

  @ParameterizedTest
  @EnumSource
  void shouldReleaseEverythingWhenARivalHandsOver(Rival rival) throws Exception {
    Rivals.assumePresent(rival);
    HandoverBenchmark benchmark = new HandoverBenchmark();
    benchmark.rival = rival;
    benchmark.sizeBytes = 1 << 16;
    if (!rival.crossesThreads()) {
      assertThrows(IllegalStateException.class, benchmark::open);
      return;
    }
    benchmark.open();
    Handover handover = benchmark.strategy.handover(CAPACITY);
    CompletableFuture<Void> consumer =
        CompletableFuture.runAsync(
            () -> {
              for (int item = 0; item < 100; ) {
                if (handover.consume()) {
                  item += AT_A_TIME;
                } else {
                  Thread.onSpinWait();
                }
              }
            });
    for (int item = 0; item < 100 && !consumer.isDone(); ) {
      if (handover.produce(1 << 16, item)) {
        item += AT_A_TIME;
      } else {
        Thread.onSpinWait();
      }
    }
    consumer.get();
    // Arrow throws when something is still out.
    benchmark.close();
  }
}
