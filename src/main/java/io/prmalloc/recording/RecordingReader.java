package io.prmalloc.recording;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Reads a recording event by event, a frame at a time in memory.
 *
 * <p>A file that was cut off (its process was killed, the disk was full) is read up to its last
 * whole frame, which is no error: {@link #next} says that there is no more, and {@link #damage}
 * why. Impossible content of a whole frame with the right checksum is an error.
 *
 * <p>Threading: one thread at a time.
 */
public final class RecordingReader implements AutoCloseable {

  private static final String CUT_OFF = "is cut off";

  private final InputStream in;
  private final Instant startedAt;
  private final CRC32C sum = new CRC32C();

  private long frameAt;
  private byte[] frame = new byte[0];
  private int frameEnd;
  private int at;
  private long eventsLeft;

  private long nextTick;
  private long lastThread;
  private RecordingEnd end;
  private long unrecorded;
  private String damage;

  private EventKind kind;
  private long value;
  private int alignmentShift;
  private long step;

  private final OpenSteps openSteps = new OpenSteps();

  private RecordingReader(InputStream in) throws IOException {
    this.in = in;
    this.startedAt = readHeader();
  }

  /** Whether a file that begins with these bytes is a recording. Threading: any thread. */
  public static boolean isRecording(byte[] start) {
    int length = RecordingFormat.MAGIC.length;
    return start.length >= length
        && Arrays.equals(start, 0, length, RecordingFormat.MAGIC, 0, length);
  }

  /**
   * Opens a file.
   *
   * <p>Threading: any thread.
   *
   * @throws RecordingFormatException if it is no recording or of a version that is not known here
   * @throws UncheckedIOException if it is not there or cannot be read
   */
  public static RecordingReader open(Path file) {
    try {
      return open(new BufferedInputStream(Files.newInputStream(file), 1 << 16));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads from a stream, such as one that unpacks a compressed recording.
   *
   * <p>Threading: any thread.
   *
   * @param in from the start; closed with the reader, or if this throws
   * @throws RecordingFormatException if it is no recording or of a version that is not known here
   * @throws UncheckedIOException if it cannot be read
   */
  public static RecordingReader open(InputStream in) {
    try {
      try {
        return new RecordingReader(in);
      } catch (Throwable e) {
        in.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Instant readHeader() throws IOException {
    byte[] header = in.readNBytes(RecordingFormat.HEADER_BYTES);
    if (!isRecording(header)) {
      throw new RecordingFormatException("is no recording: it does not begin like one");
    }
    if (header.length < RecordingFormat.HEADER_BYTES) {
      throw new RecordingFormatException(
          "has " + header.length + " bytes, less than a header's " + RecordingFormat.HEADER_BYTES);
    }
    ByteBuffer fields = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    int version = Short.toUnsignedInt(fields.getShort(RecordingFormat.VERSION_AT));
    if (version != RecordingFormat.VERSION) {
      throw new RecordingFormatException(
          "is a recording of version " + version + "; known is " + RecordingFormat.VERSION);
    }
    sum.update(header, 0, RecordingFormat.HEADER_SUM_AT);
    if (fields.getInt(RecordingFormat.HEADER_SUM_AT) != (int) sum.getValue()) {
      throw new RecordingFormatException("has a header whose checksum is wrong");
    }
    if (fields.getShort(RecordingFormat.HEADER_BYTES_AT) != RecordingFormat.HEADER_BYTES
        || fields.getInt(RecordingFormat.FLAGS_AT) != 0) {
      throw new RecordingFormatException("has a header that version 1 does not have");
    }
    frameAt = RecordingFormat.HEADER_BYTES;
    return Instant.ofEpochMilli(fields.getLong(RecordingFormat.START_MILLIS_AT));
  }

  /**
   * Goes to the next event.
   *
   * <p>Threading: one thread at a time.
   *
   * @return false if there is none
   * @throws RecordingFormatException if a frame holds what cannot be; the message has its place
   * @throws UncheckedIOException if the file cannot be read
   */
  public boolean next() {
    while (eventsLeft == 0) {
      if (frameEnd != at) {
        throw wrong("has " + (frameEnd - at) + " bytes behind its events");
      }
      if (end != null || damage != null || !readFrame()) {
        return false;
      }
    }
    eventsLeft--;
    readEvent();
    nextTick++;
    return true;
  }

  private boolean readFrame() {
    try {
      frameAt += frameEnd == 0 ? 0 : RecordingFormat.FRAME_HEADER_BYTES + frameEnd;
      at = 0;
      frameEnd = 0;
      byte[] head = in.readNBytes(RecordingFormat.FRAME_HEADER_BYTES);
      if (head.length < RecordingFormat.FRAME_HEADER_BYTES) {
        return damaged(head.length == 0 ? "has no end" : CUT_OFF);
      }
      ByteBuffer fields = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
      int bytes = fields.getInt(0);
      if (bytes < 1 || bytes > RecordingFormat.MAX_FRAME_BYTES) {
        return damaged("has a frame of " + Integer.toUnsignedString(bytes) + " bytes");
      }
      frame = in.readNBytes(bytes);
      if (frame.length < bytes) {
        return damaged(CUT_OFF);
      }
      sum.reset();
      sum.update(frame);
      if ((int) sum.getValue() != fields.getInt(4)) {
        return damaged("has a frame whose checksum is wrong");
      }
      frameEnd = bytes;
      readFrameHead();
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean damaged(String what) {
    damage = what + " at byte " + frameAt;
    return false;
  }

  private void readFrameHead() {
    int frameKind = frame[at++];
    if (frameKind == RecordingFormat.EVENTS_FRAME) {
      readEventsHead();
    } else if (frameKind == RecordingFormat.END_FRAME) {
      readEnd();
    } else {
      // Of a later writer, which may add frames that one may pass over.
      at = frameEnd;
    }
  }

  private void readEventsHead() {
    long firstTick = readNumber();
    if (firstTick != nextTick) {
      throw wrong("begins with tick " + firstTick + " instead of " + nextTick);
    }
    eventsLeft = readNumber();
    readNumber();
    // Each event has a byte at least.
    if (eventsLeft < 1 || eventsLeft > frameEnd - at) {
      throw wrong("says it has " + eventsLeft + " events in " + (frameEnd - at) + " bytes");
    }
    lastThread = -1;
  }

  private void readEnd() {
    RecordingEnd reason = RecordingEnd.of(at < frameEnd ? frame[at++] : -1);
    if (reason == null) {
      throw wrong("gives no reason that is known");
    }
    long events = readNumber();
    unrecorded = readNumber();
    readNumber();
    if (events != nextTick) {
      throw wrong("says there are " + events + " events, but there are " + nextTick);
    }
    end = reason;
  }

  private void readEvent() {
    int first = readByte();
    kind = EventKind.of(first & RecordingFormat.KIND_MASK);
    alignmentShift = first >>> RecordingFormat.ALIGNMENT_SHIFT;
    if (alignmentShift > (kind == EventKind.ALLOCATE ? 30 : 0)) {
      throw wrong("has event " + nextTick + " with an alignment of 2^" + alignmentShift);
    }
    if ((first & RecordingFormat.SAME_THREAD) == 0) {
      lastThread = readNumber();
    }
    if (lastThread < 0) {
      throw wrong("has event " + nextTick + " without a thread");
    }
    value = readNumber();
    if (value < 0 || (kind == EventKind.RELEASE && (value == 0 || value > nextTick))) {
      throw wrong("has event " + nextTick + " with the value " + value);
    }
    followSteps();
  }

  private void followSteps() {
    if (kind == EventKind.OPEN_STEP && !openSteps.open(value, lastThread, nextTick)) {
      throw wrong("opens step " + value + " a second time");
    }
    if (kind == EventKind.CLOSE_STEP) {
      openSteps.close(value);
    }
    boolean ofMemory = kind == EventKind.ALLOCATE || kind == EventKind.RELEASE;
    step = ofMemory ? openSteps.stepOf(lastThread) : value;
  }

  private int readByte() {
    if (at == frameEnd) {
      throw wrong("ends in the middle of an event");
    }
    return frame[at++] & 0xFF;
  }

  private long readNumber() {
    long number = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = readByte();
      number |= (long) (next & 0x7F) << shift;
      if (next < 0x80) {
        return number;
      }
    }
    throw wrong("has a number of more than 64 bits");
  }

  private RecordingFormatException wrong(String what) {
    return new RecordingFormatException("the frame at byte " + frameAt + " " + what);
  }

  /** What the event is. Threading: one thread at a time, after {@link #next} said true. */
  public EventKind kind() {
    return kind;
  }

  /** The number of the event, from 0. Threading: as {@link #kind}. */
  public long tick() {
    return nextTick - 1;
  }

  /** The id of the thread. Threading: as {@link #kind}. */
  public long threadId() {
    return lastThread;
  }

  /** Which allocation, the tick of its event; −1 if it is about a step. Threading: as kind. */
  public long id() {
    return switch (kind) {
      case ALLOCATE -> tick();
      case RELEASE -> tick() - value;
      case OPEN_STEP, CLOSE_STEP -> -1;
    };
  }

  /** Bytes asked for, of an allocation; else 0. Threading: as {@link #kind}. */
  public long sizeBytes() {
    return kind == EventKind.ALLOCATE ? value : 0;
  }

  /** The alignment asked for, of an allocation; else 1. Threading: as {@link #kind}. */
  public long alignment() {
    return 1L << alignmentShift;
  }

  /**
   * Number of the step that is opened or closed, or of the one that the event belongs to: its
   * thread's innermost, else the one opened last, else −1. Threading: as {@link #kind}.
   */
  public long step() {
    return step;
  }

  /** When the recording began. Threading: any thread. */
  public Instant startedAt() {
    return startedAt;
  }

  /**
   * Why the recording ended; empty if the file has no end. Threading: as {@link #kind}, after
   * {@link #next} said false.
   */
  public Optional<RecordingEnd> end() {
    return Optional.ofNullable(end);
  }

  /** How many events the recorder had taken and not written. Threading: as {@link #end}. */
  public long unrecordedEvents() {
    return unrecorded;
  }

  /** Why the file is read no further although it has no end. Threading: as {@link #end}. */
  public Optional<String> damage() {
    return Optional.ofNullable(damage);
  }

  @Override
  public void close() {
    try {
      in.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
