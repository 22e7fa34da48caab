package io.prmalloc.recording;

import java.io.Serial;

/**
 * Thrown where a file is no recording, or has impossible content. The message describes the fault
 * and does not name the file.
 *
 * <p>Threading: immutable.
 */
public final class RecordingFormatException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  RecordingFormatException(String what) {
    super(what);
  }
}
