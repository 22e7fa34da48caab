package io.prmalloc.jmh.rival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.trace.replay.Touch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WarmUpTest {

  private static final int THREADS = 3;
  private static final int TENSOR_BYTES = 1 << 16;

  @ParameterizedTest
  @EnumSource(names = {"POOL_HANDLE", "POOL_RAW"})
  void shouldPlanForAllThreadsWhenSeveralWarmUp(Rival rival) {
    try (Strategy strategy = rival.open()) {
      assertFalse(strategy.isWarm());
      Step step = Step.ofPairs(TENSOR_BYTES);

      WarmUp.run(strategy, step, THREADS);

      assertTrue(strategy.isWarm());
      Lane lane = strategy.lane(Step.ofBurst(THREADS, TENSOR_BYTES), Touch.FIRST);
      lane.begin(null);
      for (int tensor = 0; tensor < THREADS; tensor++) {
        lane.allocate(tensor, TENSOR_BYTES, tensor);
      }
      for (int tensor = 0; tensor < THREADS; tensor++) {
        lane.release(tensor);
      }
      String report = strategy.report().orElseThrow();
      assertTrue(report.startsWith("pool: 3 hits, 0 misses, "), report);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"POOL_HANDLE", "POOL_RAW"})
  void shouldGoOnWithoutAPlanWhenAllIsSmall(Rival rival) {
    try (Strategy strategy = rival.open()) {
      WarmUp.run(strategy, Step.ofPairs(1), THREADS);

      assertFalse(strategy.isWarm());
      assertTrue(strategy.report().orElseThrow().startsWith("pool: no plan"));
    }
  }

  @Test
  void shouldSayWhyWhenAThreadFails() {
    try (Failing strategy = new Failing()) {
      IllegalStateException failure =
          assertThrows(
              IllegalStateException.class,
              () -> WarmUp.run(strategy, Step.ofPairs(TENSOR_BYTES), THREADS));

      assertEquals("the warm-up failed", failure.getMessage());
      assertEquals("no memory of 65536 bytes", failure.getCause().getMessage());
    }
  }

  /** Never warm, and fails in one of the threads. */
  private static final class Failing extends AddressStrategy {
    private final AtomicInteger calls = new AtomicInteger();
    private final MallocAddresses malloc = new MallocAddresses();

    @Override
    long take(long bytes) {
      if (calls.incrementAndGet() == THREADS) {
        throw new IllegalArgumentException("no memory of " + bytes + " bytes");
      }
      return malloc.take(bytes);
    }

    @Override
    void giveBack(long address) {
      malloc.giveBack(address);
    }

    @Override
    public boolean isWarm() {
      return false;
    }

    @Override
    public void close() {
      malloc.close();
    }
  }
}
