package io.prmalloc.recording;

/** The kinds of recorded events. Threading: immutable. */
public enum EventKind {
  /** Memory went out. */
  ALLOCATE(0),
  /** Memory came back. */
  RELEASE(1),
  /** A step was opened. */
  OPEN_STEP(2),
  /** A step was closed. */
  CLOSE_STEP(3);

  private static final EventKind[] BY_NUMBER = values();

  /** As files have it. */
  final int number;

  EventKind(int number) {
    this.number = number;
  }

  static EventKind of(int number) {
    return BY_NUMBER[number];
  }
}
