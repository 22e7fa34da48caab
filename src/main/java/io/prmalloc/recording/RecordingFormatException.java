package io.prmalloc.recording;

import java.io.Serial;

/**
 * A file is no recording, or its content cannot be. The message is about the file and does not name
 * it.
 *
 * <p>Threading: immutable.
 */
public final class RecordingFormatException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  RecordingFormatException(String what) {
    super(what);
  }
}
