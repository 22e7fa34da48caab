package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HandoverTest {

  private static final int CAPACITY = 8;
  private static final int ITEMS = 200_000;

  /** Hands over plain numbers. */
  private static final class Numbers extends Handover {
    private final long[] slots = new long[CAPACITY];
    private long expected;

    Numbers() {
      super(CAPACITY);
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

  @Test
  void shouldKeepTheOrderAndLoseNothingWhenTwoThreadsRun() {
    Numbers handover = new Numbers();
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
    Numbers handover = new Numbers();
    assertFalse(handover.consume());
    for (int item = 0; item < CAPACITY; item++) {
      assertTrue(handover.produce(1, item));
    }
    assertFalse(handover.produce(1, CAPACITY));
    assertTrue(handover.consume());
    assertTrue(handover.produce(1, CAPACITY));
    assertThrows(IllegalArgumentException.class, () -> Rival.MALLOC.open().handover(3));
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
