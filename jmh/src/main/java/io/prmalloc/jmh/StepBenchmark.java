package io.prmalloc.jmh;

import io.prmalloc.trace.TraceInput;
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
 * What does memory cost in one step of a model, in microseconds? The step's allocations and
 * releases in their order, 8 bytes touched of each tensor, and nothing computed.
 *
 * <p>By default the step is the bundled sample, one inference of a MobileNet. With two threads each
 * runs steps of its own, on one allocator.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar StepBenchmark -t 1
 * java -jar jmh/target/benchmarks.jar StepBenchmark -t 2
 * java -jar jmh/target/benchmarks.jar StepBenchmark -p trace=my-step.ev
 * }</pre>
 *
 * <p>Threading: the allocator is shared by the threads of the benchmark.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 3,
    jvmArgsPrepend = {
      "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
      "--add-opens=java.base/java.nio=ALL-UNNAMED"
    })
@State(Scope.Benchmark)
public class StepBenchmark {

  /** Who allocates. */
  @Param Rival rival;

  /** A file of events, or a sample that comes with the library. */
  @Param("sample:mobilenet")
  String trace;

  private Strategy strategy;
  private Step step;

  /** A thread's tensors. Threading: one thread. */
  @State(Scope.Thread)
  public static class Worker {
    private Lane lane;
    private long next;

    /** Makes room for a step's tensors. Threading: one thread. */
    @Setup
    public void open(StepBenchmark benchmark) {
      lane = benchmark.strategy.lane(benchmark.step.tensors());
    }
  }

  /**
   * Reads the trace, opens the allocator and lets it learn.
   *
   * <p>Threading: one thread, before all others.
   *
   * @throws io.prmalloc.trace.TraceFormatException if the file does not hold a trace
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  @Setup
  public void open(BenchmarkParams params) {
    open(params.getThreads());
  }

  final void open(int threads) {
    step = Step.of(new TraceInput(trace, null, null).read());
    strategy = rival.open();
    WarmUp.run(strategy, step, threads);
  }

  /**
   * The measured operation.
   *
   * <p>Threading: any thread, each with its own worker.
   *
   * @return a sum of what was read from the memory
   */
  @Benchmark
  public long step(Worker worker) {
    return step.run(strategy, worker.lane, worker.next++);
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
