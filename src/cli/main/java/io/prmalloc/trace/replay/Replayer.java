package io.prmalloc.trace.replay;

import io.prmalloc.Allocator;
import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.os.AgronaAccess;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.os.ResidentPeak;
import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.Api;
import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.ReplayTarget;
import io.prmalloc.trace.replay.lane.ThreadUsage;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/**
 * Replays a trace on one allocator after the other, and measures the cost of a step.
 *
 * <p>Threading: any thread, but not two at the same time in one process: they would disturb each
 * other's figures.
 */
public final class Replayer {

  // A run has three parts, and its threads wait for each other between them:
  //
  //   learn     until the allocator has learnt what it will (the pool), at most so many steps
  //   settle    a second or two, so that the JIT has compiled what now runs: first dry, which makes
  //             the allocator hot however long the tensors take to write, then as measured
  //   measure   the steps asked for; nothing is made, locked or asked of the system in between but
  //             the time, once a step
  //
  // The process's peak of resident memory is set back before each run, and the C heap trimmed, so
  // that one allocator's figure does not hold another's memory.

  /** The largest tensor that can be replayed, in bytes: one region less room for a header. */
  public static final long MAX_TENSOR_BYTES =
      MemoryRegion.MAX_BYTES - 2 * Allocator.DEFAULT_ALIGNMENT;

  /** How long each part of settling goes on unless somebody says otherwise. */
  public static final Duration SETTLE = Duration.ofSeconds(1);

  private static final long PROGRESS_MILLIS = 200;

  private final Trace trace;
  private final ReplayOptions options;
  private final long settleNanos;

  /**
   * Threading: any thread.
   *
   * @param trace the step to run
   * @param options how to run it
   * @param settle how long each of the two parts of settling goes on; 0 where it does not matter
   *     how fast the steps are
   * @throws IllegalArgumentException if a tensor is over {@link #MAX_TENSOR_BYTES}, or {@code
   *     settle} is negative
   * @throws IllegalStateException if the options need addresses and this JVM cannot tell them; the
   *     message holds the flag that helps
   */
  public Replayer(Trace trace, ReplayOptions options, Duration settle) {
    if (settle.isNegative()) {
      throw new IllegalArgumentException("settle " + settle + " is negative; the least is 0");
    }
    this.settleNanos = settle.toNanos();
    this.trace = Objects.requireNonNull(trace, "trace");
    this.options = Objects.requireNonNull(options, "options");
    check(trace, options);
  }

  /** Whether a trace can be replayed; throws as the constructor says. */
  static void check(Trace trace, ReplayOptions options) {
    for (int tensor = 0; tensor < trace.tensorCount(); tensor++) {
      if (trace.sizeBytes(tensor) > MAX_TENSOR_BYTES) {
        throw new IllegalArgumentException(
            trace.name()
                + ": tensor "
                + trace.id(tensor)
                + " of "
                + trace.sizeBytes(tensor)
                + " bytes exceeds "
                + MAX_TENSOR_BYTES
                + ", the most that can be replayed");
      }
    }
    if (options.api() == Api.RAW) {
      AgronaAccess.require();
    }
  }

  /**
   * Runs the trace through one allocator.
   *
   * <p>Threading: one thread at a time in a process.
   *
   * @param allocator which one; a run of one that cannot be loaded here is skipped
   * @param progress told of the way, or null
   * @return the figures, or why there are none
   * @throws CancellationException if {@code progress} says so; the run goes on in the background
   *     then, to its end
   * @throws InterruptedException if the calling thread is interrupted; the run goes on in the
   *     background then, to its end
   */
  public ReplayRun run(ReplayAllocator allocator, ReplayProgress progress)
      throws InterruptedException {
    System.gc();
    OperatingSystem.trimHeap();
    ResidentPeak.reset();
    ReplayTarget target;
    try {
      target = allocator.open(options, trace.loadBytes() * options.threads(), false);
    } catch (UnsupportedOperationException absent) {
      return ReplayRun.skipped(allocator, options, absent.getMessage());
    }
    return run(allocator, target, progress);
  }

