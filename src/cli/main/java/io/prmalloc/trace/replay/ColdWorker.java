package io.prmalloc.trace.replay;

import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.ThreadUsage;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/**
 * One thread of a run that is measured from its first step on.
 *
 * <p>Threading: {@link #run} on a thread of its own; the figures are read after that thread has
 * ended, {@link #doneSteps} at any time.
 */
abstract class ColdWorker implements Runnable {

  static final int FIRST_STEPS = 100;

  private static final long MAX_STEP_NANOS = 3_600_000_000_000L;
  private static final int SIGNIFICANT_DIGITS = 3;

  private final int thread;
  private final ColdRun run;
  private final Lane lane;
  private final long steps;

  private final Histogram all = histogram();
  private final Histogram first = histogram();
  private final Histogram steady = histogram();
  private final ThreadUsage usage = new ThreadUsage();
  private final AtomicLong doneSteps = new AtomicLong();
  private long stepNanos;
  private int stepsToWarm = -1;
  long pairs;

  /**
   * @param thread the number of the worker, from 0
   * @param lane its own way into the allocator
   * @param steps how many it will run, so that its second half is known
   */
  ColdWorker(int thread, ColdRun run, Lane lane, long steps) {
    this.thread = thread;
    this.run = run;
    this.lane = lane;
    this.steps = steps;
  }

  private static Histogram histogram() {
    return new Histogram(1, MAX_STEP_NANOS, SIGNIFICANT_DIGITS);
  }

  @Override
  public final void run() {
    // All begin together, and at the end the process is looked at while all are still there: a
    // thread that ends gives back what its allocator keeps for it.
    run.meet();
    try {
      usage.begin();
      runSteps();
      usage.end();
    } catch (ReplayFailure e) {
      run.fail(where() + e.getMessage());
    } catch (RuntimeException | Error e) {
      run.fail(where() + e);
    } finally {
      over();
      run.meet();
      if (run.hasFailed()) {
        abandon();
      }
    }
  }

  private String where() {
    return "thread " + thread + ", step " + doneSteps.get() + ", ";
  }

  private void abandon() {
    try {
      lane.abandon();
    } catch (RuntimeException sameAgain) {
      // The allocator is broken, which is said already; the run's end takes all memory away.
    }
  }

  /** Runs all steps, as long as {@link #goesOn}, and tells of each by {@link #stepped}. */
  abstract void runSteps();

  /** There is no more to come of this thread, whatever the reason. */
  void over() {}

  /** A step is over. */
  final void stepped(long nanos) {
    long done = doneSteps.get();
    long counted = Math.min(Math.max(1, nanos), MAX_STEP_NANOS);
    stepNanos += counted;
    all.recordValue(counted);
    if (done < FIRST_STEPS) {
      first.recordValue(counted);
    }
    if (done >= steps / 2) {
      steady.recordValue(counted);
    }
    doneSteps.lazySet(done + 1);
    if (thread == 0 && stepsToWarm < 0 && run.isWarm()) {
      stepsToWarm = (int) Math.min(Integer.MAX_VALUE, done + 1);
    }
  }

  final boolean goesOn() {
    return !run.hasFailed();
  }

  final ColdRun itsRun() {
    return run;
  }

  final Lane lane() {
    return lane;
  }

  /** Steps done so far. Threading: any thread. */
  final long doneSteps() {
    return doneSteps.get();
  }

  /** Times of all steps. */
  final Histogram all() {
    return all;
  }

  /** Times of the first hundred steps. */
  final Histogram first() {
    return first;
  }

  /** Times of the second half of the steps. */
  final Histogram steady() {
    return steady;
  }

  final ThreadUsage usage() {
    return usage;
  }

  /** Time of all steps. */
  final long stepNanos() {
    return stepNanos;
  }

  /** After how many steps the allocator had learnt; 0 if it never had. */
  final int stepsToWarm() {
    return Math.max(0, stepsToWarm);
  }
}
