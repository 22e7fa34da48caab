package io.prmalloc.internal.block;

import io.prmalloc.lifetime.MemoryPlanner.Tracked;

/**
 * The observers that were told of an allocation, and are to be told of its release.
 *
 * <p>Threading: the thread that has the block alone.
 */
public final class Observation {

  // One for each block of the pool that was ever observed, used again and again: no garbage.
  // Observers may be attached and detached at any time; exactly those that were told of an
  // allocation are told of its release.
  //
  // Mostly there is one, whose ticket is kept in a field. The list of those that were told is
  // stored only when it changes: the garbage collector makes stores of references the most
  // expensive ones.

  private static final PoolObserver[] NOBODY = {};
  private static final long[] NONE = {};

  private final Tracked tracked;
  private PoolObserver[] told = NOBODY;
  private PoolObserver first;
  private long firstTicket;
  private long[] furtherTickets = NONE;

  /**
   * @param tracked what the planner is told when the memory is freed, or null
   */
  public Observation(Tracked tracked) {
    this.tracked = tracked;
  }

  public Tracked tracked() {
    return tracked;
  }

  /**
   * Tells of the allocation.
   *
   * @param observers at least one
   */
  public void begin(PoolObserver[] observers, long bytes, long alignment) {
    // Made before any observer is told: it takes heap, which may be exhausted.
    if (observers.length > 1 && furtherTickets.length != observers.length) {
      furtherTickets = new long[observers.length];
    }
    if (told != observers) {
      told = observers;
      first = observers[0];
    }
    firstTicket = observers[0].allocated(bytes, alignment);
    if (observers.length > 1) {
      tellOthers(observers, bytes, alignment);
    }
  }

  private void tellOthers(PoolObserver[] observers, long bytes, long alignment) {
    for (int i = 1; i < observers.length; i++) {
      furtherTickets[i] = observers[i].allocated(bytes, alignment);
    }
  }

  /** Tells of the release, if an observer was told of the allocation. */
  public void end() {
    PoolObserver observer = first;
    if (observer != null) {
      observer.released(firstTicket);
      if (told.length > 1) {
        tellOthersOfEnd();
      }
    }
  }

  private void tellOthersOfEnd() {
    PoolObserver[] observers = told;
    for (int i = 1; i < observers.length; i++) {
      observers[i].released(furtherTickets[i]);
    }
  }
}
