package io.prmalloc.recording;

/** Numbers of the file format; {@code docs/recording.md} has the whole. Threading: stateless. */
final class RecordingFormat {

  /** What every file begins with: no text, and damaged by whatever converts line ends. */
  static final byte[] MAGIC = {(byte) 0x89, 'P', 'R', 'M', 'R', '\r', 0x1A, '\n'};

  static final int VERSION = 1;

  static final int HEADER_BYTES = 32;
  static final int VERSION_AT = 8;
  static final int HEADER_BYTES_AT = 10;
  static final int FLAGS_AT = 12;
  static final int START_MILLIS_AT = 16;
  static final int HEADER_SUM_AT = 28;

  /** Length and checksum in front of each frame's content. */
  static final int FRAME_HEADER_BYTES = 8;

  /** The most content a frame has. */
  static final int MAX_FRAME_BYTES = 1 << 20;

  static final int EVENTS_FRAME = 1;
  static final int END_FRAME = 2;

  /** As much of a thread's id is kept. */
  static final long THREAD_MASK = (1L << 40) - 1;

  // The first byte of an event.
  static final int KIND_MASK = 3;
  static final int SAME_THREAD = 4;
  static final int ALIGNMENT_SHIFT = 3;

  private RecordingFormat() {}
}
