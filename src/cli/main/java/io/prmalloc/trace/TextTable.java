package io.prmalloc.trace;

import java.util.ArrayList;
import java.util.List;

/**
 * Lays rows of text out in columns for people: the first column starts at the left edge, all others
 * end at their right edge, as numbers do. Columns are two blanks apart; no line ends in blanks.
 *
 * <p>Threading: one thread at a time.
 */
public final class TextTable {

  private static final int MOST_SHOWN = 40;

  private final List<String[]> rows = new ArrayList<>();
  private final int columns;

  /**
   * Threading: any thread.
   *
   * @param header the names of the columns, at least one
   * @throws IllegalArgumentException if there is none
   */
  public TextTable(String... header) {
    if (header.length == 0) {
      throw new IllegalArgumentException("header has 0 columns; the least is 1");
    }
    this.columns = header.length;
    rows.add(header.clone());
  }

  /**
   * A text as a table or a message shows it: the line of a binary file can be its whole length.
   *
   * <p>Threading: any thread.
   *
   * @return its first 40 characters, and a sign of those that are left out; control characters are
   *     question marks
   */
  public static String shorten(String text) {
    String plain = text.replaceAll("\\p{Cntrl}", "?");
    return plain.length() <= MOST_SHOWN ? plain : plain.substring(0, MOST_SHOWN) + "…";
  }

  /**
   * Adds a row.
   *
   * <p>Threading: one thread at a time.
   *
   * @param cells one for each column, or fewer: the rest stays empty
   * @throws IllegalArgumentException if there are more cells than columns
   */
  public void row(String... cells) {
    if (cells.length > columns) {
      throw new IllegalArgumentException(
          "row has " + cells.length + " cells; there are " + columns + " columns");
    }
    rows.add(cells.clone());
  }

  /** The table, each line ended. Threading: one thread at a time. */
  @Override
  public String toString() {
    int[] widths = new int[columns];
    for (String[] cells : rows) {
      for (int column = 0; column < cells.length; column++) {
        widths[column] = Math.max(widths[column], cells[column].length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (String[] cells : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < cells.length; column++) {
        String padding = " ".repeat(widths[column] - cells[column].length());
        line.append(column == 0 ? "" : "  ");
        line.append(column == 0 ? cells[column] + padding : padding + cells[column]);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
