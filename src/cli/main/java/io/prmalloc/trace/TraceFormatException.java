package io.prmalloc.trace;

import java.io.Serial;

/**
 * Thrown where a trace file does not follow its format. The message reads {@code file:line: what}
 * or {@code file: entry: what} and is complete by itself.
 *
 * <p>Threading: immutable.
 */
public final class TraceFormatException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final String file;
  private final String place;

  private TraceFormatException(String file, String place, String message) {
    super(message);
    this.file = file;
    this.place = place;
  }

  /**
   * For a file that is wrong as a whole.
   *
   * <p>Threading: any thread.
   */
  public static TraceFormatException ofFile(String file, String what) {
    return new TraceFormatException(file, "", file + ": " + what);
  }

  /**
   * For a line of a file.
   *
   * <p>Threading: any thread.
   *
   * @param line from 1
   */
  static TraceFormatException atLine(String file, long line, String what) {
    return new TraceFormatException(file, Long.toString(line), file + ":" + line + ": " + what);
  }

  /**
   * For an entry of a file that people find by its name rather than by its line.
   *
   * <p>Threading: any thread.
   */
  static TraceFormatException atEntry(String file, String entry, String what) {
    return new TraceFormatException(file, entry, file + ": " + entry + ": " + what);
  }

  /** The file as the user named it. Threading: any thread. */
  public String file() {
    return file;
  }

  /** The line (from 1) or the entry; empty if it is the whole file. Threading: any thread. */
  public String place() {
    return place;
  }
}
