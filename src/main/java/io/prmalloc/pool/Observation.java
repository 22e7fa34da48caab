package io.prmalloc.pool;

import io.prmalloc.lifetime.MemoryPlanner.Tracked;

/**
 * Who was told of an allocation, and so is to be told of its release.
 *
 * <p>Threading: whoever has the block alone.
 */
final class Observation {

  // One for each block of the pool that was ever observed, used again and again: no garbage.
  // Observers come and go; those who heard of an allocation hear of its release, and nobody else.

  private static final PoolObserver[] NOBODY = {};

  private final Tracked tracked;
  private PoolObserver[] told = NOBODY;
  private long[] tickets = new long[1];

  /**
   * @param tracked what the planner is to be told when the memory is back, or null
   */
  Observation(Tracked tracked) {
    this.tracked = tracked;
  }

  Tracked tracked() {
    return tracked;
  }

  /** Tells of the allocation. */
  void begin(PoolObserver[] observers, long bytes, long alignment) {
    if (tickets.length < observers.length) {
      tickets = new long[observers.length];
    }
    for (int i = 0; i < observers.length; i++) {
      tickets[i] = observers[i].allocated(bytes, alignment);
    }
    told = observers;
  }

  /** Tells of the release. */
  void end() {
    PoolObserver[] observers = told;
    told = NOBODY;
    for (int i = 0; i < observers.length; i++) {
      observers[i].released(tickets[i]);
    }
  }
}
