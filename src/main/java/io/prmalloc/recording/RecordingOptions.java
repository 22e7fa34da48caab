package io.prmalloc.recording;

import io.prmalloc.internal.block.Requests;
import java.time.Duration;

/**
 * How a recording is made. Start from {@link #DEFAULT}.
 *
 * <p>Threading: immutable.
 *
 * @param maxBytes the file never becomes larger, from {@link #MIN_BYTES}; the recording ends before
 * @param bufferedEvents how many events of one thread may wait for the writer, rounded up to a
 *     power of two, from 1 to {@link #MAX_BUFFERED_EVENTS}; half as many where threads take turns.
 *     Each takes 96 bytes of heap: 8 in each of twelve queues
 * @param longestWait how long a thread waits for the writer when that many do; then the recording
 *     ends. Zero for not at all; more than a hundred years are taken for a hundred
 */
public record RecordingOptions(long maxBytes, int bufferedEvents, Duration longestWait) {

  /** The smallest bound of a file in bytes. */
  public static final long MIN_BYTES = 1024;

  /** The most events that may wait. */
  public static final int MAX_BUFFERED_EVENTS = 1 << 24;

  /** 1 GiB, 131,072 events (12 MiB of heap), 100 ms. */
  public static final RecordingOptions DEFAULT =
      new RecordingOptions(1L << 30, 1 << 17, Duration.ofMillis(100));

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException if a value is out of its bounds
   */
  public RecordingOptions {
    if (maxBytes < MIN_BYTES) {
      throw new IllegalArgumentException(
          "maxBytes " + maxBytes + " is less than the least, " + MIN_BYTES);
    }
    if (bufferedEvents < 1 || bufferedEvents > MAX_BUFFERED_EVENTS) {
      throw new IllegalArgumentException(
          "bufferedEvents " + bufferedEvents + " is not from 1 to " + MAX_BUFFERED_EVENTS);
    }
    longestWait = Requests.notNegative("longestWait", longestWait);
  }

  /** These options with another {@link #maxBytes}. Threading: any thread. */
  public RecordingOptions withMaxBytes(long value) {
    return new RecordingOptions(value, bufferedEvents, longestWait);
  }

  /** These options with another {@link #bufferedEvents}. Threading: any thread. */
  public RecordingOptions withBufferedEvents(int value) {
    return new RecordingOptions(maxBytes, value, longestWait);
  }

  /** These options with another {@link #longestWait}. Threading: any thread. */
  public RecordingOptions withLongestWait(Duration value) {
    return new RecordingOptions(maxBytes, bufferedEvents, value);
  }
}
