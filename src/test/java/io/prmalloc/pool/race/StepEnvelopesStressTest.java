package io.prmalloc.pool.race;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.StepStats;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;

/**
 * Writes every byte, and checks it when its tensor is given back, while sizes, lengths and lives
 * change, plans are raised and lowered, threads share a pool, and tensors outlive their steps.
 */
class StepEnvelopesStressTest {

  private static final int THREADS = 4;
  private static final int STEPS = 400;
  private static final int MOST_STEPS = 1_000_000;

  private final SubAllocator source = SubAllocator.direct();

  /** A tensor that is out, by handle or by address. */
  private record Tensor(Allocation handle, long address, int bytes, byte mark, int end) {

    void fill() {
      if (handle == null) {
        UnsafeApi.setMemory(address, bytes, mark);
      } else {
        byte[] all = new byte[bytes];
        Arrays.fill(all, mark);
        handle.byteBuffer().put(0, all);
      }
    }

    /** Gives it back. */
    void close(TensorPoolAllocator pool) {
      byte[] all = new byte[bytes];
      if (handle == null) {
        for (int i = 0; i < bytes; i++) {
          all[i] = UnsafeApi.getByte(address + i);
        }
      } else {
        ByteBuffer view = handle.byteBuffer();
        assertEquals(bytes, view.remaining());
        view.get(0, all);
      }
      byte[] wanted = new byte[bytes];
      Arrays.fill(wanted, mark);
      assertEquals(-1, Arrays.mismatch(wanted, all), "of " + bytes + " bytes");
      if (handle == null) {
        pool.deallocateRaw(address);
      } else {
        handle.close();
      }
    }
  }

  /** A structure: sizes and lives, of requests in order. */
  private static final class Structure {
    private final int[] sizes;
    private final int[] lives;

    Structure(int[] sizes, int[] lives) {
      this.sizes = sizes;
      this.lives = lives;
    }

    static Structure random(Random random) {
      int requests = 1 + random.nextInt(40);
      return new Structure(
          random.ints(requests, 1, 6000).toArray(), random.ints(requests, 0, 8).toArray());
    }
  }

  private static void step(
      TensorPoolAllocator pool, Object key, Structure model, Random random, Queue<Tensor> over) {
    double factor = 0.25 + 0.75 * random.nextDouble();
    int length =
        random.nextInt(6) == 0 ? 1 + random.nextInt(model.sizes.length) : model.sizes.length;
    boolean odd = random.nextInt(8) == 0;
    boolean late = random.nextInt(8) == 0;
    List<Tensor> live = new ArrayList<>();
    try (ScopedMemoryCollector step = pool.collect(key)) {
      for (int i = 0; i < length; i++) {
        int now = i;
        live.removeIf(
            tensor -> {
              boolean ends = tensor.end <= now;
              if (ends) {
                tensor.close(pool);
              }
              return ends;
            });
        int bytes = 1 + (int) (model.sizes[i] * factor);
        if (odd && random.nextInt(10) == 0) {
          bytes *= 1 + random.nextInt(4);
        }
        int life = late && random.nextInt(4) == 0 ? 20 : model.lives[i];
        byte mark = (byte) random.nextInt();
        boolean raw = random.nextInt(4) == 0;
        Tensor tensor =
            raw
                ? new Tensor(null, step.allocateRaw(bytes), bytes, mark, i + 1 + life)
                : new Tensor(step.allocate(bytes), 0, bytes, mark, i + 1 + life);
        tensor.fill();
        live.add(tensor);
      }
      if (random.nextInt(10) == 0 && !live.isEmpty()) {
        over.add(live.remove(random.nextInt(live.size())));
      }
      if (random.nextBoolean()) {
        live.forEach(tensor -> tensor.close(pool));
        live.clear();
      }
    }
    live.forEach(tensor -> tensor.close(pool));
  }

  private void run(TensorPoolAllocator pool, int threads, int steps, int structures)
      throws InterruptedException {
    Queue<Tensor> over = new ConcurrentLinkedQueue<>();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Structure> models = new ArrayList<>();
    Random setup = new Random(structures);
    for (int i = 0; i < structures; i++) {
      models.add(Structure.random(setup));
    }
    List<Thread> workers = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      Random random = new Random(t);
      Thread worker =
          new Thread(
              () -> {
                try {
                  // The plan is made in the background, however busy the machine is.
                  for (int i = 0;
                      failure.get() == null
                          && (i < steps
                              || (i < MOST_STEPS && pool.stepStats().plannedSteps() == 0));
                      i++) {
                    int model = random.nextInt(structures);
                    step(pool, model % 2 == 0 ? null : model, models.get(model), random, over);
                    // Those of other threads, most of the time.
                    Tensor old = over.size() > 3 ? over.poll() : null;
                    if (old != null) {
                      old.close(pool);
                    }
                  }
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              });
      workers.add(worker);
      worker.start();
    }
    for (Thread worker : workers) {
      worker.join();
    }
    assertNull(failure.get());
    for (Tensor old = over.poll(); old != null; old = over.poll()) {
      old.close(pool);
    }
    assertEquals(0, pool.stats().bytesInUse());
    assertTrue(pool.stepStats().plannedSteps() > 0, pool.stepStats().toString());
  }

  @Test
  void shouldKeepEveryByteWhenShapesChange() throws InterruptedException {
    StepStats all = new StepStats(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    for (int structures = 1; structures < 6; structures++) {
      TensorPoolAllocator pool =
          TensorPoolAllocator.builder()
              .subAllocator(source)
              .executor(Runnable::run)
              .stepArenaIdle(Duration.ofMillis(structures))
              .stepPlanningTime(Duration.ZERO)
              .build();
      run(pool, 1, STEPS, structures);
      all = pool.stepStats();
      pool.close();
      assertEquals(0, source.bytesReserved());
    }
    assertTrue(all.raisedPlans() > 0, all.toString());
  }

  @Test
  void shouldKeepEveryByteWhenThreadsShareThePool() throws InterruptedException {
    ExecutorService planner = Executors.newSingleThreadExecutor();
    try {
      TensorPoolAllocator pool =
          TensorPoolAllocator.builder()
              .subAllocator(source)
              .executor(planner)
              .stepArenaIdle(Duration.ofMillis(5))
              .stepPlanningTime(Duration.ofMillis(5))
              .build();
      run(pool, THREADS, STEPS, 3);
      pool.closeForcibly();
    } finally {
      planner.shutdownNow();
    }
  }
}
