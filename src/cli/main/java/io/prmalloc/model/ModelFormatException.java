package io.prmalloc.model;

import java.io.Serial;

/**
 * Thrown where a file is no model of its format, or describes no graph. The message reads {@code
 * file: place: what} and is complete by itself.
 *
 * <p>Threading: immutable.
 */
public final class ModelFormatException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private static final int LONGEST_NAME = 100;

  private final String file;
  private final String place;
  private final String what;

  /**
   * Threading: any thread.
   *
   * @param file as the user named it
   * @param place where in the file, in the format's words; empty if it is the whole file
   * @param what is wrong there
   */
  public ModelFormatException(String file, String place, String what) {
    super(file + ": " + (place.isEmpty() ? "" : place + ": ") + what);
    this.file = file;
    this.place = place;
    this.what = what;
  }

  /**
   * A name from a file for a message: on one line, at most 100 characters. Threading: any thread.
   */
  public static String quote(String name) {
    String line = name.replaceAll("\\p{Cntrl}", "?");
    return "`"
        + (line.length() > LONGEST_NAME ? line.substring(0, LONGEST_NAME) + "…" : line)
        + "`";
  }

  /** The file as the user named it. Threading: any thread. */
  public String file() {
    return file;
  }

  /**
   * Where in the file, in the format's words: {@code subgraphs[0].tensors[3].shape}, {@code
   * graph.node[3].input[1]}; empty if it is the whole file.
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
