package io.prmalloc.trace.replay;

import java.util.List;
import java.util.Optional;

/**
 * The result of shifting traffic: it was cut off, or it failed, or there is a phase for each trace.
 *
 * <p>Threading: immutable.
 *
 * @param allocator the shared pool or planned steps
 * @param skipped why it was not tried to the end; empty if it was
 * @param failure what went wrong; empty if nothing did
 * @param phases in order; as many as went well
 */
public record ShiftRun(
    ReplayAllocator allocator,
    Optional<String> skipped,
    Optional<String> failure,
    List<ShiftPhase> phases) {

  /** Copies the list. */
  public ShiftRun {
    phases = List.copyOf(phases);
  }

  /**
   * A run that was not tried to the end.
   *
   * <p>Threading: any thread.
   *
   * @param reason why, with the name of the allocator
   */
  public static ShiftRun skipped(ReplayAllocator allocator, String reason) {
    return new ShiftRun(allocator, Optional.of(reason), Optional.empty(), List.of());
  }
}
