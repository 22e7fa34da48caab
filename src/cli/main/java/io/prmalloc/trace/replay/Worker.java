package io.prmalloc.trace.replay;

import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.ReplayTarget;
import io.prmalloc.trace.replay.lane.ThreadUsage;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;

/**
 * One thread of a run: learns, settles, measures. All workers of a run wait for each other between
 * these.
 *
 * <p>Threading: {@link #run} on a thread of its own; the figures are read after that thread has
 * ended, {@link #measuredSteps} at any time.
 */
final class Worker implements Runnable {

  /**
   * Pairs of allocate and release after which the allocator's code is hot: four times C2's bound.
   */
  private static final long DRY_PAIRS = 60_000;

  private static final int MIN_SETTLE_STEPS = 5;

  private static final long MAX_STEP_NANOS = 3_600_000_000_000L;
  private static final int SIGNIFICANT_DIGITS = 3;

  /**
   * What the workers of a run share.
   *
   * <p>Threading: immutable; its parts are safe for threads.
   *
   * @param target the allocator under test
   * @param options how the trace is replayed
   * @param settleNanos how long the parts of settling go on
   * @param pairsPerStep how many tensors a step has
   * @param meeting where workers wait for each other; each is registered there already
   * @param failure the first failure, null while there is none; when one worker fails, all end
   */
  record Run(
      ReplayTarget target,
      ReplayOptions options,
      long settleNanos,
      int pairsPerStep,
      Phaser meeting,
      AtomicReference<String> failure) {}

  private final int thread;
  private final Run run;
  private final Lane lane;
  private final StepLoop loop;
  private final StepLoop dryLoop;
  private final AtomicLong measuredSteps = new AtomicLong();
  private final AtomicLong warmupSteps = new AtomicLong();
  private final ThreadUsage usage = new ThreadUsage();

  private final Histogram stepNanos = new Histogram(1, MAX_STEP_NANOS, SIGNIFICANT_DIGITS);
  private long stepNumber;
  private int learningSteps;
  private long wallNanos;

  /**
   * Threading: any thread.
   *
   * @param thread the number of the worker, from 0
   * @param lane its own way into the allocator
   * @param loop runs a step through the lane as asked for
   * @param dryLoop the same, but touches nothing
   */
  Worker(int thread, Run run, Lane lane, StepLoop loop, StepLoop dryLoop) {
    this.thread = thread;
    this.run = run;
    this.lane = lane;
    this.loop = loop;
    this.dryLoop = dryLoop;
  }

  @Override
  public void run() {
    try {
      learn();
      run.meeting().arriveAndAwaitAdvance();
      settle();
      run.meeting().arriveAndAwaitAdvance();
      measure();
    } catch (ReplayFailure e) {
      fail(e.getMessage());
    } catch (RuntimeException | Error e) {
      fail(e.toString());
    } finally {
      run.meeting().arriveAndDeregister();
    }
  }

  private void fail(String message) {
    run.failure()
        .compareAndSet(null, "thread " + thread + ", step " + (stepNumber - 1) + ", " + message);
    try {
      lane.abandon();
    } catch (RuntimeException sameAgain) {
      // The allocator is broken, which is said already; the run's end takes all memory away.
    }
  }

  private void learn() {
    while (!run.target().isWarm() && learningSteps < run.options().maxLearningSteps() && goesOn()) {
      step(loop);
      learningSteps++;
      warmupSteps.lazySet(stepNumber);
    }
  }

  /**
   * Makes the allocator's own code hot, without touching memory and for as long as that takes; then
   * goes on as measured.
   */
  private void settle() {
    long begin = System.nanoTime();
    for (long pairs = 0;
        goesOn() && pairs < DRY_PAIRS && System.nanoTime() - begin < run.settleNanos();
        pairs += run.pairsPerStep() + 1) {
      step(dryLoop);
      warmupSteps.lazySet(stepNumber);
    }
    begin = System.nanoTime();
    for (int steps = 0;
        goesOn() && (steps < MIN_SETTLE_STEPS || System.nanoTime() - begin < run.settleNanos());
        steps++) {
      step(loop);
      warmupSteps.lazySet(stepNumber);
      stepNanos.recordValue(1);
    }
    stepNanos.reset();
  }

  private void measure() {
    usage.begin();
    long begin = System.nanoTime();
    long last = begin;
    for (int done = 1; done <= run.options().steps() && goesOn(); done++) {
      step(loop);
      long now = System.nanoTime();
      stepNanos.recordValue(Math.min(now - last, MAX_STEP_NANOS));
      last = now;
      measuredSteps.lazySet(done);
    }
    wallNanos = last - begin;
    usage.end();
  }

  private void step(StepLoop loop) {
    long seed = Pattern.stepSeed(thread, stepNumber++);
    lane.openStep();
    loop.run(seed);
    lane.closeStep();
  }

  private boolean goesOn() {
    return run.failure().get() == null;
  }

  /** Measured steps done so far. Threading: any thread. */
  long measuredSteps() {
    return measuredSteps.get();
  }

  /** Steps done so far that are not measured. Threading: any thread. */
  long warmupSteps() {
    return warmupSteps.get();
  }

  Histogram stepNanos() {
    return stepNanos;
  }

  int learningSteps() {
    return learningSteps;
  }

  long wallNanos() {
    return wallNanos;
  }

  /** What the measured steps took of the system. */
  ThreadUsage usage() {
    return usage;
  }
}
