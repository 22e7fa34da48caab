package io.prmalloc.trace;

import io.prmalloc.model.Counted;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.ShapedUsageRecord;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorShape;
import io.prmalloc.plan.TensorUsageRecord;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Reads the formats {@code lifetimes} and {@code records}: a table of tensors with their lives.
 *
 * <pre>
 * id,lower,upper,size     alive in [lower, upper): upper is the first task without it
 * id,size,first,last      alive from first to last, both included; a size may be a shape: 2x8
 * </pre>
 *
 * <p>The header is needed. Columns are found by name. {@code start} and {@code begin} are other
 * names of {@code lower}, {@code buffer} and {@code buffer_id} of {@code id}; {@code end} in place
 * of {@code upper} is the last task, included. Constraints may stand in further columns:
 *
 * <pre>
 * alignment    what the offset is a multiple of; empty: 1
 * offset       where the tensor must lie; empty or -1: anywhere
 * hint         where it lies if a planner finds that possible without a larger plan; empty or -1:
 *              nowhere in particular
 * gaps         times without use, parted by blanks: 2-8, or 2-8@0:4 if bytes [0, 4) stay in use;
 *              the second time is included where the end of a life is
 * uses         how many times a task reads or writes it
 * memory       the name of the one of two memories in which it must lie; empty: either
 * </pre>
 *
 * <p>All others are kept and not looked at; rows may come in any order; blank lines, comments and
 * empty rows are skipped. Sizes may be hexadecimal or have a unit, see {@link TextNumbers}.
 * Everything else is an error of its line.
 *
 * <p>Threading: one thread at a time.
 */
final class LivesReader {

  static final List<String> LIFETIMES_COLUMNS = List.of("id", "lower", "upper", "size");
  static final List<String> RECORDS_COLUMNS = List.of("id", "size", "first", "last");

  /** Those that have a meaning and need not be there. */
  static final List<String> FURTHER_COLUMNS =
      List.of("alignment", "offset", "hint", "gaps", "uses", "memory");

  private static final List<String> CONSTRAINT_COLUMNS =
      List.of("alignment", "offset", "gaps", "memory");
  private static final String END = "end";
  private static final Pattern GAP = Pattern.compile("(\\w+)-(\\w+)(?:@(\\w+):(\\w+))?");

  private final String file;
  private final List<String> needed;
  private final boolean halfOpen;
  private final List<String> ids = new ArrayList<>();
  private final List<TensorUsageRecord> records = new ArrayList<>();
  private final List<ShapedUsageRecord> shapedRecords = new ArrayList<>();
  private final Set<String> seen = new HashSet<>();
  private final Map<String, Integer> columns = new HashMap<>();
  private final List<Integer> fixed = new ArrayList<>();
  private final Map<Integer, Long> fixedLines = new HashMap<>();
  private final List<Long> uses = new ArrayList<>();
  private final List<String> memories = new ArrayList<>();
  private boolean endIncluded;
  private CsvTable table;
  private long sum;
  private long usesSum;

  private LivesReader(String file, List<String> needed) {
    this.file = file;
    this.needed = needed;
    this.halfOpen = needed.equals(LIFETIMES_COLUMNS);
    endIncluded = !halfOpen;
  }

  /** Whether a line is the header of these columns. */
  static boolean isHeader(String line, List<String> needed) {
    try {
      return names(CsvTable.of("", line, null), needed).containsAll(needed);
    } catch (IllegalArgumentException noTable) {
      return false;
    }
  }

  /** The names of the columns, each by what it means. */
  private static List<String> names(CsvTable table, List<String> needed) {
    return table.columns().stream().map(name -> meaning(name, needed)).toList();
  }

  private static String meaning(String name, List<String> needed) {
    boolean isLifetimes = needed.equals(LIFETIMES_COLUMNS);
    return switch (name) {
      case "buffer", "buffer_id" -> "id";
      case "start", "begin" -> isLifetimes ? "lower" : name;
      case END -> isLifetimes ? "upper" : name;
      default -> name;
    };
  }

