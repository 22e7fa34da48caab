package io.prmalloc.jmh;

import io.prmalloc.jmh.rival.Handover;
import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.jmh.rival.Step;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.infra.Control;

/**
 * What does an allocation cost that another thread releases, in nanoseconds? One thread allocates
 * and touches 8 bytes, one releases; between them is a queue that holds at most {@value #CAPACITY},
 * a quarter at a time. Warm it up for two seconds at least: both threads have a processor, and the
 * JIT has none.
 *
 * <p>The score is the time from one allocation to the next when both threads run as fast as they
 * can, so it is the time of the slower thread. The score of {@link Rival#READY_MEMORY} is the cost
 * of the queue: subtract it.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar HandoverBenchmark
 * java -jar jmh/target/benchmarks.jar HandoverBenchmark -p rival=POOL_HANDLE,READY_MEMORY
 * }</pre>
 *
 * <p>Threading: the allocator is shared by the benchmark's two threads; {@code -t} changes nothing.
 */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(HandoverBenchmark.AT_A_TIME)
public class HandoverBenchmark extends RivalBenchmark {

  static final int CAPACITY = 256;

  /** So many are handed over by a call; JMH's score is of one. */
  static final int AT_A_TIME = CAPACITY / Handover.PARTS;

  private static final int SPINS = 100;

  /** How many bytes. */
  @Param("65536")
  public long sizeBytes;

  private Handover handover;

  /**
   * Opens the allocator and lets it learn.
   *
   * <p>Threading: one thread, before all others.
   */
  @Setup
  public void open() {
    if (!rival.crossesThreads()) {
      throw new IllegalStateException(rival + " is skipped: only the same thread may release");
    }
    open(Step.ofBurst(CAPACITY, sizeBytes), 1);
    handover = strategy.handover(CAPACITY);
  }

  /**
   * Allocates {@value #AT_A_TIME} and hands them over, as soon as there is room.
   *
   * <p>Threading: one thread.
   */
  @Benchmark
  @Group("handover")
  @GroupThreads(1)
  public void produce(Control control) {
    for (int spins = 0; !handover.produce(sizeBytes, spins); spins++) {
      if (control.stopMeasurement) {
        return;
      }
      backOff(spins);
    }
  }

  /**
   * Releases {@value #AT_A_TIME}, as soon as they are there.
   *
   * <p>Threading: one thread.
   */
  @Benchmark
  @Group("handover")
  @GroupThreads(1)
  public void consume(Control control) {
    for (int spins = 0; !handover.consume(); spins++) {
      if (control.stopMeasurement) {
        return;
      }
      backOff(spins);
    }
  }

  /** Waits a moment, and lets others run where the other side seems to be without a processor. */
  @SuppressWarnings("ThreadPriorityCheck") // a hint, on which nothing depends but time
  private static void backOff(int spins) {
    if (spins < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  /** Releases what is still on the way. */
  @Override
  void beforeClose() {
    while (handover != null && handover.consume()) {
      // until nothing is left
    }
  }
}
