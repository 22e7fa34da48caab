package io.prmalloc.trace;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A table of values with a header. Cells are parted by commas, semicolons or tabs, whichever the
 * header has most of. A cell that holds the delimiter, a quote or a blank at its end stands in
 * double quotes, with its own quotes doubled; a cell is one line.
 *
 * <p>Spreadsheets and other tools leave cells behind the last column and rows below the last one:
 * they are passed over if they are empty. Names of columns mean the same in upper case.
 *
 * <p>Only the header is in memory: the rest is read again from the file when it is wanted.
 *
 * <p>Threading: immutable.
 *
 * @param file what errors call the file
 * @param header the names of the columns, as the file has them
 * @param delimiter what stands between two cells
 * @param source the file
 */
record CsvTable(String file, List<String> header, char delimiter, TextLines.Source source) {

  private static final List<Character> DELIMITERS = List.of(',', ';', '\t');

  /**
   * Reads a header.
   *
   * @param line the first line that is neither blank nor a comment
   * @throws IllegalArgumentException if quotes do not match
   */
  static CsvTable of(String file, String line, TextLines.Source source) {
    CsvTable found = null;
    IllegalArgumentException refused = null;
    for (char delimiter : DELIMITERS) {
      try {
        List<String> header = split(line, delimiter);
        if (found == null || header.size() > found.header.size()) {
          found = new CsvTable(file, header, delimiter, source);
        }
      } catch (IllegalArgumentException wrongQuotes) {
        refused = refused == null ? wrongQuotes : refused;
      }
    }
    if (found == null) {
      throw refused;
    }
    List<String> header = List.copyOf(withoutEmptyEnd(found.header, 1));
    return new CsvTable(file, header, found.delimiter, source);
  }

  private static List<String> withoutEmptyEnd(List<String> cells, int least) {
    int size = cells.size();
    while (size > least && cells.get(size - 1).isEmpty()) {
      size--;
    }
    return size == cells.size() ? cells : List.copyOf(cells.subList(0, size));
  }

  /**
   * The cells of a row, without empty ones behind the last column; empty if all of them are.
   *
   * @throws IllegalArgumentException if quotes do not match
   */
  List<String> cells(String line) {
    List<String> cells = split(line, delimiter);
    boolean empty = true;
    for (int i = 0; empty && i < cells.size(); i++) {
      empty = cells.get(i).isEmpty();
    }
    return empty ? List.of() : withoutEmptyEnd(cells, header.size());
  }

  /**
   * Where a column is.
   *
   * @param name in lower case
   * @return from 0; negative if there is none
   */
  int indexOf(String name) {
    return columns().indexOf(name);
  }

  /** The names of the columns, in lower case. */
  List<String> columns() {
    return header.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
  }

  private static List<String> split(String line, char delimiter) {
    List<String> cells = new ArrayList<>();
    int from = 0;
    while (true) {
      int to = line.indexOf(delimiter, from);
      to = to < 0 ? line.length() : to;
      int start = skipBlanks(line, from, delimiter);
      if (line.startsWith("\"", start)) {
        StringBuilder cell = new StringBuilder();
        to = quoted(line, start + 1, delimiter, cell);
        cells.add(cell.toString());
      } else {
        cells.add(line.substring(from, to).strip());
      }
      if (to == line.length()) {
        return cells;
      }
      from = to + 1;
    }
  }

  private static int skipBlanks(String line, int from, char delimiter) {
    int at = from;
    while (at < line.length()
        && line.charAt(at) != delimiter
        && Character.isWhitespace(line.charAt(at))) {
      at++;
    }
    return at;
  }

  /** Reads to the closing quote; answers where the next delimiter is, or the end. */
  private static int quoted(String line, int from, char delimiter, StringBuilder cell) {
    for (int at = from; at < line.length(); at++) {
      if (line.charAt(at) != '"') {
        cell.append(line.charAt(at));
      } else if (line.startsWith("\"", at + 1)) {
        cell.append('"');
        at++;
      } else {
        int end = skipBlanks(line, at + 1, delimiter);
        if (end < line.length() && line.charAt(end) != delimiter) {
          throw new IllegalArgumentException(
              "something stands between a closing quote and the end of the cell");
        }
        return end;
      }
    }
    throw new IllegalArgumentException("a quote is not closed");
  }

  /**
   * Writes this table with further columns, at its end; a column of the same name is replaced where
   * it is. Blank lines, comments and empty rows are left out. Every line is ended by LF.
   *
   * @param columns by their names, in lower case: a cell for each row
   * @throws IllegalStateException if the file has changed since it was read
   * @throws IOException if it cannot be written
   */
  void writeWithColumns(Map<String, List<String>> columns, Appendable out) throws IOException {
    List<String> wider = new ArrayList<>(header);
    for (String name : columns.keySet()) {
      if (indexOf(name) < 0) {
        wider.add(name);
      }
    }
    append(out, wider, delimiter);
    int[] places = columns.keySet().stream().mapToInt(this::indexOf).toArray();
    int rows = columns.values().iterator().next().size();
    int row = 0;
    try (TextLines lines = TextLines.ofTable(file, source)) {
      boolean same = lines.next() && of(file, lines.line(), source).header.equals(header);
      while (same && lines.next()) {
        List<String> read = cells(lines.line());
        if (!read.isEmpty()) {
          same = row < rows && read.size() == header.size();
          if (same) {
            append(out, with(read, places, columns.values(), row++), delimiter);
          }
        }
      }
      if (!same || row < rows) {
        throw new IllegalStateException(file + " has changed while it was in use");
      }
    }
  }

  private static List<String> with(
      List<String> cells, int[] places, Collection<List<String>> columns, int row) {
    List<String> wider = new ArrayList<>(cells);
    int next = 0;
    for (List<String> column : columns) {
      int at = places[next++];
      if (at >= 0) {
        wider.set(at, column.get(row));
      } else {
        wider.add(column.get(row));
      }
    }
    return wider;
  }

  /** One line, with commas. */
  static void append(Appendable out, List<String> row) throws IOException {
    append(out, row, ',');
  }

  private static void append(Appendable out, List<String> row, char delimiter) throws IOException {
    for (int i = 0; i < row.size(); i++) {
      String cell = row.get(i);
      boolean quote =
          cell.indexOf(delimiter) >= 0
              || cell.contains("\"")
              || !cell.equals(cell.strip())
              || (i == 0 && !cell.isEmpty() && cell.charAt(0) == TextLines.COMMENT);
      if (i > 0) {
        out.append(delimiter);
      }
      out.append(quote ? "\"" + cell.replace("\"", "\"\"") + "\"" : cell);
    }
    out.append('\n');
  }
}