  /** As above, through a target of the caller's, which is closed at the end. */
  ReplayRun run(ReplayAllocator allocator, ReplayTarget target, ReplayProgress progress)
      throws InterruptedException {
    AtomicReference<String> failure = new AtomicReference<>();
    Phaser meeting = new MeasureMark(target, options.threads());
    Worker.Run shared =
        new Worker.Run(target, options, settleNanos, trace.tensorCount(), meeting, failure);
    StepLoops loops = new StepLoops();
    StepLoops dryLoops = new StepLoops();
    List<Worker> workers = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < options.threads(); i++) {
      Lane lane = target.lane(trace.tensorCount());
      Worker worker =
          new Worker(
              i,
              shared,
              lane,
              loops.create(lane, trace, options.touch()),
              dryLoops.create(lane, trace, Touch.NONE));
      workers.add(worker);
      threads.add(new Thread(worker, "replay-" + i));
    }
    threads.forEach(Thread::start);
    long total = (long) options.steps() * options.threads();
    await(
        threads,
        progress,
        allocator,
        total,
        () -> workers.stream().mapToLong(Worker::measuredSteps).sum(),
        () -> workers.stream().mapToLong(Worker::warmupSteps).sum());
    ReplayRun run =
        failure.get() != null
            ? ReplayRun.failed(allocator, options, failure.get())
            : ReplayRun.measured(allocator, options, figures(target, workers));
    return run.withFailure(close(target));
  }

  /** Closes a target; what went wrong, which must not cost the figures, or empty if nothing did. */
  static Optional<String> close(ReplayTarget target) {
    try {
      target.close();
      return Optional.empty();
    } catch (UncheckedIOException e) {
      // It names the file.
      return Optional.of(e.getCause().getMessage());
    } catch (RuntimeException e) {
      return Optional.of("closing it: " + e.getMessage());
    }
  }

  /** Tells the target when all threads have settled and none measures yet. */
  private static final class MeasureMark extends Phaser {
    private final ReplayTarget target;

    MeasureMark(ReplayTarget target, int parties) {
      super(parties);
      this.target = target;
    }

    @Override
    protected boolean onAdvance(int phase, int registeredParties) {
      if (phase == 1) {
        target.markStart();
      }
      return registeredParties == 0;
    }
  }

  /**
   * Waits until threads have ended; says from time to time how far they are, and once more then.
   *
   * @param progress null for none
   * @param done how much of the total
   * @throws CancellationException if {@code progress} says so; the threads go on
   */
  static void await(
      List<Thread> threads,
      ReplayProgress progress,
      ReplayAllocator allocator,
      long total,
      LongSupplier done)
      throws InterruptedException {
    await(threads, progress, allocator, total, done, () -> 0);
  }

  /**
   * The same, of a run whose first steps are not of the total.
   *
   * @param warmup how many of these were done
   */
  static void await(
      List<Thread> threads,
      ReplayProgress progress,
      ReplayAllocator allocator,
      long total,
      LongSupplier done,
      LongSupplier warmup)
      throws InterruptedException {
    for (Thread thread : threads) {
      while (progress != null && thread.isAlive()) {
        thread.join(PROGRESS_MILLIS);
        if (thread.isAlive() && progress.isCancelled()) {
          throw new CancellationException(allocator.label() + " is cancelled");
        }
        long now = done.getAsLong();
        long before = warmup.getAsLong();
        if (now == 0 && before > 0) {
          progress.warmUp(allocator, before);
        } else {
          progress.update(allocator, now, total);
        }
      }
      thread.join();
    }
    if (progress != null) {
      // Any of them may have ended since it was told of last, or before it was waited for.
      progress.update(allocator, done.getAsLong(), total);
    }
  }

  private ReplayRun.Measured figures(ReplayTarget target, List<Worker> workers) {
    Histogram stepNanos = new Histogram(workers.get(0).stepNanos());
    workers.forEach(worker -> stepNanos.add(worker.stepNanos()));
    double pairs = (double) options.steps() * trace.tensorCount();
    return new ReplayRun.Measured(
        stepNanos.getValueAtPercentile(50) / 1e3,
        stepNanos.getValueAtPercentile(99) / 1e3,
        stepNanos.getMaxValue() / 1e3,
        pairs == 0 ? 0 : workers.stream().mapToLong(Worker::wallNanos).average().orElse(0) / pairs,
        perStep(workers, ThreadUsage::minorFaults),
        perStep(workers, ThreadUsage::majorFaults),
        perStep(workers, ThreadUsage::heapBytes),
        target.peakReservedBytes(),
        ResidentPeak.bytes(),
        workers.stream().mapToInt(Worker::learningSteps).max().orElse(0),
        target.poolCounts(),
        target.stepCounts());
  }

  private double perStep(List<Worker> workers, ToLongFunction<ThreadUsage> figure) {
    long steps = (long) options.steps() * workers.size();
    return (double) workers.stream().map(Worker::usage).mapToLong(figure).sum() / steps;
  }
}
