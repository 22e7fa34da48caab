package io.prmalloc.trace.replay.lane;

import io.prmalloc.trace.Trace;

/**
 * A lane on which a thread waits for the others once in each step: when it has the most bytes. So
 * all threads have theirs at the same time, in every step, however few processors there are.
 *
 * <p>Threading: as {@link Lane}.
 */
public final class MeetingLane implements Lane {

  private final Lane behind;
  private final Runnable meeting;
  private int meetingAt;
  private int allocations;

  /**
   * @param meeting waits for the others
   */
  public MeetingLane(Lane behind, Runnable meeting) {
    this.behind = behind;
    this.meeting = meeting;
  }

  /** After how many allocations of a step the most bytes are out; 0 of an empty step. */
  public static int peak(Trace trace) {
    long[] sizes = trace.sizesBytes();
    long load = 0;
    long most = -1;
    int allocations = 0;
    int peak = 0;
    for (int event : trace.events()) {
      if (event < 0) {
        load -= sizes[~event];
        continue;
      }
      load += sizes[event];
      allocations++;
      if (load > most) {
        most = load;
        peak = allocations;
      }
    }
    return peak;
  }

  /** The steps to come have their {@link #peak} here. */
  public void meetAt(int allocation) {
    meetingAt = allocation;
  }

  @Override
  public void openStep() {
    allocations = 0;
    behind.openStep();
    if (meetingAt == 0) {
      meeting.run();
    }
  }

  @Override
  public void closeStep() {
    behind.closeStep();
  }

  @Override
  public void allocate(int tensor, long bytes) {
    behind.allocate(tensor, bytes);
    if (++allocations == meetingAt) {
      meeting.run();
    }
  }

  @Override
  public void release(int tensor) {
    behind.release(tensor);
  }

  @Override
  public void write(int tensor, long bytes, long stride, long value) {
    behind.write(tensor, bytes, stride, value);
  }

  @Override
  public void fill(int tensor, long bytes, long seed) {
    behind.fill(tensor, bytes, seed);
  }

  @Override
  public long mismatch(int tensor, long bytes, long seed) {
    return behind.mismatch(tensor, bytes, seed);
  }

  @Override
  public byte byteAt(int tensor, long offset) {
    return behind.byteAt(tensor, offset);
  }

  @Override
  public void abandon() {
    behind.abandon();
  }
}
