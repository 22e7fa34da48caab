package io.prmalloc.recording;

/** Why a recording ended. Threading: immutable. */
public enum RecordingEnd {
  /** Somebody closed it, or its allocator. */
  CLOSED(0),
  /** The file has reached its bound. */
  FULL(1),
  /** The writer fell behind, and a thread had waited for it for as long as threads may. */
  BEHIND(2),
  /** The file could not be written. Such a file has no end of its own. */
  FAILED(3);

  private static final RecordingEnd[] BY_NUMBER = values();

  /** As files have it. */
  final int number;

  RecordingEnd(int number) {
    this.number = number;
  }

  /** Null if there is none with this number. */
  static RecordingEnd of(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
  }
}
