package io.prmalloc.pool;

import io.prmalloc.pool.StepPlan.Recording;

/**
 * What the steps of one kind ask for while they are learnt, and how many in a row asked for the
 * same.
 *
 * <p>Threading: under the lock of the sequence.
 */
final class StepRepeats {

  /** The latest steps that were the same, each tensor as long-lived as in any of them. */
  private Recording recording;

  private int count;
  private int steps;

  /** Forgets all. */
  void begin() {
    recording = null;
    count = 0;
    steps = 0;
  }

  /**
   * Takes in a step.
   *
   * @param step what it asked for, or null if that cannot be planned
   */
  void add(Recording step) {
    steps++;
    if (step == null) {
      count = 0;
    } else if (isOf(step)) {
      recording = recording.longest(step);
      count++;
    } else {
      recording = step;
      count = 1;
    }
  }

  /** Whether the latest steps asked for the same as this one. */
  boolean isOf(Recording step) {
    return recording != null && recording.repeats(step);
  }

  /** What the latest steps asked for, or null. */
  Recording recording() {
    return recording;
  }

  /** How many of the latest steps in a row asked for the same. */
  int count() {
    return count;
  }

  /** How many steps it took in. */
  int steps() {
    return steps;
  }
}
