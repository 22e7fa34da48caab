package io.prmalloc.trace.replay;

import java.util.List;
import java.util.Optional;

/**
 * The result of shifting traffic: it failed, or there is a phase for each trace.
 *
 * <p>Threading: immutable.
 *
 * @param allocator the shared pool or planned steps
 * @param failure what went wrong; empty if nothing did
 * @param phases in order; as many as went well
 */
public record ShiftRun(
    ReplayAllocator allocator, Optional<String> failure, List<ShiftPhase> phases) {

  /** Copies the list. */
  public ShiftRun {
    phases = List.copyOf(phases);
  }
}
