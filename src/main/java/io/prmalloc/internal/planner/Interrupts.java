package io.prmalloc.internal.planner;

import java.util.concurrent.CancellationException;

/** Stops a planner whose thread was interrupted. Threading: any thread. */
final class Interrupts {

  private Interrupts() {}

  /**
   * To be called once per tensor or so.
   *
   * @throws CancellationException if the thread was interrupted
   */
  static void check() {
    if (Thread.interrupted()) {
      throw new CancellationException("planning was interrupted");
    }
  }
}
