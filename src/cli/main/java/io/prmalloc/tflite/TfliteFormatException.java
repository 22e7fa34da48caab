package io.prmalloc.tflite;

import java.io.Serial;

/**
 * Thrown where a file is no model of TensorFlow Lite, or describes no graph. The message reads
 * {@code file: place: what} and is complete by itself.
 *
 * <p>Threading: immutable.
 */
public final class TfliteFormatException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final String file;
  private final String place;
  private final String what;

  TfliteFormatException(String file, String place, String what) {
    super(file + ": " + (place.isEmpty() ? "" : place + ": ") + what);
    this.file = file;
    this.place = place;
    this.what = what;
  }

  /** The file as the user named it. Threading: any thread. */
  public String file() {
    return file;
  }

  /**
   * Where in the file, in the schema's words: {@code subgraphs[0].tensors[3].shape}; empty if it is
   * the whole file.
   *
   * <p>Threading: any thread.
   */
  public String place() {
    return place;
  }

  /** What is wrong there. Threading: any thread. */
  public String what() {
    return what;
  }
}
