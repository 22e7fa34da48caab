package io.prmalloc.cli;

import io.prmalloc.plan.exact.ExactPlan;
import io.prmalloc.plan.exact.PlanWatcher;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Shows how good the plan is that a planner goes on improving, and on Ctrl-C makes it stop with
 * what it has.
 *
 * <p>Threading: safe; close it on the thread that made it.
 */
final class PlanWatch implements PlanWatcher, AutoCloseable {

  // Ctrl-C starts the JVM's shutdown, which waits for this hook, and the hook for the command to
  // print and write its best plan. Only a planner that has one listens; for others the hook does
  // not
  // wait.
  //
  // Better plans get rare with time, so the bar is moved by a clock, not by them.

  private static final long PATIENCE_SECONDS = 30;
  private static final long TICK_MILLIS = 500;
  private static final long WHOLE = 10_000;

  private final TerminalProgress progress;
  private final CountDownLatch finished = new CountDownLatch(1);
  private final Thread hook = new Thread(this::cancel, "prmalloc-ctrl-c");
  private final Thread clock = new Thread(this::tick, "prmalloc-progress");
  private volatile boolean cancelled;
  private volatile ExactPlan best;

  /**
   * Listens from now on.
   *
   * @param progress where to show it, or null
   */
  PlanWatch(TerminalProgress progress) {
    this.progress = progress;
    Runtime.getRuntime().addShutdownHook(hook);
    if (progress != null) {
      clock.setDaemon(true);
      clock.start();
    }
  }

  /** Stops the planner and waits until the command is done with its plan. */
  void cancel() {
    cancelled = true;
    try {
      if (best != null && !finished.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        System.err.println("prmalloc: the plan is not written; it took too long");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public void improved(ExactPlan plan) {
    best = plan;
  }

  private void tick() {
    try {
      while (!finished.await(TICK_MILLIS, TimeUnit.MILLISECONDS)) {
        ExactPlan plan = best;
        if (plan != null && !cancelled) {
          progress.update("exact", part(plan), WHOLE, describe(plan));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** How much of the plan the bound says is needed. */
  private static long part(ExactPlan plan) {
    return (long) (WHOLE / (1 + plan.gap()));
  }

  /** A plan in a few words. */
  static String describe(ExactPlan plan) {
    return String.format(
        Locale.ROOT, "%d bytes, %.2f %% over the bound", plan.totalBytes(), 100 * plan.gap());
  }

  @Override
  public void close() {
    finished.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running: that was Ctrl-C.
    }
  }
}
