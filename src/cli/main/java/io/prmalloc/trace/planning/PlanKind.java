package io.prmalloc.trace.planning;

import java.util.Locale;

/**
 * What a plan gives to each tensor.
 *
 * <p>Threading: immutable.
 */
public enum PlanKind {
  /** A whole object, shared with others one after the other. */
  OBJECTS,
  /** An offset in one arena. */
  OFFSETS;

  /** As the command line has it: {@code offsets}. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
