package io.prmalloc.cli;

import io.prmalloc.trace.replay.ReplayAllocator;
import io.prmalloc.trace.replay.ReplayProgress;

/**
 * Shows how a run goes, and ends it when Ctrl-C is pressed.
 *
 * <p>Threading: one thread at a time.
 *
 * @param bar the progress bar, or null for none
 * @param ctrlC whether it is pressed
 */
record RunProgress(TerminalProgress bar, CtrlC ctrlC) implements ReplayProgress {

  @Override
  public void update(ReplayAllocator allocator, long steps, long totalSteps) {
    if (bar != null) {
      bar.update(allocator, steps, totalSteps);
    }
  }

  @Override
  public void warmUp(ReplayAllocator allocator, long steps) {
    if (bar != null) {
      bar.warmUp(allocator, steps);
    }
  }

  @Override
  public boolean isCancelled() {
    return ctrlC.isPressed();
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
