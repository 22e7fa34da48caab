package io.prmalloc.trace.replay;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.PoolCensus;
import io.prmalloc.trace.replay.lane.PoolTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Keeps count of a phase, step by step, and says when it is over.
 *
 * <p>Threading: one thread at a time, each after the other, unless a method says otherwise.
 */
final class ShiftTally {

  // The rate of one step says little: a step may have five requests. So hits are back when the
  // steps that follow have a good rate together.

  private static final int STRETCH = 100;

  /** Fewer steps than this at the end of a phase prove nothing. */
  private static final int MIN_STRETCH = 20;

  /** A phase goes on for so many idle times after the last bad step: then memory should be back. */
  private static final int IDLE_TIMES = 5;

  /** If it is not, it is waited for so many idle times, for the machine may be busy. */
  private static final int MAX_IDLE_TIMES = 40;

  private static final double BACK = 1.1;

  private final PoolTarget target;
  private final int steps;
  private final long idleNanos;
  private final List<ShiftPhase> phases = new CopyOnWriteArrayList<>();

  private final List<PoolCensus> census = new ArrayList<>();
  private long begin;

  /**
   * @param steps a phase has so many steps at least
   * @param idleNanos the idle time of the pool; a phase lasts several of them
   */
  ShiftTally(PoolTarget target, int steps, long idleNanos) {
    this.target = target;
    this.steps = steps;
    this.idleNanos = idleNanos;
  }

  /** A phase begins. */
  void begin() {
    target.clearPeak();
    census.clear();
    census.add(target.census());
    begin = System.nanoTime();
  }

  /**
   * Every thread has done a step; whether the phase is over.
   *
   * @param freshBytes what a new pool reserves for the trace
   */
  boolean stepped(long freshBytes) {
    census.add(target.census());
    int end = census.size() - 1;
    if (end <= steps && 100 * missed(end - 1, end) > requested(end - 1, end)) {
      begin = System.nanoTime();
    }
    long idleTimes = idleNanos == 0 ? MAX_IDLE_TIMES : (System.nanoTime() - begin) / idleNanos;
    boolean back = census.get(end).reservedBytes() <= BACK * freshBytes;
    return end >= steps && idleTimes >= (back ? IDLE_TIMES : MAX_IDLE_TIMES);
  }

  /** The phase is over. */
  void end(Trace trace, long freshBytes) {
    PoolCensus first = census.get(0);
    PoolCensus last = census.get(census.size() - 1);
    phases.add(
        new ShiftPhase(
            trace.name(),
            census.size() - 1,
            stepsToHits(),
            last.requests() - first.requests(),
            last.misses() - first.misses(),
            last.replans() - first.replans(),
            last.departedSteps() - first.departedSteps(),
            first.reservedBytes(),
            last.peakBytes(),
            last.reservedBytes(),
            freshBytes));
  }

  private OptionalInt stepsToHits() {
    int end = census.size() - 1;
    for (int step = 0; step + Math.min(end, MIN_STRETCH) <= end; step++) {
      int to = Math.min(end, step + STRETCH);
      if (100 * missed(step, to) <= requested(step, to)) {
        return OptionalInt.of(step);
      }
    }
    return OptionalInt.empty();
  }

  private long missed(int from, int to) {
    return census.get(to).misses() - census.get(from).misses();
  }

  private long requested(int from, int to) {
    return census.get(to).requests() - census.get(from).requests();
  }

  /** Those that are over by now. Threading: any thread. */
  List<ShiftPhase> phases() {
    return List.copyOf(phases);
  }
}
