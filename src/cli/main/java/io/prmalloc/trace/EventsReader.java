package io.prmalloc.trace;

import io.prmalloc.model.Counted;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Reads and writes the {@code events} format: one step, one event per line.
 *
 * <pre>
 * a ID SIZE     tensor ID of SIZE bytes is allocated
 * r ID SIZE     tensor ID has SIZE bytes from here on
 * f ID 0        tensor ID is released
 * </pre>
 *
 * <p>Fields are parted by blanks or tabs; an id is any text without them. Lines end with LF or CR
 * LF, the last one with or without; blank lines and comments mean nothing and are skipped. Sizes
 * may be hexadecimal or have a unit, see {@link TextNumbers}. Each line may have a thread as its
 * fourth field, if all have one: the events of all threads are one step, in the order of the file.
 * Everything else is an error of its line. Tensors that the file never releases live to the end of
 * the step. A reallocation releases the old size and then allocates the new one: what a copy needs
 * meanwhile is the allocator's affair.
 *
 * <p>Threading: any thread.
 */
final class EventsReader {

  private static final String SHAPE = "expected `a ID SIZE`, `r ID SIZE` or `f ID 0`";

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
    int width = 0;
    try (TextLines lines = new TextLines(file, source)) {
      while (lines.next()) {
        try {
          width = readLine(lines.line(), width, trace);
        } catch (IllegalArgumentException refused) {
          throw TraceFormatException.atLine(file, lines.number(), refused.getMessage());
        }
      }
    }
    Trace step = trace.build();
    if (step.tensorCount() == 0) {
      throw TraceFormatException.ofFile(file, "holds no events; " + SHAPE);
    }
    return step;
  }

  /** Answers how many fields the line has. */
  private static int readLine(String content, int width, Trace.Builder trace) {
    String[] fields = TextLines.fields(content);
    String kind = fields[0];
    if (!kind.equals("a") && !kind.equals("r") && !kind.equals("f")) {
      throw new IllegalArgumentException("starts with `" + TextTable.shorten(kind) + "`, " + SHAPE);
    }
    if (fields.length != 3 && fields.length != 4) {
      throw new IllegalArgumentException(
          "has "
              + Counted.of(fields.length, "field")
              + " instead of 3, or 4 with a thread, "
              + SHAPE);
    }
    if (width != 0 && fields.length != width) {
      throw new IllegalArgumentException(
          "has " + Counted.of(fields.length, "field") + ", but the lines before it have " + width);
    }
    switch (kind) {
      case "a" -> trace.allocate(fields[1], parseSize(fields[2]));
      case "r" -> trace.release(fields[1]).allocate(fields[1], parseSize(fields[2]));
      default -> {
        if (!fields[2].equals("0")) {
          throw new IllegalArgumentException(
              "a release ends with `" + TextTable.shorten(fields[2]) + "` instead of 0");
        }
        trace.release(fields[1]);
      }
    }
    return fields.length;
  }

  /** A size. Threading: any thread. */
  static long parseSize(String field) {
    try {
      return TextNumbers.bytes(field);
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException(
          "size `" + TextTable.shorten(field) + "` is not a whole number of bytes", notANumber);
    }
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
