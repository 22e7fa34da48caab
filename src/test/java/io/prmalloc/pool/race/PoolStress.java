package io.prmalloc.pool.race;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Pointer;
import io.prmalloc.Allocation;
import io.prmalloc.AllocatorStats;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.PoolStats;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Threads that take, fill, hand over, check and give back memory, from warm-up through the
 * switch-over and after it. Fails if blocks overlap, have two owners, lose a byte, or are not
 * counted.
 */
final class PoolStress {

  private static final int SMALL_BYTES = 32 * 1024;
  private static final int TENSORS_PER_STEP = 20;
  private static final int MOST_WARM_UP_STEPS = 5000;
  private static final int SHELVES = 48;
  private static final int PLACES = 12;

  /** What the steps of warm-up are made of, and so what the plan has bins for. */
  private static final int[] MODEL_BYTES = {
    SMALL_BYTES + 1, 40_000, 50_000, 50_001, 120_000, 300_000
  };

  private static final int[] ALIGNMENTS = {64, 64, 64, 64, 256, 4096};

  /** When a thread has had enough, after the pool has taken over. */
  @FunctionalInterface
  interface End {
    boolean reached(int steps);
  }

  /** A handle or an address, and what was written there. */
  private final class Tensor {
    private final Allocation handle;
    private final long address;
    private final int bytes;
    private final long mark = marks.incrementAndGet() * 0x9E3779B97F4A7C15L;

    Tensor(Allocation handle, long address, int bytes) {
      this.handle = handle;
      this.address = address;
      this.bytes = bytes;
    }

    /** The places that are written: head, tail, and some that the mark tells. */
    private int[] places() {
      int words = bytes / 8;
      if (words <= PLACES) {
        return IntStream.range(0, words).map(word -> word * 8).toArray();
      }
      SplittableRandom random = new SplittableRandom(mark);
      int[] places = new int[PLACES];
      for (int i = 0; i < PLACES; i++) {
        places[i] = random.nextInt(words) * 8;
      }
      places[0] = 0;
      places[1] = (words - 1) * 8;
      return places;
    }

    void fill() {
      for (int at : places()) {
        if (handle != null) {
          handle.byteBuffer().putLong(at, mark + at);
        } else {
          new Pointer(address).setLong(at, mark + at);
        }
      }
      for (int at = bytes & -8; at < bytes; at++) {
        if (handle != null) {
          handle.byteBuffer().put(at, (byte) (mark + at));
        } else {
          new Pointer(address).setByte(at, (byte) (mark + at));
        }
      }
    }

    void check() {
      for (int at : places()) {
        long found =
            handle != null ? handle.byteBuffer().getLong(at) : new Pointer(address).getLong(at);
        assertEquals(mark + at, found, () -> "at " + at + " of " + bytes + ", seed " + seed);
      }
      for (int at = bytes & -8; at < bytes; at++) {
        byte found =
            handle != null ? handle.byteBuffer().get(at) : new Pointer(address).getByte(at);
        assertEquals((byte) (mark + at), found, "last bytes of " + bytes + ", seed " + seed);
      }
    }
  }

  private final long seed;
  private final SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
  private final TensorPoolAllocator pool =
      TensorPoolAllocator.builder()
          .subAllocator(source)
          .planner(
              MemoryPlannerFactory.create(
                  PlannerSettings.DEFAULTS.withStartStep(40).withMaxSteps(60),
                  MemoryPlannerFactory.newPlannerExecutor()))
          .build();

  /** Where threads leave tensors for each other. */
  private final AtomicReferenceArray<Tensor> shelves = new AtomicReferenceArray<>(SHELVES);

  /** What is out, from the first byte to behind the last. */
  private final ConcurrentSkipListMap<Long, Long> out = new ConcurrentSkipListMap<>();

  private final AtomicLong marks = new AtomicLong();
  private final AtomicLong small = new AtomicLong();
  private final AtomicLong planned = new AtomicLong();
  private final AtomicLong handedOver = new AtomicLong();

  PoolStress(long seed) {
    this.seed = seed;
  }

