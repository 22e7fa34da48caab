package io.prmalloc.recording;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A recording that is being made. It ends when it is closed, when its allocator is, or for one of
 * the reasons in {@link RecordingEnd}; the allocator goes on in every case.
 *
 * <p>Threading: any thread.
 */
public interface Recording extends AutoCloseable {

  /** The file. Threading: any thread. */
  Path file();

  /** How many events were handed over to be written so far. Threading: any thread. */
  long events();

  /**
   * How many events came too late to be written: after the end, of what was taken before it, or
   * given up when the writer was behind. Threading: any thread.
   */
  long unrecordedEvents();

  /** How many bytes the file has so far. Threading: any thread. */
  long bytesWritten();

  /**
   * Why it ended; empty while it goes on. Once there is an answer the file is written to its end
   * and closed. Threading: any thread.
   */
  Optional<RecordingEnd> end();

  /**
   * Ends the recording and waits until everything is written. A second time it does nothing.
   *
   * <p>Threading: any thread. If the calling thread is interrupted it does not wait, and stays
   * interrupted; the file is finished all the same.
   */
  @Override
  void close();
}
