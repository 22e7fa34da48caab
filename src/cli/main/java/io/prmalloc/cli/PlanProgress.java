package io.prmalloc.cli;

import io.prmalloc.plan.heuristic.SearchWatch;
import io.prmalloc.trace.planning.Planning;
import java.util.Locale;

/**
 * Shows how planning goes, and ends a search when Ctrl-C is pressed.
 *
 * <p>Threading: one thread at a time.
 *
 * @param bar the progress bar, or null for none
 * @param ctrlC whether it is pressed, or null if it is not watched
 */
record PlanProgress(TerminalProgress bar, CtrlC ctrlC) implements Planning.Progress, SearchWatch {

  private static final int STEPS = 1000;

  @Override
  public void update(String strategy, int done, int total) {
    if (bar != null) {
      bar.update(strategy, done, total);
    }
  }

  @Override
  public boolean goOn(long bestBytes, double done) {
    if (bar != null) {
      bar.update("search", (long) (STEPS * done), STEPS);
      bar.message(String.format(Locale.ROOT, "best %,d", bestBytes));
    }
    return ctrlC == null || !ctrlC.isPressed();
  }
}