  /** Runs to the end, and closes the pool. */
  void run(ExecutorService executor, int threads, End end) throws Exception {
    // While this is out, nobody can close the pool, however often it is tried.
    Tensor anchor = take(new SplittableRandom(seed), MODEL_BYTES[0]);
    Threads.run(executor, threads, thread -> serve(new SplittableRandom(seed + thread), end));
    giveBack(anchor);
    for (int shelf = 0; shelf < SHELVES; shelf++) {
      giveBack(shelves.getAndSet(shelf, null));
    }
    check();
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  private void serve(SplittableRandom random, End end) {
    for (int step = 0; !pool.isPooling(); step++) {
      assertTrue(step < MOST_WARM_UP_STEPS, "no plan after " + step + " steps");
      step(random, false);
    }
    for (int step = 0; !end.reached(step); step++) {
      step(random, true);
    }
  }

  private void step(SplittableRandom random, boolean unknownSizes) {
    ScopedMemoryCollector scope = pool.collect();
    List<Tensor> own = new ArrayList<>();
    for (int i = 0; i < TENSORS_PER_STEP; i++) {
      Tensor tensor = take(random, randomBytes(random, unknownSizes));
      if (random.nextInt(4) == 0) {
        handedOver.incrementAndGet();
        tensor = shelves.getAndSet(random.nextInt(SHELVES), tensor);
      }
      if (tensor != null) {
        own.add(tensor);
      }
      if (!own.isEmpty() && random.nextInt(3) > 0) {
        giveBack(own.remove(random.nextInt(own.size())));
      }
    }
    own.forEach(this::giveBack);
    scope.close();
    if (random.nextInt(16) == 0) {
      disturb(random);
    }
  }

  /** What may be done at any time and must change nothing. */
  private void disturb(SplittableRandom random) {
    switch (random.nextInt(12)) {
      case 0, 1, 2 -> assertThrows(IllegalStateException.class, pool::close);
      case 3, 4, 5 -> assertTrue(pool.stats().bytesInUse() > 0);
      case 6 -> assertTrue(pool.trim() >= 0);
      default -> LockSupport.parkNanos(1);
    }
  }

  private static int randomBytes(SplittableRandom random, boolean unknownSizes) {
    return switch (random.nextInt(unknownSizes ? 5 : 4)) {
      case 0 -> random.nextInt(SMALL_BYTES + 1);
      case 4 -> SMALL_BYTES + 1 + random.nextInt(1 << (14 + random.nextInt(7)));
      default -> MODEL_BYTES[random.nextInt(MODEL_BYTES.length)];
    };
  }

  private Tensor take(SplittableRandom random, int bytes) {
    (bytes <= SMALL_BYTES ? small : planned).incrementAndGet();
    int alignment = bytes <= SMALL_BYTES ? 64 : ALIGNMENTS[random.nextInt(ALIGNMENTS.length)];
    Tensor tensor;
    if (random.nextBoolean()) {
      long address = pool.allocateRaw(alignment, bytes);
      assertTrue(address != 0 && address % alignment == 0, "address " + address);
      tensor = new Tensor(null, address, bytes);
    } else {
      Allocation handle = pool.allocate(bytes, alignment);
      tensor = new Tensor(handle, handle.address(), bytes);
      assertEquals(bytes, handle.byteBuffer().remaining());
    }
    enter(tensor);
    tensor.fill();
    return tensor;
  }

  private void enter(Tensor tensor) {
    long start = tensor.address;
    long end = start + Math.max(1, tensor.bytes);
    assertNull(out.put(start, end), "two owners of one address, seed " + seed);
    // Of two that overlap the one that came later sees the other.
    Map.Entry<Long, Long> below = out.lowerEntry(start);
    assertTrue(below == null || below.getValue() <= start, "overlaps below, seed " + seed);
    Map.Entry<Long, Long> above = out.higherEntry(start);
    assertTrue(above == null || above.getKey() >= end, "overlaps above, seed " + seed);
  }

  private void giveBack(Tensor tensor) {
    if (tensor == null) {
      return;
    }
    tensor.check();
    assertNotNull(out.remove(tensor.address));
    if (tensor.handle == null) {
      pool.deallocateRaw(tensor.address);
      return;
    }
    tensor.handle.close();
    if (tensor.mark % 4 == 0) {
      assertThrows(IllegalStateException.class, tensor.handle::close);
      assertThrows(IllegalStateException.class, tensor.handle::byteBuffer);
    }
  }

  private void check() {
    assertTrue(out.isEmpty(), () -> "left: " + out);
    AllocatorStats stats = pool.stats();
    PoolStats counts = pool.poolStats();
    assertEquals(0, stats.bytesInUse());
    assertEquals(small.get() + planned.get(), stats.numAllocs());
    assertEquals(small.get(), counts.smallRequests());
    assertEquals(planned.get(), counts.hits() + counts.unpooledRequests());
    // Or it was not the test that it is meant to be.
    assertTrue(counts.hits() > 1000, counts::toString);
    assertTrue(counts.nullBins() > 0, counts::toString);
    assertTrue(counts.unpooledRequests() > counts.misses() + counts.nullBins(), counts::toString);
    assertTrue(handedOver.get() > 1000, () -> handedOver + " handed over");
  }
}
