package io.prmalloc.trace;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A table of comma-separated values with a header. A cell that holds a comma, a quote or a blank at
 * its end stands in double quotes, with its own quotes doubled; a cell is one line.
 *
 * <p>Only the header is in memory: the rest is read again from the file when it is wanted.
 *
 * <p>Threading: immutable.
 *
 * @param file what errors call the file
 * @param header the names of the columns
 * @param source the file
 */
record CsvTable(String file, List<String> header, TextLines.Source source) {

  /**
   * The cells of a line.
   *
   * @throws IllegalArgumentException if quotes do not match
   */
  static List<String> cells(String line) {
    List<String> cells = new ArrayList<>();
    int from = 0;
    while (true) {
      StringBuilder cell = new StringBuilder();
      int to = line.indexOf(',', from);
      to = to < 0 ? line.length() : to;
      if (line.startsWith("\"", skipBlanks(line, from))) {
        to = quoted(line, skipBlanks(line, from) + 1, cell);
      } else {
        cell.append(line.substring(from, to).strip());
      }
      cells.add(cell.toString());
      if (to == line.length()) {
        return cells;
      }
      from = to + 1;
    }
  }

  private static int skipBlanks(String line, int from) {
    int at = from;
    while (at < line.length() && line.charAt(at) == ' ') {
      at++;
    }
    return at;
  }

  /** Reads to the closing quote; answers where the next comma is, or the end. */
  private static int quoted(String line, int from, StringBuilder cell) {
    for (int at = from; at < line.length(); at++) {
      if (line.charAt(at) != '"') {
        cell.append(line.charAt(at));
      } else if (line.startsWith("\"", at + 1)) {
        cell.append('"');
        at++;
      } else {
        int end = skipBlanks(line, at + 1);
        if (end < line.length() && line.charAt(end) != ',') {
          throw new IllegalArgumentException(
              "something stands between a closing quote and a comma");
        }
        return end;
      }
    }
    throw new IllegalArgumentException("a quote is not closed");
  }

  /**
   * Writes this table with a column more, at its end; a column of that name is replaced where it
   * is. Every line is ended by LF.
   *
   * @param cells one for each row
   * @throws IllegalStateException if the file has changed since it was read
   * @throws IOException if it cannot be written
   */
  void writeWithColumn(String name, List<String> cells, Appendable out) throws IOException {
    int at = header.indexOf(name);
    append(out, withCell(header, at, name));
    int row = 0;
    try (TextLines lines = new TextLines(file, source)) {
      boolean same = lines.next() && cells(lines.line()).equals(header);
      while (same && lines.next()) {
        List<String> read = cells(lines.line());
        same = row < cells.size() && read.size() == header.size();
        if (same) {
          append(out, withCell(read, at, cells.get(row++)));
        }
      }
      if (!same || row < cells.size()) {
        throw new IllegalStateException(file + " has changed while it was in use");
      }
    }
  }

  private static List<String> withCell(List<String> row, int at, String cell) {
    List<String> wider = new ArrayList<>(row);
    if (at >= 0) {
      wider.set(at, cell);
    } else {
      wider.add(cell);
    }
    return wider;
  }

  /** One line. */
  static void append(Appendable out, List<String> row) throws IOException {
    for (int i = 0; i < row.size(); i++) {
      String cell = row.get(i);
      boolean quote = cell.contains(",") || cell.contains("\"") || !cell.equals(cell.strip());
      out.append(i == 0 ? "" : ",");
      out.append(quote ? "\"" + cell.replace("\"", "\"\"") + "\"" : cell);
    }
    out.append('\n');
  }
}
