package io.prmalloc.recording;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * Writes a recording's file frame by frame, never beyond a bound.
 *
 * <p>Threading: one thread at a time; {@link #bytesWritten} and {@link #eventsWritten} any.
 */
final class FrameWriter implements AutoCloseable {

  // A frame goes to the file in one write, with its length and checksum, and is never touched
  // again. So the file is good up to some frame at every moment, whatever happens to the process.
  // Events wait in `frame` until there are enough of them or somebody calls flush().

  /** So much content makes a frame. */
  private static final int FULL_FRAME_BYTES = 32 * 1024;

  private static final int LEAST_FRAME_BYTES = 256;

  /** The most that one event takes: its first byte and two numbers. */
  private static final int MAX_EVENT_BYTES = 21;

  private static final int MAX_END_BYTES = RecordingFormat.FRAME_HEADER_BYTES + 32;

  /** Kind, first tick, count and time. */
  private static final int EVENTS_HEADER_BYTES = 31;

  private final FileChannel channel;
  private final long maxBytes;
  private final long startNanos = System.nanoTime();
  private final int frameBytes;
  private final byte[] events;
  private final ByteBuffer frame;
  private final CRC32C sum = new CRC32C();

  private int length;
  private long firstTick;
  private int count;
  private long lastThread;
  private volatile long bytesWritten;
  private volatile long eventsWritten;

  private FrameWriter(FileChannel channel, long maxBytes) {
    this.channel = channel;
    this.maxBytes = maxBytes;
    this.frameBytes = (int) Math.max(LEAST_FRAME_BYTES, Math.min(FULL_FRAME_BYTES, maxBytes / 16));
    this.events = new byte[frameBytes + MAX_EVENT_BYTES];
    this.frame =
        ByteBuffer.allocate(
                RecordingFormat.FRAME_HEADER_BYTES + EVENTS_HEADER_BYTES + events.length)
            .order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Makes a file and writes its header.
   *
   * @param maxBytes how large it may become, at least {@link RecordingOptions#MIN_BYTES}
   * @throws IOException if there is a file already, or it cannot be written; none is left then
   */
  static FrameWriter create(Path file, long maxBytes) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try {
      FrameWriter writer = new FrameWriter(channel, maxBytes);
      writer.writeHeader();
      return writer;
    } catch (Throwable e) {
      channel.close();
      Files.deleteIfExists(file);
      throw e;
    }
  }

  private void writeHeader() throws IOException {
    byte[] header = new byte[RecordingFormat.HEADER_BYTES];
    ByteBuffer fields = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    fields.put(RecordingFormat.MAGIC);
    fields.putShort(RecordingFormat.VERSION_AT, (short) RecordingFormat.VERSION);
    fields.putShort(RecordingFormat.HEADER_BYTES_AT, (short) RecordingFormat.HEADER_BYTES);
    fields.putLong(RecordingFormat.START_MILLIS_AT, System.currentTimeMillis());
    sum.update(header, 0, RecordingFormat.HEADER_SUM_AT);
    fields.putInt(RecordingFormat.HEADER_SUM_AT, (int) sum.getValue());
    write(fields.rewind());
  }

  /**
   * Adds the next event.
   *
   * @param what kind and alignment, as in {@link EventLane#add}
   * @param value of a release, how many events ago the allocation was
   * @return false, and it is not added, if the file has no room for it
   * @throws IOException if a frame was due and could not be written
   */
  boolean add(int what, long thread, long value) throws IOException {
    if (length >= frameBytes && !flush()) {
      return false;
    }
    boolean sameThread = count > 0 && thread == lastThread;
    int kind = what & RecordingFormat.KIND_MASK;
    // The alignment lies two bits higher in the file, where the mark of the thread is before it.
    int first = kind | (what >>> 2) << RecordingFormat.ALIGNMENT_SHIFT;
    events[length++] = (byte) (sameThread ? first | RecordingFormat.SAME_THREAD : first);
    if (!sameThread) {
      length = putNumber(events, length, thread);
      lastThread = thread;
    }
    length = putNumber(events, length, value);
    count++;
    return true;
  }

  private static int putNumber(byte[] bytes, int at, long number) {
    int next = at;
    long rest = number;
    while ((rest & ~0x7FL) != 0) {
      bytes[next++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[next++] = (byte) rest;
    return next;
  }

  private void putNumber(long number) {
    frame.position(putNumber(frame.array(), frame.position(), number));
  }

  private void begin(int kind) {
    frame.clear().position(RecordingFormat.FRAME_HEADER_BYTES);
    frame.put((byte) kind);
  }

  private void seal() {
    int bytes = frame.position() - RecordingFormat.FRAME_HEADER_BYTES;
    sum.reset();
    sum.update(frame.array(), RecordingFormat.FRAME_HEADER_BYTES, bytes);
    frame.putInt(0, bytes).putInt(4, (int) sum.getValue()).flip();
  }

  /**
   * Writes the events that wait, if there are any.
   *
   * @return false if the file has no room for them; they are forgotten then
   */
  boolean flush() throws IOException {
    if (count == 0) {
      return true;
    }
    begin(RecordingFormat.EVENTS_FRAME);
    putNumber(firstTick);
    putNumber(count);
    putNumber(micros());
    frame.put(events, 0, length);
    seal();
    int added = count;
    count = 0;
    length = 0;
    if (bytesWritten + frame.limit() + MAX_END_BYTES > maxBytes) {
      return false;
    }
    write(frame);
    firstTick += added;
    eventsWritten = firstTick;
    return true;
  }

  /**
   * Writes the last frame. There is always room for it.
   *
   * @param unrecorded how many events were taken in time and not written
   */
  void end(RecordingEnd reason, long unrecorded) throws IOException {
    begin(RecordingFormat.END_FRAME);
    frame.put((byte) reason.number);
    putNumber(eventsWritten);
    putNumber(unrecorded);
    putNumber(micros());
    seal();
    write(frame);
  }

  private long micros() {
    return (System.nanoTime() - startNanos) / 1000;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void write(ByteBuffer bytes) throws IOException {
    int all = bytes.remaining();
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
    bytesWritten += all;
  }

  /** The size of the file. */
  long bytesWritten() {
    return bytesWritten;
  }

  /** How many events were added. */
  long events() {
    return firstTick + count;
  }

  /** How many events are in the file. */
  long eventsWritten() {
    return eventsWritten;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
