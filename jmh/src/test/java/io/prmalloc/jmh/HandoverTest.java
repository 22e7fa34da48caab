package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HandoverTest {

  private static final int CAPACITY = 8;
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
    void fill(int slot, long bytes, long value) {
      slots[slot] = value;
    }

    @Override
    void drain(int slot) {
      assertEquals(expected++, slots[slot]);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, CAPACITY, 256})
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
        item++;
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
    for (int item = 0; item < CAPACITY; item++) {
      assertTrue(handover.produce(1, item));
    }
    for (int item = 0; item < CAPACITY / 4; item++) {
      assertFalse(handover.produce(1, CAPACITY));
      assertTrue(handover.consume());
    }
    assertTrue(handover.produce(1, CAPACITY));
    assertThrows(IllegalArgumentException.class, () -> Rival.MALLOC.open().handover(3));
  }

  @Test
  void shouldPublishAQuarterAtATimeAndDrainTheRest() {
    Numbers handover = new Numbers(256);
    for (int item = 0; item < 63; item++) {
      assertTrue(handover.produce(1, item));
    }
    assertFalse(handover.consume());
    assertTrue(handover.produce(1, 63));
    assertTrue(handover.consume());
    assertTrue(handover.produce(1, 64));
    handover.drainAll();
    assertEquals(65, handover.expected);
    handover.drainAll();
    assertEquals(65, handover.expected);
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
                  item++;
                } else {
                  Thread.onSpinWait();
                }
              }
            });
    for (int item = 0; item < 100 && !consumer.isDone(); ) {
      if (handover.produce(1 << 16, item)) {
        item++;
      } else {
        Thread.onSpinWait();
      }
    }
    consumer.get();
    // Arrow throws when something is still out.
    benchmark.close();
  }
}
