package io.prmalloc.jmh;

import io.prmalloc.Allocation;
import io.prmalloc.Isolation;
import io.prmalloc.Isolation.Fill;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.jmh.rival.Writes;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does each option of {@link Isolation} cost?
 *
 * <p>A pair of allocate and close of planned memory, as in {@link PairBenchmark}, with 8 bytes
 * touched between.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar IsolationBenchmark -t 1
 * }</pre>
 *
 * <p>Threading: the pool is shared by the threads of the benchmark.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@State(Scope.Benchmark)
public class IsolationBenchmark {

  private static final int MOST_STEPS = 200;

  /** What is done to keep users apart. */
  public enum Option {
    /** Nothing. */
    NONE,
    /** Zeros on release. */
    ZERO,
    /** Poison on release. */
    POISON,
    /** Canaries. */
    CANARIES,
    /** Zeros on release, and canaries. */
    ZERO_AND_CANARIES,
    /** Inaccessible guard pages around every large block. */
    GUARD_PAGES;

    Isolation isolation() {
      return switch (this) {
        case NONE, GUARD_PAGES -> Isolation.NONE;
        case ZERO -> Isolation.NONE.withFill(Fill.ZERO);
        case POISON -> Isolation.NONE.withFill(Fill.POISON);
        case CANARIES -> Isolation.NONE.withCanaries(true);
        case ZERO_AND_CANARIES -> Isolation.NONE.withFill(Fill.ZERO).withCanaries(true);
      };
    }
  }

  /** What is done to keep users apart. */
  @Param Option option;

  /** How many bytes. */
  @Param({"4096", "65536", "1048576"})
  long sizeBytes;

  private TensorPoolAllocator pool;

  /** Opens the pool and lets it learn. Threading: one thread, before all others. */
  @Setup
  public void open() {
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(
                SubAllocator.mmap(MmapOptions.DEFAULT.withGuardPages(option == Option.GUARD_PAGES)))
            .startStatisticStep(0)
            .executor(Runnable::run)
            .isolation(option.isolation())
            .build();
    for (int step = 0; step < MOST_STEPS && !pool.isPooling(); step++) {
      ScopedMemoryCollector scope = pool.collect();
      pool.allocate(Math.max(sizeBytes, 65_536)).close();
      scope.close();
    }
  }

  /**
   * The measured operation.
   *
   * <p>Threading: any thread.
   */
  @Benchmark
  public void pair() {
    try (Allocation allocation = pool.allocate(sizeBytes)) {
      ByteBuffer buffer = allocation.byteBuffer();
      buffer.putLong(0, sizeBytes);
      Writes.checkRead(buffer.getLong(0), sizeBytes);
    }
  }

  /**
   * Closes the pool.
   *
   * <p>Threading: one thread, after all others.
   *
   * @throws IllegalStateException if requests were not served from the plan
   */
  @TearDown
  public void close() {
    long misses = pool.poolStats().misses();
    pool.close();
    if (misses > 0) {
      throw new IllegalStateException(misses + " requests found no block");
    }
  }
}
