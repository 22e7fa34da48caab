package io.prmalloc.jmh.rival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.replay.Touch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;

class YardsticksTest {

  @Test
  void shouldReplayAsEverybodyWhenTheMemoryIsReady() {
    try (ReadyMemory memory = new ReadyMemory()) {
      Step step = Step.ofBurst(20, 10_000);
      Lane lane = memory.lane(step, Touch.ALL);
      assertEquals(20 * 5 + 19 * 20 / 2, step.replay(lane, null, 5));
    }
  }

  @Test
  void shouldReadEachValueAtTheEndWhenNoTensorOverlapsALivingOne() {
    try (ReadyMemory memory = new ReadyMemory()) {
      Step step = Step.of(new TraceInput("sample:mobilenet", null, null).read());
      long[] addresses = memory.plan(step);
      step.forEach(
          (tensor, bytes) -> {
            UnsafeApi.putLong(addresses[tensor], tensor);
            UnsafeApi.putLong(addresses[tensor] + bytes - Long.BYTES, tensor);
          },
          (tensor, bytes) -> {
            assertEquals(tensor, UnsafeApi.getLong(addresses[tensor] + bytes - Long.BYTES));
            if (bytes >= 2 * Long.BYTES) {
              assertEquals(tensor, UnsafeApi.getLong(addresses[tensor]));
            }
          });
    }
  }

  @Test
  void shouldNeverGiveABlockToTwoWhenThreadsShareTheStack() {
    int threads = 4;
    try (ReadyStack stack = new ReadyStack()) {
      CyclicBarrier start = new CyclicBarrier(threads);
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        long mine = thread;
        all.add(
            CompletableFuture.runAsync(
                () -> {
                  await(start);
                  for (int pair = 0; pair < 50_000; pair++) {
                    long first = stack.take(8);
                    long second = stack.take(8);
                    assertNotEquals(first, second);
                    UnsafeApi.putLong(first, mine);
                    UnsafeApi.putLong(second, ~mine);
                    assertEquals(mine, UnsafeApi.getLong(first));
                    assertEquals(~mine, UnsafeApi.getLong(second));
                    stack.giveBack(first);
                    stack.giveBack(second);
                  }
                },
                task -> new Thread(task).start()));
      }
      all.forEach(CompletableFuture::join);
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldRefuseWhenTheStackIsEmptyOrTheRequestTooLarge() {
    try (ReadyStack stack = new ReadyStack()) {
      assertThrows(IllegalArgumentException.class, () -> stack.take((16L << 20) + 1));
      for (int block = 0; block < 512; block++) {
        stack.take(8);
      }
      assertThrows(IllegalStateException.class, () -> stack.take(8));
    }
  }
}
