package io.prmalloc.jmh;

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
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * What does it cost to allocate, touch 8 bytes and release, in nanoseconds?
 *
 * <p>The best case of every allocator: one size, and what was released last is what is wanted next.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar PairBenchmark -t 1
 * java -jar jmh/target/benchmarks.jar PairBenchmark -t 2
 * java -jar jmh/target/benchmarks.jar PairBenchmark -p rival=POOL_HANDLE,POOL_RAW -prof gc
 * }</pre>
 *
 * <p>Threading: the allocator is shared by the threads of the benchmark.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 3,
    jvmArgsPrepend = {
      "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
      "--add-opens=java.base/java.nio=ALL-UNNAMED"
    })
@State(Scope.Benchmark)
public class PairBenchmark {

  /** Who allocates. */
  @Param Rival rival;

  /** How many bytes. */
  @Param({"65536", "1048576"})
  long sizeBytes;

  private Strategy strategy;

  /** What a thread writes. Threading: one thread. */
  @State(Scope.Thread)
  public static class Values {
    private long next;
  }

  /**
   * Opens the allocator and lets it learn.
   *
   * <p>Threading: one thread, before all others.
   */
  @Setup
  public void open(BenchmarkParams params) {
    open(params.getThreads());
  }

  final void open(int threads) {
    strategy = rival.open();
    WarmUp.run(strategy, Step.ofPair(sizeBytes), threads);
  }

  /**
   * The measured operation.
   *
   * <p>Threading: any thread.
   *
   * @return what was read from the memory
   */
  @Benchmark
  public long pair(Values values) {
    return strategy.pair(sizeBytes, values.next++);
  }

  /**
   * Says how the allocator served, and closes it.
   *
   * <p>Threading: one thread, after all others.
   */
  @TearDown
  public void close() {
    strategy.report().ifPresent(System.out::println);
    strategy.close();
  }
}
