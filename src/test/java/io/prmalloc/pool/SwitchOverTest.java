package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Pointer;
import io.prmalloc.Allocation;
import io.prmalloc.AllocatorStats;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The pool takes over while eight threads take, fill, hand over, check and give back. */
class SwitchOverTest {

  private static final int THREADS = 8;
  private static final long SEED = 2024;
  private static final int STEPS_AFTER_THE_SWITCH = 150;
  private static final int MOST_STEPS = 5000;
  private static final int[] SIZES = {
    16, 700, 32 * 1024, 32 * 1024 + 1, 40_000, 50_000, 50_001, 120_000, 300_000
  };

  /** A handle or an address, and the pattern that lies in it. */
  private record Tensor(Allocation handle, long address, int bytes, long mark) {

    void fill() {
      for (int at = 0; at + 8 <= bytes; at += 1024) {
        put(at, mark + at);
      }
      put(bytes - 8, mark);
    }

    void check() {
      assertEquals(mark, get(bytes - 8), "seed " + SEED);
      for (int at = 0; at + 16 <= bytes; at += 1024) {
        assertEquals(mark + at, get(at), "seed " + SEED);
      }
    }

    private void put(int at, long value) {
      if (handle != null) {
        handle.byteBuffer().putLong(at, value);
      } else {
        new Pointer(address).setLong(at, value);
      }
    }

    private long get(int at) {
      return handle != null ? handle.byteBuffer().getLong(at) : new Pointer(address).getLong(at);
    }
  }

  private final SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
  private final TensorPoolAllocator pool =
      TensorPoolAllocator.builder()
          .subAllocator(source)
          .planner(
              MemoryPlannerFactory.create(
                  PlannerSettings.DEFAULTS.withStartStep(40).withMaxSteps(60),
                  MemoryPlannerFactory.newPlannerExecutor()))
          .build();
  private final ConcurrentLinkedQueue<Tensor> handedOver = new ConcurrentLinkedQueue<>();
  private final AtomicLong marks = new AtomicLong();
  private final AtomicLong small = new AtomicLong();
  private final AtomicLong planned = new AtomicLong();
  private final AtomicLong pooledSteps = new AtomicLong();

  private Tensor take(SplittableRandom random) {
    int bytes = SIZES[random.nextInt(SIZES.length)];
    (bytes <= 32 * 1024 ? small : planned).incrementAndGet();
    long mark = marks.incrementAndGet() << 20;
    boolean raw = random.nextBoolean();
    Tensor tensor =
        raw
            ? new Tensor(null, pool.allocateRaw(64, bytes), bytes, mark)
            : new Tensor(pool.allocate(bytes), 0, bytes, mark);
    tensor.fill();
    return tensor;
  }

  private void giveBack(Tensor tensor) {
    tensor.check();
    if (tensor.handle() != null) {
      tensor.handle().close();
    } else {
      pool.deallocateRaw(tensor.address());
    }
  }

  private void serve(int thread) {
    SplittableRandom random = new SplittableRandom(SEED + thread);
    int stepsLeft = STEPS_AFTER_THE_SWITCH;
    for (int step = 0; step < MOST_STEPS && stepsLeft > 0; step++) {
      if (pool.isPooling()) {
        stepsLeft--;
        pooledSteps.incrementAndGet();
      }
      ScopedMemoryCollector scope = pool.collect();
      ArrayDeque<Tensor> own = new ArrayDeque<>();
      for (int i = 0; i < 20; i++) {
        own.add(take(random));
        if (random.nextInt(3) == 0) {
          giveBack(random.nextBoolean() ? own.pollLast() : own.pollFirst());
        }
      }
      handedOver.add(own.poll());
      Tensor foreign = handedOver.size() > THREADS ? handedOver.poll() : null;
      if (foreign != null) {
        giveBack(foreign);
      }
      own.forEach(this::giveBack);
      scope.close();
    }
  }

  @Test
  void shouldLoseAndOverlapNothingWhenThePoolTakesOverUnderLoad() throws Exception {
    Threads.run(THREADS, this::serve);
    assertTrue(pool.isPooling(), "within " + MOST_STEPS + " steps");
    assertTrue(pooledSteps.get() >= (long) THREADS * STEPS_AFTER_THE_SWITCH / 2);
    handedOver.forEach(this::giveBack);

    AllocatorStats stats = pool.stats();
    PoolStats counts = pool.poolStats();
    assertEquals(0, stats.bytesInUse());
    assertEquals(small.get() + planned.get(), stats.numAllocs());
    assertEquals(small.get(), counts.smallRequests());
    assertEquals(planned.get(), counts.hits() + counts.unpooledRequests());
    assertTrue(counts.hits() > 1000, counts.toString());
    assertTrue(counts.unpooledRequests() > counts.misses() + counts.nullBins());
    assertEquals(0, counts.nullBins());
    pool.close();
    assertEquals(0, source.bytesReserved());
  }
}
