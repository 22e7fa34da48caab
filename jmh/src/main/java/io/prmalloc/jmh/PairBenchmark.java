package io.prmalloc.jmh;

import io.prmalloc.jmh.rival.Step;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * What does it cost to allocate, touch 8 bytes and release, in nanoseconds?
 *
 * <p>The best case of every allocator: one size, and what was released last is what is wanted next.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar PairBenchmark -t 1
 * java -jar jmh/target/benchmarks.jar PairBenchmark -t 2 -p sizeBytes=65536
 * java -jar jmh/target/benchmarks.jar PairBenchmark -p rival=POOL_HANDLE,POOL_RAW -prof gc
 * }</pre>
 *
 * <p>Threading: the allocator is shared by the threads of the benchmark.
 */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PairBenchmark extends RivalBenchmark {

  /** How many bytes. */
  @Param({"4096", "65536", "1048576", "16777216"})
  long sizeBytes;

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
    open(Step.ofPairs(sizeBytes), threads);
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
}
