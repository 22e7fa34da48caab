package io.prmalloc.trace.swap;

import java.util.Locale;

/**
 * How transfers and computing share the time.
 *
 * <p>Threading: immutable.
 */
public enum SwapMode {
  /** One after the other. */
  SYNC,
  /** Side by side within an operator: what the one before put out, what the next one needs. */
  SEMI_SYNC,
  /** The disk has a clock of its own. */
  ASYNC;

  /** Its name: {@code sync}, {@code semi-sync}, {@code async}. Threading: any thread. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
