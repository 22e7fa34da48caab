package io.prmalloc.trace;

import io.prmalloc.plan.ShapedUsageRecord;
import io.prmalloc.plan.TensorShape;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the formats {@code lifetimes} and {@code records}: a table of tensors with their lives.
 *
 * <pre>
 * id,lower,upper,size     alive in [lower, upper): upper is the first task without it
 * id,size,first,last      alive from first to last, both included; a size may be a shape: 2x8
 * </pre>
 *
 * <p>The header is needed. Columns are found by name, further ones are kept and not looked at; rows
 * may come in any order; blank lines, comments and empty rows are skipped. Sizes may be hexadecimal
 * or have a unit, see {@link TextNumbers}. Everything else is an error of its line.
 *
 * <p>Threading: one thread at a time.
 */
final class LivesReader {

  static final List<String> LIFETIMES_COLUMNS = List.of("id", "lower", "upper", "size");
  static final List<String> RECORDS_COLUMNS = List.of("id", "size", "first", "last");

  private final String file;
  private final List<String> needed;
  private final boolean halfOpen;
  private final List<String> ids = new ArrayList<>();
  private final List<TensorUsageRecord> records = new ArrayList<>();
  private final List<ShapedUsageRecord> shapedRecords = new ArrayList<>();
  private final Set<String> seen = new HashSet<>();
  private final Map<String, Integer> columns = new HashMap<>();
  private CsvTable table;
  private long sum;

  private LivesReader(String file, List<String> needed) {
    this.file = file;
    this.needed = needed;
    this.halfOpen = needed.equals(LIFETIMES_COLUMNS);
  }

  /** Whether a line is the header of these columns. */
  static boolean isHeader(String line, List<String> needed) {
    try {
      return CsvTable.of("", line, null).columns().containsAll(needed);
    } catch (IllegalArgumentException noTable) {
      return false;
    }
  }

  /**
   * Threading: any thread.
   *
   * @param file what errors call the file
   * @param bytes the whole file, in UTF-8
   * @param needed the columns of the format
   * @throws TraceFormatException if a line is not of this format or cannot be
   */
  static TensorLifetimes read(String file, byte[] bytes, List<String> needed) {
    return read(file, TextLines.Source.of(bytes), needed);
  }

  /** The same, of a text that need not fit into memory, and is read again if it is written. */
  static TensorLifetimes read(String file, TextLines.Source source, List<String> needed) {
    LivesReader reader = new LivesReader(file, needed);
    try (TextLines lines = TextLines.ofTable(file, source)) {
      while (lines.next()) {
        try {
          reader.readLine(lines.line(), source);
        } catch (IllegalArgumentException refused) {
          throw TraceFormatException.atLine(file, lines.number(), refused.getMessage());
        }
      }
    }
    return reader.finish();
  }

  private TensorLifetimes finish() {
    if (table == null) {
      throw TraceFormatException.ofFile(file, "is empty; " + expected());
    }
    if (ids.isEmpty()) {
      throw TraceFormatException.ofFile(file, "holds no tensor behind its header");
    }
    return new TensorLifetimes(file, ids, records, shapedRecords, table);
  }

  private String expected() {
    return "expected the header `" + String.join(",", needed) + "`";
  }

  private void readLine(String content, TextLines.Source source) {
    if (table == null) {
      CsvTable read = CsvTable.of(file, content, source);
      readHeader(content, read.columns());
      table = read;
      return;
    }
    List<String> cells = table.cells(content);
    if (cells.isEmpty()) {
      return;
    }
    if (cells.size() != table.header().size()) {
      throw new IllegalArgumentException(
          "has " + cells.size() + " fields, but the header has " + table.header().size());
    }
    String id = cell(cells, "id");
    if (id.isEmpty()) {
      throw new IllegalArgumentException("the id is empty");
    }
    if (!seen.add(id)) {
      throw new IllegalArgumentException("tensor " + EventsReader.shorten(id) + " comes again");
    }
    readTensor(cells);
    ids.add(id);
  }

  private void readHeader(String content, List<String> cells) {
    for (String column : needed) {
      if (!cells.contains(column)) {
        throw new IllegalArgumentException(
            "`"
                + EventsReader.shorten(content)
                + "` has no column `"
                + column
                + "`; "
                + expected());
      }
    }
    for (int i = 0; i < cells.size(); i++) {
      if (columns.put(cells.get(i), i) != null) {
        throw new IllegalArgumentException("column `" + cells.get(i) + "` comes twice");
      }
    }
  }

  private void readTensor(List<String> cells) {
    long first = number(cells, halfOpen ? "lower" : "first");
    long last = number(cells, halfOpen ? "upper" : "last");
    if (halfOpen) {
      if (last <= first) {
        throw new IllegalArgumentException("lower " + first + " is not less than upper " + last);
      }
      last--;
    }
    TensorUsageRecord record;
    if (isShape(cell(cells, "size"))) {
      TensorShape shape = shape(cell(cells, "size"));
      checkDimensions(shape.dimensions().size());
      ShapedUsageRecord shaped = new ShapedUsageRecord(shape, first, last);
      shapedRecords.add(shaped);
      record = shaped.flat();
    } else {
      checkDimensions(1);
      record = new TensorUsageRecord(size(cell(cells, "size")), first, last);
    }
    if (sum > Long.MAX_VALUE - record.sizeBytes()) {
      throw new IllegalArgumentException(
          "size " + record.sizeBytes() + " takes the sum of all sizes over 2^63 - 1");
    }
    sum += record.sizeBytes();
    records.add(record);
  }

  /** Among shapes {@code 0x8} is one, too; elsewhere it is hexadecimal. */
  private boolean isShape(String size) {
    return !halfOpen
        && size.indexOf('x') >= 0
        && !(shapedRecords.isEmpty() && TextNumbers.isHexadecimal(size));
  }

  private void checkDimensions(int dimensions) {
    if (records.isEmpty()) {
      return;
    }
    int before = shapedRecords.isEmpty() ? 1 : shapedRecords.get(0).shape().dimensions().size();
    if (dimensions != before) {
      throw new IllegalArgumentException(
          "the size has " + dimensions + " dimensions, but those before it have " + before);
    }
  }

  private String cell(List<String> cells, String column) {
    return cells.get(columns.get(column));
  }

  private long number(List<String> cells, String column) {
    return number(column, cell(cells, column));
  }

  private static long number(String what, String text) {
    try {
      return TextNumbers.whole(text);
    } catch (NumberFormatException notANumber) {
      throw wrongNumber(what, text, notANumber);
    }
  }

  private static long size(String text) {
    try {
      return TextNumbers.bytes(text);
    } catch (NumberFormatException notANumber) {
      throw wrongNumber("size", text, notANumber);
    }
  }

  private static IllegalArgumentException wrongNumber(
      String what, String text, NumberFormatException why) {
    return new IllegalArgumentException(
        what + " `" + EventsReader.shorten(text) + "` is not a whole number that fits 64 bits",
        why);
  }

  private static long dimension(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException notANumber) {
      throw wrongNumber("dimension", text, notANumber);
    }
  }

  private static TensorShape shape(String text) {
    List<Long> dimensions = new ArrayList<>();
    for (String dimension : text.split("x", -1)) {
      dimensions.add(dimension(dimension));
    }
    return new TensorShape(dimensions);
  }
}
