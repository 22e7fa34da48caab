package io.prmalloc.pool.process;

import com.sun.management.ThreadMXBean;
import io.prmalloc.Allocation;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.Steps;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.recording.Recording;
import io.prmalloc.recording.RecordingOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;

/**
 * Measures the heap that a thread allocates for its requests to the pool, in a JVM of its own,
 * since the JIT's earlier observations decide whether handles escape. Exits with 0 if there is
 * none.
 */
public final class HandleGarbageMain {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int OPERATIONS = 100_000;

  private static final int FAILURE_INTERVAL = 10_000;

  /** The JIT is given so many rounds to compile what is measured. */
  private static final int MOST_ROUNDS = 60;

  private static final long[] PLANNED = {33_000, 40_000, 50_000, 100_000, 400_000, 1_000_000};
  private static final long[] SMALL = {0, 8, 100, 1000, 5000, 32_768};

  private HandleGarbageMain() {}

  /**
   * Warms up and measures.
   *
   * @param arguments the warm-up, then what to measure
   */
  public static void main(String[] arguments) throws IOException {
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(SubAllocator.mmap(MmapOptions.DEFAULT))
            .planner(Steps.planner(400))
            .build();
    warmUp(pool, arguments[0]);
    LongConsumer work = work(pool, arguments[1]);
    long bytes = -1;
    for (int round = 0; round < MOST_ROUNDS && bytes != 0; round++) {
      long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
      work.accept(OPERATIONS);
      bytes = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    }
    System.out.println(bytes + " bytes in " + OPERATIONS + " operations");
    if (bytes != 0 || pool.poolStats().hits() == 0) {
      System.exit(1);
    }
  }

  // ---- warm-ups

  private static void warmUp(TensorPoolAllocator pool, String kind) throws IOException {
    switch (kind) {
      case "recorded" -> record(pool).close();
      case "recording" -> record(pool);
      default -> learn(pool, kind);
    }
  }

  /** Serves, is recorded while it goes on to serve, and stays so until its recording is closed. */
  private static Recording record(TensorPoolAllocator pool) throws IOException {
    learn(pool, "mixed");
    Path directory = Files.createTempDirectory("prmalloc-garbage");
    Path file = directory.resolve("recording");
    Recording recording =
        pool.record(file, RecordingOptions.DEFAULT.withLongestWait(Duration.ofDays(1)));
    // The last one that is named goes first.
    directory.toFile().deleteOnExit();
    file.toFile().deleteOnExit();
    learn(pool, "mixed");
    mixedHandles(pool, 200_000);
    return recording;
  }

  private static void learn(TensorPoolAllocator pool, String kind) {
    SplittableRandom random = new SplittableRandom(5);
    if (kind.equals("long")) {
      // Compiled for the way to the system, before there is anything else.
      handles(pool, 60_000, 40_000);
      mixedHandles(pool, 60_000);
    }
    for (int step = 0; step < 2000; step++) {
      switch (kind) {
        case "handles" -> handleStep(pool, random, 0);
        case "raw" -> rawStep(pool, random);
        case "misses", "long" -> handleStep(pool, random, 6);
        case "mixed" -> {
          if (step % 3 == 0) {
            rawStep(pool, random);
          } else {
            handleStep(pool, random, step % 7 == 0 ? 6 : 0);
          }
        }
        default -> throw new IllegalArgumentException(kind);
      }
    }
    if (!pool.isPooling()) {
      throw new IllegalStateException("no plan");
    }
  }

