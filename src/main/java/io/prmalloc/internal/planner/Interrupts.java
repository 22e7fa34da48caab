package io.prmalloc.internal.planner;

import java.util.concurrent.CancellationException;

/** Stops a planner whose thread was interrupted. Threading: any thread. */
public final class Interrupts {

  private Interrupts() {}

  /**
   * To be called once per tensor or so. Threading: any thread.
   *
   * @throws CancellationException if the thread was interrupted
   */
  public static void check() {
    if (Thread.interrupted()) {
      throw new CancellationException("planning was interrupted");
    }
  }
}
