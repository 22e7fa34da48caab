package io.prmalloc.trace;

import io.prmalloc.model.Counted;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads the {@code malloc} format: what the malloc lab of "Computer Systems: A Programmer's
 * Perspective" (Bryant and O'Hallaron) has in its {@code .rep} files.
 *
 * <pre>
 * 20000         the size of the heap, or the weight
 * 3             how many ids there are: they are below this
 * 8             how many requests there are
 * 1             the weight, or what is ignored
 * a ID SIZE     malloc
 * r ID SIZE     realloc; malloc if there was no ID before
 * f ID          free; ID -1 is a null pointer
 * </pre>
 *
 * <p>The first and the last number of the header mean nothing here; the other two are checked.
 * Blank lines and comments are skipped. What is never freed lives to the end. A reallocation
 * releases the old size and then allocates the new one: what a copy needs meanwhile is the
 * allocator's affair.
 *
 * <p>Threading: one thread at a time.
 */
final class MallocTraceReader {

  private static final int HEADER_LINES = 4;
  private static final Pattern NUMBER = Pattern.compile("[0-9]+");
  private static final String NULL_POINTER = "-1";
  private static final String SHAPE = "expected `a ID SIZE`, `r ID SIZE` or `f ID`";

  private final long[] header = new long[HEADER_LINES];
  private int headerLines;
  private long requests;
  private final Trace.Builder trace;
  private final Set<String> freed = new HashSet<>();

  private MallocTraceReader(String file) {
    trace = Trace.builder(file);
  }

  /** Whether a line is the first of such a file: a number and nothing else. */
  static boolean isHeader(String line) {
    return NUMBER.matcher(line).matches();
  }

  /**
   * Threading: any thread.
   *
   * @param file what errors call the file
   * @throws TraceFormatException if a line is not of this format or cannot be, or there are fewer
   *     or more requests than the header says, or none that allocates
   */
  static Trace read(String file, TextLines.Source source) {
    MallocTraceReader reader = new MallocTraceReader(file);
    try (TextLines lines = new TextLines(file, source)) {
      while (lines.next()) {
        try {
          reader.readLine(lines.line());
        } catch (IllegalArgumentException refused) {
          throw TraceFormatException.atLine(file, lines.number(), refused.getMessage());
        }
      }
    }
    if (reader.requests != reader.header[2]) {
      throw TraceFormatException.ofFile(
          file,
          "has "
              + Counted.of(reader.requests, "request")
              + ", but its header says "
              + reader.header[2]);
    }
    Trace read = reader.trace.build();
    if (read.tensorCount() == 0) {
      throw TraceFormatException.ofFile(file, "holds no allocation");
    }
    return read;
  }

  private void readLine(String content) {
    if (headerLines < HEADER_LINES) {
      if (!isHeader(content)) {
        throw new IllegalArgumentException(
            "`"
                + TextTable.shorten(content)
                + "` is no number; the header has "
                + HEADER_LINES
                + " lines with one each");
      }
      header[headerLines++] = number("number", content);
      return;
    }
    String[] fields = TextLines.fields(content);
    boolean free = fields[0].equals("f");
    if (!free && !fields[0].equals("a") && !fields[0].equals("r")) {
      throw new IllegalArgumentException(
          "starts with `" + TextTable.shorten(fields[0]) + "`, " + SHAPE);
    }
    if (fields.length != (free ? 2 : 3)) {
      throw new IllegalArgumentException(
          "has " + Counted.of(fields.length, "field") + ", " + SHAPE);
    }
    requests++;
    if (requests > header[2]) {
      throw new IllegalArgumentException(
          "is request " + requests + ", but the header says there are " + header[2]);
    }
    if (free && fields[1].equals(NULL_POINTER)) {
      return;
    }
    long id = number("id", fields[1]);
    if (id < 0 || id >= header[1]) {
      throw new IllegalArgumentException(
          "id " + id + " is not from 0 to " + (header[1] - 1) + ", as the header says");
    }
    request(fields[0], Long.toString(id), free ? 0 : EventsReader.parseSize(fields[2]));
  }

  private void request(String kind, String id, long bytes) {
    if (kind.equals("f")) {
      trace.release(id);
      freed.add(id);
      return;
    }
    if (kind.equals("r") && trace.isLive(id)) {
      trace.release(id);
    } else if (kind.equals("r") && freed.contains(id)) {
      throw new IllegalArgumentException("tensor " + id + " is reallocated after its release");
    }
    trace.allocate(id, bytes);
    freed.remove(id);
  }

  private static long number(String what, String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException(
          what + " `" + TextTable.shorten(text) + "` is not a whole number that fits 64 bits",
          notANumber);
    }
  }
}