  /**
   * What is to be said of a header.
   *
   * @return which columns are not looked at; empty if none, or the line is no header
   */
  static Optional<String> warning(String line) {
    List<String> unknown = furtherColumns(line);
    unknown.removeAll(FURTHER_COLUMNS);
    return Optional.of(unknown)
        .filter(names -> !names.isEmpty())
        .map(
            names ->
                "columns that nobody here knows are passed over: "
                    + TextTable.shorten(String.join(", ", names)));
  }

  /** Which columns of a header ask for more than a size and a life; none if it is no header. */
  static List<String> constraintColumns(String line) {
    List<String> columns = furtherColumns(line);
    columns.retainAll(CONSTRAINT_COLUMNS);
    return columns;
  }

  private static List<String> furtherColumns(String line) {
    for (List<String> needed : List.of(LIFETIMES_COLUMNS, RECORDS_COLUMNS)) {
      if (isHeader(line, needed)) {
        return furtherColumns(CsvTable.of("", line, null), needed);
      }
    }
    return new ArrayList<>();
  }

  private static List<String> furtherColumns(CsvTable table, List<String> needed) {
    List<String> further = new ArrayList<>(names(table, needed));
    further.removeAll(needed);
    return further;
  }

  /** The columns of a table beside lives and sizes, in lower case. */
  static List<String> furtherColumns(CsvTable table) {
    return furtherColumns(
        table,
        names(table, LIFETIMES_COLUMNS).containsAll(LIFETIMES_COLUMNS)
            ? LIFETIMES_COLUMNS
            : RECORDS_COLUMNS);
  }

  /**
   * Writes tensors as a table of their lives, with a column for each constraint that some tensor
   * has, and for uses if they are known.
   *
   * @param needed the columns of the format
   */
  static void write(TensorLifetimes tensors, List<String> needed, Appendable out)
      throws IOException {
    boolean halfOpen = needed.equals(LIFETIMES_COLUMNS);
    Map<String, IntFunction<String>> further = new LinkedHashMap<>();
    further.put(
        "alignment",
        i -> {
          long alignment = tensors.records().get(i).constraints().alignment();
          return alignment == 1 ? "" : Long.toString(alignment);
        });
    further.put("offset", i -> text(tensors.records().get(i).constraints().offset()));
    further.put("hint", i -> text(tensors.records().get(i).constraints().hint()));
    further.put("gaps", i -> text(tensors.records().get(i).constraints().gaps(), halfOpen));
    further
        .values()
        .removeIf(
            column -> IntStream.range(0, tensors.count()).allMatch(i -> column.apply(i).isEmpty()));
    if (tensors.knowsUses()) {
      further.put("uses", i -> Long.toString(tensors.uses(i)));
    }
    if (tensors.knowsMemories()) {
      further.put("memory", i -> tensors.memory(i).orElse(""));
    }
    List<String> header = new ArrayList<>(needed);
    header.addAll(further.keySet());
    CsvTable.append(out, header);
    for (int i = 0; i < tensors.count(); i++) {
      TensorUsageRecord record = tensors.records().get(i);
      String first = Long.toString(record.firstTask());
      List<String> row = new ArrayList<>();
      row.add(tensors.ids().get(i));
      if (halfOpen) {
        row.addAll(List.of(first, Long.toString(record.lastTask() + 1)));
        row.add(Long.toString(record.sizeBytes()));
      } else {
        row.add(sizeOrShape(tensors, i));
        row.addAll(List.of(first, Long.toString(record.lastTask())));
      }
      for (IntFunction<String> column : further.values()) {
        row.add(column.apply(i));
      }
      CsvTable.append(out, row);
    }
  }

  private static String text(OptionalLong number) {
    return number.isPresent() ? Long.toString(number.getAsLong()) : "";
  }

