package io.prmalloc.jmh;

import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.jmh.rival.Step;
import io.prmalloc.jmh.rival.Strategy;
import io.prmalloc.jmh.rival.WarmUp;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The base of all benchmarks: an allocator that is shared by the benchmark's threads, and the flags
 * of a JVM in which every allocator works.
 *
 * <p>The Java heap has a fixed size and is resident from the start, so that the page faults that
 * are counted are those of the memory under test. The JIT profiles every method before it compiles
 * it with C2. By default a busy JIT skips that, and then may never know which allocator a benchmark
 * calls, so that every handle is made on the heap.
 *
 * <p>Threading: as each benchmark says.
 */
@BenchmarkMode(Mode.AverageTime)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 3,
    jvmArgsPrepend = {
      "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
      "--add-opens=java.base/java.nio=ALL-UNNAMED",
      "--enable-native-access=ALL-UNNAMED",
      "-Xms256m",
      "-Xmx256m",
      "-XX:+AlwaysPreTouch",
      "-XX:MaxDirectMemorySize=16g",
      "-XX:Tier3DelayOn=1000"
    })
@State(Scope.Benchmark)
public abstract class RivalBenchmark {

  /** What allocates. */
  @Param public Rival rival;

  public Strategy strategy;

  /**
   * Opens the allocator and lets it learn.
   *
   * @param learned what it will be asked for
   * @param threads by how many threads at a time
   */
  final void open(Step learned, int threads) {
    strategy = rival.open();
    WarmUp.run(strategy, learned, threads);
  }

  /** What has to happen before the allocator is closed. */
  void beforeClose() {}

  /**
   * Says how the allocator served, and closes it.
   *
   * <p>Threading: one thread, after all others.
   */
  @TearDown
  public final void close() {
    beforeClose();
    if (strategy != null) {
      strategy.report().ifPresent(System.out::println);
      strategy.close();
    }
  }
}
