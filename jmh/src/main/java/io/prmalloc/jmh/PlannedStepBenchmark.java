package io.prmalloc.jmh;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What does a pair cost when the step is planned, in nanoseconds? A step of {@value #PAIRS} pairs
 * of allocate, touch and close, of one size; its lease and its end are in the score.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar PlannedStepBenchmark
 * }</pre>
 *
 * <p>Threading: every thread runs steps of the same pool, in arenas of their own.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PlannedStepBenchmark {

  static final int PAIRS = 1000;

  private static final int MAX_STEPS = 1000;

  /** How many bytes. */
  @Param("65536")
  long sizeBytes;

  /** Whether the step is asked, or the shared pool. */
  @Param({"true", "false"})
  boolean planned;

  private TensorPoolAllocator pool;

  /**
   * Opens the pool and lets it learn.
   *
   * <p>Threading: one thread, before all others.
   *
   * @throws IllegalStateException if the steps are not planned after a thousand of them
   */
  @Setup
  public void open() {
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(SubAllocator.direct())
            .startStatisticStep(0)
            .executor(Runnable::run)
            .build();
    for (int steps = 0; !isWarm(); steps++) {
      if (steps == MAX_STEPS) {
        throw new IllegalStateException("no plan after " + MAX_STEPS + " steps");
      }
      pairs();
    }
  }

  private boolean isWarm() {
    return planned ? pool.stepStats().plannedSteps() > 0 : pool.isPooling();
  }

  /**
   * The measured operation.
   *
   * <p>Threading: several threads at a time.
   *
   * @return a sum of what was read from the memory
   */
  @Benchmark
  @OperationsPerInvocation(PAIRS)
  public long pairs() {
    return planned ? plannedPairs() : sharedPairs();
  }

  private long plannedPairs() {
    long sum = 0;
    try (ScopedMemoryCollector step = pool.collect()) {
      for (int pair = 0; pair < PAIRS; pair++) {
        try (Allocation tensor = step.allocate(sizeBytes)) {
          tensor.byteBuffer().putLong(0, pair);
          sum += tensor.byteBuffer().getLong(0);
        }
      }
    }
    return sum;
  }

  @SuppressWarnings("try") // a step is a bracket
  private long sharedPairs() {
    long sum = 0;
    try (ScopedMemoryCollector step = pool.collect()) {
      for (int pair = 0; pair < PAIRS; pair++) {
        try (Allocation tensor = pool.allocate(sizeBytes)) {
          tensor.byteBuffer().putLong(0, pair);
          sum += tensor.byteBuffer().getLong(0);
        }
      }
    }
    return sum;
  }

  /** Closes the pool. Threading: one thread, after all others. */
  @TearDown
  public void close() {
    pool.close();
  }
}