  private static String text(List<TensorConstraints.Gap> gaps, boolean halfOpen) {
    return gaps.stream()
        .map(
            gap ->
                gap.firstTask()
                    + "-"
                    + (gap.lastTask() + (halfOpen ? 1 : 0))
                    + (gap.fromByte() == gap.toByte()
                        ? ""
                        : "@" + gap.fromByte() + ":" + gap.toByte()))
        .collect(Collectors.joining(" "));
  }

  private static String sizeOrShape(TensorLifetimes tensors, int tensor) {
    return tensors
        .shapedRecords()
        .map(
            shapes ->
                shapes.get(tensor).shape().dimensions().stream()
                    .map(String::valueOf)
                    .collect(Collectors.joining("x")))
        .orElseGet(() -> Long.toString(tensors.records().get(tensor).sizeBytes()));
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
          reader.readLine(lines.line(), lines.number(), source);
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
    fixed.stream().collect(Collectors.groupingBy(this::memory)).values().forEach(this::checkFixed);
    return new TensorLifetimes(file, ids, records, shapedRecords, uses, memories, table);
  }

  private String memory(int tensor) {
    return memories.isEmpty() ? "" : memories.get(tensor);
  }

  /** Refuses tensors of one memory that share bytes. */
  private void checkFixed(List<Integer> fixed) {
    List<TensorUsageRecord> some = fixed.stream().map(records::get).toList();
    long[] offsets = some.stream().mapToLong(r -> r.constraints().offset().orElseThrow()).toArray();
    PlanValidator.fault(
            some,
            OffsetsAssignment.of(some, offsets, 1),
            i ->
                TextTable.shorten(ids.get(fixed.get(i)))
                    + " (line "
                    + fixedLines.get(fixed.get(i))
                    + ")")
        .ifPresent(
            fault -> {
              throw TraceFormatException.ofFile(file, "fixed offsets cannot be kept: " + fault);
            });
  }

  private String expected() {
    return "expected the header `" + String.join(",", needed) + "`";
  }

  private void readLine(String content, long line, TextLines.Source source) {
    if (table == null) {
      CsvTable read = CsvTable.of(file, content, source);
      endIncluded |= halfOpen && read.columns().contains(END);
      readHeader(content, read.columns(), names(read, needed));
      table = read;
      return;
    }
    List<String> cells = table.cells(content);
    if (cells.isEmpty()) {
      return;
    }
    if (cells.size() != table.header().size()) {
      throw new IllegalArgumentException(
          "has "
              + Counted.of(cells.size(), "field")
              + ", but the header has "
              + table.header().size());
    }
    String id = cell(cells, "id");
    if (id.isEmpty()) {
      throw new IllegalArgumentException("the id is empty");
    }
    if (!seen.add(id)) {
      throw new IllegalArgumentException("tensor " + TextTable.shorten(id) + " comes again");
    }
    readTensor(cells);
    ids.add(id);
    if (records.get(records.size() - 1).constraints().offset().isPresent()) {
      fixed.add(records.size() - 1);
      fixedLines.put(records.size() - 1, line);
    }
  }

  private void readHeader(String content, List<String> written, List<String> cells) {
    for (String column : needed) {
      if (!cells.contains(column)) {
        throw new IllegalArgumentException(
            "`" + TextTable.shorten(content) + "` has no column `" + column + "`; " + expected());
      }
    }
    for (int i = 0; i < cells.size(); i++) {
      Integer before = columns.put(cells.get(i), i);
      if (before != null) {
        throw new IllegalArgumentException(
            written.get(i).equals(written.get(before))
                ? "column `" + written.get(i) + "` comes twice"
                : "columns `"
                    + written.get(before)
                    + "` and `"
                    + written.get(i)
                    + "` mean the same");
      }
    }
  }

