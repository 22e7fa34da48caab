package io.prmalloc.cli;

import io.prmalloc.plan.exact.ExactPlan;
import io.prmalloc.plan.exact.PlanWatcher;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Shows how good the exact planner's plan is by now, and ends its search when Ctrl-C is pressed.
 *
 * <p>Threading: safe.
 */
final class PlanWatch implements PlanWatcher, AutoCloseable {

  // Better plans get rare with time, so the bar is moved by a clock, not by them.

  private static final long TICK_MILLIS = 500;
  private static final long WHOLE = 10_000;
  private static final String EXACT = "exact";

  private final TerminalProgress bar;
  private final CtrlC ctrlC;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile ExactPlan best;

  /**
   * Watches from now on.
   *
   * @param bar the progress bar, or null for none
   * @param ctrlC whether it is pressed, or null if it is not watched
   */
  PlanWatch(TerminalProgress bar, CtrlC ctrlC) {
    this.bar = bar;
    this.ctrlC = ctrlC;
    if (bar != null) {
      Thread clock = new Thread(this::tick, "prmalloc-progress");
      clock.setDaemon(true);
      clock.start();
    }
  }

  @Override
  public boolean isCancelled() {
    return ctrlC != null && ctrlC.isPressed();
  }

  @Override
  public void improved(ExactPlan plan) {
    best = plan;
  }

  private void tick() {
    try {
      while (!closed.await(TICK_MILLIS, TimeUnit.MILLISECONDS)) {
        ExactPlan plan = best;
        if (plan != null && bar.isAt(EXACT)) {
          // How much of the plan the bound says is needed.
          bar.update(EXACT, (long) (WHOLE / (1 + plan.gap())), WHOLE);
          bar.message(describe(plan));
        }
      }
    } catch (InterruptedException e) {
      // The clock is no longer needed.
      Thread.currentThread().interrupt();
    }
  }

  /** A plan in a few words. */
  static String describe(ExactPlan plan) {
    return String.format(Locale.ROOT, "best %,d, gap %.2f %%", plan.totalBytes(), 100 * plan.gap());
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
