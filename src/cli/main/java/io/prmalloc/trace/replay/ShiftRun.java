package io.prmalloc.trace.replay;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The result of shifting traffic: there is a phase for each trace, or fewer where it was cut off or
 * failed.
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

  /** A run that was interrupted after some of its phases. */
  static ShiftRun cutOff(ReplayAllocator allocator, int allPhases, List<ShiftPhase> phases) {
    return new ShiftRun(
        allocator,
        Optional.of(
            String.format(
                Locale.ROOT,
                "%s was interrupted after %d of %d phases",
                allocator.label(),
                phases.size(),
                allPhases)),
        Optional.empty(),
        phases);
  }
}