  private void readTensor(List<String> cells) {
    long first = number(cells, halfOpen ? "lower" : "first");
    long last = number(cells, halfOpen ? "upper" : "last");
    if (!endIncluded) {
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
      if (!constraints(cells).equals(TensorConstraints.NONE)) {
        throw new IllegalArgumentException(
            "a shape has no offset, so there are no constraints to it");
      }
    } else {
      checkDimensions(1);
      record = new TensorUsageRecord(size(cell(cells, "size")), first, last, constraints(cells));
    }
    if (sum > Long.MAX_VALUE - record.sizeBytes()) {
      throw new IllegalArgumentException(
          "size " + record.sizeBytes() + " takes the sum of all sizes over 2^63 - 1");
    }
    sum += record.sizeBytes();
    records.add(record);
    readUses(cells);
    if (columns.containsKey("memory")) {
      memories.add(cell(cells, "memory"));
    }
  }

  private void readUses(List<String> cells) {
    if (!columns.containsKey("uses")) {
      return;
    }
    String text = cell(cells, "uses");
    long number = text.isEmpty() ? TensorLifetimes.LEAST_USES : number("uses", text);
    if (number < 0) {
      throw new IllegalArgumentException("uses " + number + " are negative; the least is 0");
    }
    if (usesSum > Long.MAX_VALUE - number) {
      throw new IllegalArgumentException(
          "uses " + number + " take the sum of all uses over 2^63 - 1");
    }
    usesSum += number;
    uses.add(number);
  }

  private TensorConstraints constraints(List<String> cells) {
    TensorConstraints constraints = TensorConstraints.NONE;
    OptionalLong alignment = further(cells, "alignment");
    if (alignment.isPresent()) {
      constraints = constraints.withAlignment(alignment.getAsLong());
    }
    OptionalLong offset = further(cells, "offset");
    if (offset.orElse(-1) != -1) {
      constraints = constraints.withOffset(offset.getAsLong());
    }
    OptionalLong hint = further(cells, "hint");
    if (hint.orElse(-1) != -1) {
      constraints = constraints.withHint(hint.getAsLong());
    }
    if (columns.containsKey("gaps") && !cell(cells, "gaps").isEmpty()) {
      constraints =
          constraints.withGaps(
              Stream.of(cell(cells, "gaps").split("\\s+")).map(this::gap).toList());
    }
    return constraints;
  }

  private OptionalLong further(List<String> cells, String column) {
    String text = columns.containsKey(column) ? cell(cells, column) : "";
    return text.isEmpty() ? OptionalLong.empty() : OptionalLong.of(bytes(column, text));
  }

  private TensorConstraints.Gap gap(String text) {
    Matcher parts = GAP.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "gap `"
              + TextTable.shorten(text)
              + "` is not FROM-TO or FROM-TO@BYTE:BYTE, with blanks between gaps");
    }
    long from = number("gap", parts.group(1));
    long to = number("gap", parts.group(2));
    if (endIncluded ? to < from : to <= from) {
      throw new IllegalArgumentException("gap `" + TextTable.shorten(text) + "` is empty");
    }
    return new TensorConstraints.Gap(
        from,
        endIncluded ? to : to - 1,
        parts.group(3) == null ? 0 : bytes("gap", parts.group(3)),
        parts.group(4) == null ? 0 : bytes("gap", parts.group(4)));
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
          "the size has "
              + Counted.of(dimensions, "dimension")
              + ", but those before it have "
              + before);
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
    return bytes("size", text);
  }

  private static long bytes(String what, String text) {
    try {
      return TextNumbers.bytes(text);
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException(
          what
              + " `"
              + TextTable.shorten(text)
              + "` is not a whole number that fits 64 bits, such as 65536, 64K or 1MiB",
          notANumber);
    }
  }

  private static IllegalArgumentException wrongNumber(
      String what, String text, NumberFormatException why) {
    return new IllegalArgumentException(
        what + " `" + TextTable.shorten(text) + "` is not a whole number that fits 64 bits", why);
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
