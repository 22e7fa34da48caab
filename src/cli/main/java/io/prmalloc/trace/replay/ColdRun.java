package io.prmalloc.trace.replay;

import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.os.ResidentPeak;
import io.prmalloc.trace.replay.lane.ReplayTarget;
import io.prmalloc.trace.replay.lane.ThreadUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/**
 * One run of one allocator that is measured from its first step on.
 *
 * <p>Threading: {@link #run} by one thread; the rest by the workers.
 */
final class ColdRun {

  private final ReplayAllocator allocator;
  private final ReplayOptions options;
  private final ReplayTarget target;
  private final Phaser meeting = new Looking();
  private final AtomicReference<String> failure = new AtomicReference<>();
  private volatile long startRssBytes;
  private volatile long endRssBytes;
  private volatile long peakRssBytes;

  /**
   * @param target the allocator under test; closed by {@link #run}
   */
  ColdRun(ReplayAllocator allocator, ReplayOptions options, ReplayTarget target) {
    this.allocator = allocator;
    this.options = options;
    this.target = target;
  }

  /** Looks at the process when all workers are there: before the first step, after the last. */
  private final class Looking extends Phaser {
    @Override
    protected boolean onAdvance(int phase, int registeredParties) {
      if (phase == 0) {
        target.markStart();
        ResidentPeak.reset();
        startRssBytes = OperatingSystem.residentBytes();
      } else {
        endRssBytes = OperatingSystem.residentBytes();
        // Linux sums up the peak and the present over processors at different moments.
        peakRssBytes = Math.max(ResidentPeak.bytes(), Math.max(startRssBytes, endRssBytes));
      }
      return phase > 0;
    }
  }

  /** Waits for all workers. */
  void meet() {
    meeting.arriveAndAwaitAdvance();
  }

  /** The first failure is kept; when one worker fails, all end. */
  void fail(String reason) {
    failure.compareAndSet(null, reason);
  }

  boolean hasFailed() {
    return failure.get() != null;
  }

  /** Whether the shared pool has a plan; false for all others, which do not tell so quickly. */
  boolean isWarm() {
    return allocator == ReplayAllocator.POOL && target.isWarm();
  }

  /**
   * Runs all workers to their end.
   *
   * @param reportedSteps the steps of each thread; 0 for those of all threads together
   * @param progress told of the way, or null
   */
  ReplayRun run(
      List<? extends ColdWorker> workers,
      long totalSteps,
      int reportedSteps,
      ReplayProgress progress)
      throws InterruptedException {
    meeting.bulkRegister(workers.size());
    List<Thread> threads = new ArrayList<>();
    for (ColdWorker worker : workers) {
      threads.add(new Thread(worker, "replay-" + threads.size()));
    }
    threads.forEach(Thread::start);
    Replayer.await(
        threads,
        progress,
        allocator,
        totalSteps,
        () -> workers.stream().mapToLong(ColdWorker::doneSteps).sum());
    ReplayRun run =
        hasFailed()
            ? ReplayRun.failed(allocator, options, failure.get())
            : figures(workers, totalSteps, reportedSteps);
    return run.withFailure(Replayer.close(target));
  }

  private ReplayRun figures(
      List<? extends ColdWorker> workers, long totalSteps, int reportedSteps) {
    Histogram all = sum(workers, ColdWorker::all);
    long pairs = workers.stream().mapToLong(worker -> worker.pairs).sum();
    long nanos = workers.stream().mapToLong(ColdWorker::stepNanos).sum();
    ReplayRun.Percentiles times = percentiles(all);
    ReplayRun.Measured measured =
        new ReplayRun.Measured(
            times.p50(),
            times.p99(),
            times.max(),
            pairs == 0 ? 0 : (double) nanos / pairs,
            perStep(workers, ThreadUsage::minorFaults, totalSteps),
            perStep(workers, ThreadUsage::majorFaults, totalSteps),
            perStep(workers, ThreadUsage::heapBytes, totalSteps),
            target.peakReservedBytes(),
            peakRssBytes,
            workers.get(0).stepsToWarm(),
            target.poolCounts(),
            target.stepCounts());
    return ReplayRun.fromCold(
        allocator,
        workers.size(),
        reportedSteps,
        measured,
        new ReplayRun.FromCold(
            percentiles(sum(workers, ColdWorker::first)),
            percentiles(sum(workers, ColdWorker::steady)),
            startRssBytes,
            endRssBytes));
  }

  private static Histogram sum(
      List<? extends ColdWorker> workers, Function<ColdWorker, Histogram> part) {
    Histogram sum = part.apply(workers.get(0)).copy();
    workers.stream().skip(1).map(part).forEach(sum::add);
    return sum;
  }

  private static ReplayRun.Percentiles percentiles(Histogram nanos) {
    return new ReplayRun.Percentiles(
        nanos.getValueAtPercentile(50) / 1e3,
        nanos.getValueAtPercentile(99) / 1e3,
        nanos.getMaxValue() / 1e3);
  }

  private static double perStep(
      List<? extends ColdWorker> workers, ToLongFunction<ThreadUsage> figure, long steps) {
    double sum = workers.stream().map(ColdWorker::usage).mapToLong(figure).sum();
    return steps == 0 ? 0 : sum / steps;
  }
}
