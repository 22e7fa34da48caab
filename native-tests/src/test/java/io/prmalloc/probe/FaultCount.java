package io.prmalloc.probe;

import java.util.Arrays;

/**
 * Page faults of this thread, step by step.
 *
 * <p>Threading: immutable.
 */
final class FaultCount {

  // The first steps load classes, are interpreted, and touch the memory for the first time.
  private static final int SETTLING_STEPS = 10;

  private final long[] minor;
  private final long[] major;

  private FaultCount(int steps) {
    minor = new long[steps];
    major = new long[steps];
  }

  /** Runs a step over and over, first some times without looking, then counting. */
  static FaultCount of(int steps, Runnable step) {
    return of(SETTLING_STEPS, steps, step);
  }

  /** As above, for steps of which each takes long: so many times without looking. */
  static FaultCount of(int settlingSteps, int steps, Runnable step) {
    FaultCount count = new FaultCount(steps);
    for (int i = 0; i < settlingSteps; i++) {
      count.run(step, 0);
    }
    for (int i = 0; i < steps; i++) {
      count.run(step, i);
    }
    return count;
  }

  private void run(Runnable step, int slot) {
    long minorBefore = Probe.probe_minor_faults();
    long majorBefore = Probe.probe_major_faults();
    step.run();
    minor[slot] = Probe.probe_minor_faults() - minorBefore;
    major[slot] = Probe.probe_major_faults() - majorBefore;
  }

  int steps() {
    return minor.length;
  }

  /** Faults without reading from a disk. */
  long medianMinor() {
    return median(minor);
  }

  /** Faults that read from a disk. */
  long medianMajor() {
    return median(major);
  }

  private static long median(long[] values) {
    long[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  int stepsWithFaults() {
    int steps = 0;
    for (int i = 0; i < minor.length; i++) {
      steps += minor[i] + major[i] > 0 ? 1 : 0;
    }
    return steps;
  }

  @Override
  public String toString() {
    return "minor faults by step " + Arrays.toString(minor) + ", major " + Arrays.toString(major);
  }
}
