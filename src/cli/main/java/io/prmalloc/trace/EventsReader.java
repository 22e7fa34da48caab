package io.prmalloc.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.regex.Pattern;

/**
 * Reads and writes the {@code events} format: one step, one event per line.
 *
 * <pre>
 * a ID SIZE     tensor ID of SIZE bytes is allocated
 * f ID 0        tensor ID is released
 * </pre>
 *
 * <p>Fields are parted by blanks or tabs; an id is any text without them. Lines end with LF or CR
 * LF, the last one with or without; blank lines mean nothing and are skipped. Everything else is an
 * error of its line. Tensors that the file never releases live to the end of the step.
 *
 * <p>Threading: any thread.
 */
final class EventsReader {

  private static final Pattern BLANKS = Pattern.compile("[ \t]+");
  private static final String SHAPE = "expected `a ID SIZE` or `f ID 0`";

  private EventsReader() {}

  /**
   * Threading: any thread.
   *
   * @param file what errors call the file
   * @param bytes the whole file, in UTF-8
   * @throws TraceFormatException if a line is not of this format or cannot be, or there is none
   */
  static Trace read(String file, byte[] bytes) {
    return read(file, TextLines.Source.of(bytes));
  }

  /** The same, of a text that need not fit into memory. */
  static Trace read(String file, TextLines.Source source) {
    Trace.Builder trace = Trace.builder(file);
    try (TextLines lines = new TextLines(file, source)) {
      while (lines.next()) {
        readLine(file, lines.number(), lines.line(), trace);
      }
    }
    Trace step = trace.build();
    if (step.tensorCount() == 0) {
      throw TraceFormatException.ofFile(file, "holds no events; " + SHAPE);
    }
    return step;
  }

  private static void readLine(String file, long line, String content, Trace.Builder trace) {
    String[] fields = BLANKS.split(content, -1);
    boolean allocate = fields[0].equals("a");
    if (!allocate && !fields[0].equals("f")) {
      throw TraceFormatException.atLine(
          file, line, "starts with `" + shorten(fields[0]) + "`, " + SHAPE);
    }
    if (fields.length != 3) {
      throw TraceFormatException.atLine(
          file, line, "has " + fields.length + " fields instead of 3, " + SHAPE);
    }
    try {
      if (allocate) {
        trace.allocate(fields[1], parseSize(fields[2]));
      } else if (fields[2].equals("0")) {
        trace.release(fields[1]);
      } else {
        throw new IllegalArgumentException(
            "a release ends with `" + shorten(fields[2]) + "` instead of 0");
      }
    } catch (IllegalArgumentException refused) {
      throw TraceFormatException.atLine(file, line, refused.getMessage());
    }
  }

  private static long parseSize(String field) {
    try {
      return Long.parseLong(field);
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException(
          "size `" + shorten(field) + "` is not a whole number of bytes", notANumber);
    }
  }

  /** A field as an error shows it: a binary file's line can be its whole length. */
  static String shorten(String field) {
    String plain = field.replaceAll("\\p{Cntrl}", "?");
    return plain.length() <= 40 ? plain : plain.substring(0, 40) + "…";
  }

  /**
   * The step in this format, the last line ended too.
   *
   * <p>Threading: any thread.
   */
  static String write(Trace trace) {
    StringBuilder text = new StringBuilder(16 * trace.eventCount());
    try {
      write(trace, text);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return text.toString();
  }

  /** The same, to somewhere else. Threading: any thread. */
  static void write(Trace trace, Appendable out) throws IOException {
    for (int i = 0; i < trace.eventCount(); i++) {
      int event = trace.event(i);
      if (event >= 0) {
        out.append("a ").append(trace.id(event)).append(' ');
        out.append(Long.toString(trace.sizeBytes(event)));
      } else {
        out.append("f ").append(trace.id(~event)).append(" 0");
      }
      out.append('\n');
    }
  }
}