  /** A step of a server: tensors of all kinds, some together, some one after the other. */
  private static void handleStep(TensorPoolAllocator pool, SplittableRandom random, int misses) {
    ScopedMemoryCollector step = pool.collect();
    List<Allocation> out = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      long[] sizes = random.nextInt(4) == 0 ? SMALL : PLANNED;
      out.add(pool.allocate(sizes[random.nextInt(sizes.length)]));
      if (random.nextBoolean()) {
        out.remove(random.nextInt(out.size())).close();
      }
    }
    for (int i = 0; i < misses; i++) {
      // Sizes that no plan has seen, and alignments that no bin has.
      out.add(pool.allocate(3_000_000 + random.nextInt(10) * 100_000L));
      out.add(pool.allocate(40_000, 8192));
    }
    for (Allocation allocation : out) {
      allocation.close();
    }
    step.close();
  }

  private static void rawStep(TensorPoolAllocator pool, SplittableRandom random) {
    ScopedMemoryCollector step = pool.collect();
    List<Long> out = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      long[] sizes = random.nextInt(4) == 0 ? SMALL : PLANNED;
      out.add(pool.allocateRaw(64, sizes[random.nextInt(sizes.length)]));
      if (random.nextBoolean()) {
        pool.deallocateRaw(out.remove(random.nextInt(out.size())));
      }
    }
    out.forEach(pool::deallocateRaw);
    step.close();
  }

  // ---- what is measured

  private static LongConsumer work(TensorPoolAllocator pool, String kind) {
    return switch (kind) {
      case "planned" -> n -> handles(pool, n, 40_000);
      case "small" -> n -> handles(pool, n, 100);
      case "mixed" -> n -> mixedHandles(pool, n);
      case "aligned" -> n -> alignedHandles(pool, n);
      case "nested" -> n -> nestedHandles(pool, n);
      case "opaque" -> n -> opaqueHandles(pool, n);
      case "failing" -> {
        IllegalStateException failure = new IllegalStateException("bad request");
        yield n -> failingHandles(pool, n, failure);
      }
      case "served" -> n -> servedHandles(pool, n);
      case "raw" -> n -> rawPairs(pool, n);
      case "steps" -> n -> rawSteps(pool, n);
      default -> throw new IllegalArgumentException(kind);
    };
  }

  private static void handles(TensorPoolAllocator pool, long operations, long bytes) {
    for (long i = 0; i < operations; i++) {
      try (Allocation allocation = pool.allocate(bytes)) {
        allocation.byteBuffer().putLong(0, i);
      }
    }
  }

  private static void mixedHandles(TensorPoolAllocator pool, long operations) {
    for (int i = 0; i < operations; i++) {
      long bytes = i % 3 == 0 ? SMALL[1 + i % 5] : PLANNED[i % 6];
      try (Allocation allocation = pool.allocate(bytes)) {
        allocation.byteBuffer().putLong(0, i);
      }
    }
  }

  private static void alignedHandles(TensorPoolAllocator pool, long operations) {
    for (int i = 0; i < operations; i++) {
      try (Allocation allocation = pool.allocate(PLANNED[i % 6], 64)) {
        allocation.byteBuffer().putLong(0, i);
      }
    }
  }

  private static void nestedHandles(TensorPoolAllocator pool, long operations) {
    for (int i = 0; i < operations; i++) {
      try (Allocation input = pool.allocate(40_000);
          Allocation output = pool.allocate(1000)) {
        input.byteBuffer().putLong(0, i);
        output.byteBuffer().putLong(0, i);
      }
    }
  }

  private static void opaqueHandles(TensorPoolAllocator pool, long operations) {
    for (int i = 0; i < operations; i++) {
      try (Allocation allocation = pool.allocate(40_000)) {
        infer(allocation.byteBuffer(), i, 6);
      }
    }
  }

  private static void servedHandles(TensorPoolAllocator pool, long operations) {
    for (int i = 0; i < operations; i++) {
      serve(pool, i);
    }
  }

  private static void failingHandles(
      TensorPoolAllocator pool, long operations, IllegalStateException failure) {
    int failures = 0;
    for (int i = 0; i < operations; i++) {
      try {
        serveMost(pool, i, failure);
      } catch (IllegalStateException expected) {
        failures++;
      }
    }
    if (failures != operations / FAILURE_INTERVAL) {
      throw new IllegalStateException(failures + " failures");
    }
  }

  private static void serveMost(TensorPoolAllocator pool, int i, IllegalStateException failure) {
    try (Allocation allocation = pool.allocate(40_000)) {
      infer(allocation.byteBuffer(), i, 6);
      if (i % FAILURE_INTERVAL == 77) {
        throw failure;
      }
    }
  }

  private static void serve(TensorPoolAllocator pool, int i) {
    try (Allocation allocation = pool.allocate(40_000)) {
      infer(allocation.byteBuffer(), i, 6);
    }
  }

  /** Too recursive to be inlined. */
  private static void infer(ByteBuffer buffer, int value, int depth) {
    if (depth > 0) {
      infer(buffer, value + 1, depth - 1);
    } else {
      buffer.putInt(0, value);
    }
  }

  private static void rawPairs(TensorPoolAllocator pool, long operations) {
    for (int i = 0; i < operations; i++) {
      long planned = pool.allocateRaw(64, PLANNED[i % 6]);
      long small = pool.allocateRaw(64, SMALL[i % 6]);
      pool.deallocateRaw(planned);
      pool.deallocateRaw(small);
    }
  }

  private static final long[] RAW_STEP = new long[12];

  private static void rawSteps(TensorPoolAllocator pool, long operations) {
    long[] out = RAW_STEP;
    for (int i = 0; i < operations / out.length; i++) {
      ScopedMemoryCollector step = pool.collect();
      for (int tensor = 0; tensor < out.length; tensor++) {
        long[] sizes = tensor % 2 == 0 ? SMALL : PLANNED;
        out[tensor] = pool.allocateRaw(64, sizes[tensor / 2]);
        if (tensor > 3) {
          pool.deallocateRaw(out[tensor - 4]);
        }
      }
      for (int tensor = out.length - 4; tensor < out.length; tensor++) {
        pool.deallocateRaw(out[tensor]);
      }
      step.close();
    }
  }
}
