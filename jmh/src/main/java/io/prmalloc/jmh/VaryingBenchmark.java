package io.prmalloc.jmh;

import io.prmalloc.jmh.rival.Lane;
import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.jmh.rival.Step;
import io.prmalloc.trace.replay.Touch;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * What does memory cost in one step, in microseconds, when steps vary like those of a server? The
 * sizes of a step are those of its trace times a factor from {@value #LEAST_FACTOR} to 1, or the
 * steps are those of two models in random order, or there are no steps.
 *
 * <p>Only JMH's iterations warm an allocator up. Our pool has its default settings, learns from the
 * traffic that is measured, and plans in the background. The random choices are the same for every
 * rival. Scaling the sizes is part of the score, the same for all; {@link Rival#READY_MEMORY} shows
 * what is left when nothing is allocated.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar VaryingBenchmark -t 1 -wi 20
 * java -jar jmh/target/benchmarks.jar VaryingBenchmark -t 2 -p traffic=ANY -p touch=FIRST,PAGE
 * java -jar jmh/target/benchmarks.jar VaryingBenchmark -p traffic=TWO_MODELS \
 *   -p trace=../shared/data/mnn/Squeezenet@2 -p other=../shared/data/mnn/MobilenetV2@4
 * }</pre>
 *
 * <p>Threading: the allocator is shared by the threads of the benchmark.
 */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class VaryingBenchmark extends RivalBenchmark {

  static final double LEAST_FACTOR = 0.25;
  static final int BUFFERS_OF_AN_OPERATION = 1_000;
  private static final int SHAPES = 16;
  private static final long SEED = 20_26;

  /** How steps vary. Threading: immutable. */
  public enum Traffic {
    /** All sizes of a step are multiplied by a factor of its own. */
    ANY,
    /** The same with 16 factors, drawn once, in random order. */
    SIXTEEN,
    /** Each step is one of the two traces, each as often, with sizes as they are. */
    TWO_MODELS,
    /**
     * A thousand network buffers of an operation, in no step: 1 KiB to 1 MiB times a factor of its
     * own, at most 64 alive, released in random order.
     */
    BUFFERS
  }

  /** How steps vary. */
  @Param Traffic traffic;

  /** A step, as {@link StepBenchmark#trace} names it. */
  @Param("sample:mobilenet")
  String trace;

  /** The other one of two models. */
  @Param("sample:mobilenet-v2")
  String other;

  /** How much of each tensor is written: nothing, 8 bytes, 8 bytes of each page, or all. */
  @Param("FIRST")
  Touch touch;

  private List<Step> steps;
  private double[] factors;

  /**
   * Reads the traces and opens the allocator.
   *
   * <p>Threading: one thread, before all others.
   *
   * @throws IllegalStateException if the rival cannot take part
   * @throws io.prmalloc.trace.TraceFormatException if a file does not hold a trace
   * @throws java.io.UncheckedIOException if a file is not there or cannot be read
   */
  @Setup
  public void open() {
    if (traffic == Traffic.BUFFERS && rival.asksTheStep()) {
      throw new IllegalStateException(rival + " is skipped: buffers belong to no step");
    }
    steps =
        switch (traffic) {
          case ANY, SIXTEEN -> List.of(step(trace));
          case TWO_MODELS -> List.of(step(trace), step(other));
          case BUFFERS -> List.of(Step.ofBuffers(BUFFERS_OF_AN_OPERATION));
        };
    factors =
        traffic == Traffic.SIXTEEN
            ? new SplittableRandom(SEED).doubles(SHAPES, LEAST_FACTOR, 1).toArray()
            : new double[0];
    strategy = rival.openAsServed();
  }

  private static Step step(String trace) {
    return Step.of(StepBenchmark.input(trace).read());
  }

  /** A thread's steps, their tensors, and what it draws. Threading: one thread. */
  @State(Scope.Thread)
  public static class Worker {
    private Step[] copies;
    private Lane[] lanes;
    private SplittableRandom random;
    private long next;

    /** Makes room for the tensors. Threading: one thread. */
    @Setup
    public void open(VaryingBenchmark benchmark, ThreadParams thread) {
      open(benchmark, thread.getThreadIndex());
    }

    void open(VaryingBenchmark benchmark, int thread) {
      copies = benchmark.steps.stream().map(Step::copy).toArray(Step[]::new);
      lanes =
          benchmark.steps.stream()
              .map(step -> benchmark.strategy.lane(step, benchmark.touch))
              .toArray(Lane[]::new);
      random = new SplittableRandom(SEED + 1 + thread);
    }

    /** The step that {@link #step} runs next. */
    private int draw(VaryingBenchmark benchmark) {
      switch (benchmark.traffic) {
        case ANY, BUFFERS ->
            copies[0].scale(benchmark.steps.get(0), random.nextDouble(LEAST_FACTOR, 1));
        case SIXTEEN ->
            copies[0].scale(benchmark.steps.get(0), benchmark.factors[random.nextInt(SHAPES)]);
        case TWO_MODELS -> {
          return random.nextInt(copies.length);
        }
      }
      return 0;
    }
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
    int drawn = worker.draw(this);
    Step step = worker.copies[drawn];
    Lane lane = worker.lanes[drawn];
    return traffic == Traffic.BUFFERS
        ? step.replay(lane, null, worker.next++)
        : step.run(strategy, lane, worker.next++);
  }
}
