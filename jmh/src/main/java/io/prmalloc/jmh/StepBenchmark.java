package io.prmalloc.jmh;

import io.prmalloc.jmh.rival.Lane;
import io.prmalloc.jmh.rival.Step;
import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.replay.Touch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * What does memory cost in one step of a model, in microseconds? The step's allocations and
 * releases in their order, so much of each tensor written as {@code touch} says, and nothing
 * computed.
 *
 * <p>By default the step is the bundled sample, one inference of a MobileNet. With two threads each
 * runs steps of its own, on one allocator.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar jmh.StepBenchmark -t 1
 * java -jar jmh/target/benchmarks.jar jmh.StepBenchmark -t 2
 * java -jar jmh/target/benchmarks.jar jmh.StepBenchmark -p trace=my-step.ev -p touch=FIRST,ALL
 * java -jar jmh/target/benchmarks.jar jmh.StepBenchmark -p trace=../shared/data/mnn/MobilenetV2@4
 * }</pre>
 *
 * <p>Threading: the allocator is shared by the threads of the benchmark.
 */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class StepBenchmark extends RivalBenchmark {

  /**
   * A file of events, a sample that comes with the library, or a directory of profiles with
   * {@code @} and the batch size behind it.
   */
  @Param("sample:mobilenet")
  String trace;

  /** How much of each tensor is written: nothing, 8 bytes, 8 bytes of each page, or all. */
  @Param("FIRST")
  Touch touch;

  private Step step;

  /** A thread's tensors. Threading: one thread. */
  @State(Scope.Thread)
  public static class Worker {
    private Lane lane;
    private long next;

    /** Makes room for a step's tensors. Threading: one thread. */
    @Setup
    public void open(StepBenchmark benchmark) {
      lane = benchmark.strategy.lane(benchmark.step, benchmark.touch);
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
    step = Step.of(input(trace).read());
    open(step, threads);
  }

  /** What {@code trace} names. */
  static TraceInput input(String trace) {
    int at = trace.lastIndexOf('@');
    String batch = trace.substring(at + 1);
    return at > 0 && batch.matches("[0-9]{1,9}")
        ? new TraceInput(trace.substring(0, at), null, Integer.valueOf(batch))
        : new TraceInput(trace, null, null);
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
}
