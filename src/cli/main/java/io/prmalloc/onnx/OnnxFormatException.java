package io.prmalloc.onnx;

import java.io.Serial;

/**
 * A file is no ONNX model, or describes no graph. The message reads {@code file: place: what} and
 * is complete by itself.
 *
 * <p>Threading: immutable.
 */
public final class OnnxFormatException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private static final int LONGEST = 100;

  private final String file;
  private final String place;
  private final String what;

  OnnxFormatException(String file, String place, String what) {
    super(file + ": " + (place.isEmpty() ? "" : place + ": ") + what);
    this.file = file;
    this.place = place;
    this.what = what;
  }

  /** A name out of a file, as messages have it: on one line, and not too long. */
  static String quote(String name) {
    String line = name.replaceAll("\\p{Cntrl}", "?");
    return "`" + (line.length() > LONGEST ? line.substring(0, LONGEST) + "…" : line) + "`";
  }

  /** The file as the user named it. Threading: any thread. */
  public String file() {
    return file;
  }

  /**
   * Where in the file, in the format's words: {@code graph.node[3].input[1]}; empty if it is the
   * whole file.
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
