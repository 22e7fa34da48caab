package io.prmalloc.jmh.report;

import java.util.Locale;
import java.util.OptionalDouble;

/**
 * Horizontal bars on a logarithmic axis, as SVG.
 *
 * <p>Threading: immutable.
 *
 * @param title what is shown
 * @param subtitle what a number is
 * @param nanosPerUnit what the grid's numbers are to be multiplied by to be nanoseconds
 * @param grid a group of bars for each row, a bar for each column
 */
record BarChart(String title, String subtitle, double nanosPerUnit, Grid grid) {

  // A logarithmic axis has no zero, so a bar's length says nothing by itself: the axis begins at
  // the power of ten below the least number, and each bar has its number at its end. The picture
  // takes its colours from a style sheet of its own, which a browser's preference for dark pages
  // changes, also where the picture is shown by a page that knows nothing of it. Columns that
  // follow each other (sizes, threads) are shades of one hue, ours are told by bold labels as well
  // as by colour.

  private static final int WIDTH = 760;
  private static final int LABELS_WIDTH = 220;
  private static final int VALUES_WIDTH = 80;
  private static final int PLOT_WIDTH = WIDTH - LABELS_WIDTH - VALUES_WIDTH;
  private static final int BAR_HEIGHT = 13;
  private static final int BAR_GAP = 2;
  private static final int GROUP_GAP = 9;
  private static final int TITLE_HEIGHT = 52;
  private static final int LEGEND_HEIGHT = 24;
  private static final int AXIS_HEIGHT = 28;

  private static final String STYLE =
      """
      <style>
        svg { background: #fcfcfb; }
        text { font: 12px system-ui, sans-serif; fill: #52514e; }
        .title { font-size: 15px; font-weight: 600; fill: #0b0b0b; }
        .ours { font-weight: 600; fill: #0b0b0b; }
        .value { font-size: 11px; fill: #0b0b0b; }
        .tick { font-size: 11px; fill: #898781; }
        .grid { stroke: #e1e0d9; }
        .bar-ours { fill: #2a78d6; }
        .bar-other { fill: #a5a39c; }
        .bar-0 { fill: #6da7ec; }
        .bar-1 { fill: #2a78d6; }
        .bar-2 { fill: #1c5cab; }
        .bar-3 { fill: #0d366b; }
        @media (prefers-color-scheme: dark) {
          svg { background: #1a1a19; }
          text { fill: #c3c2b7; }
          .title, .ours, .value { fill: #ffffff; }
          .tick { fill: #898781; }
          .grid { stroke: #2c2c2a; }
          .bar-ours { fill: #3987e5; }
          .bar-other { fill: #75746e; }
          .bar-0 { fill: #cde2fb; }
          .bar-1 { fill: #86b6ef; }
          .bar-2 { fill: #3987e5; }
          .bar-3 { fill: #256abf; }
        }
      </style>
      """;

  /** Shades that the style sheet has. */
  private static final int MOST_COLUMNS = 4;

  BarChart {
    if (grid.columns().size() > MOST_COLUMNS) {
      throw new IllegalArgumentException(
          grid.columns().size() + " columns exceed the " + MOST_COLUMNS + " shades there are");
    }
  }

  private boolean isPlain() {
    return grid.columns().size() == 1;
  }

  private double[] positiveNanos() {
    return grid.rows().stream()
        .flatMap(row -> row.values().stream())
        .filter(OptionalDouble::isPresent)
        .mapToDouble(value -> value.getAsDouble() * nanosPerUnit)
        .filter(nanos -> nanos > 0)
        .sorted()
        .toArray();
  }

  /** The picture; one that says so where there is nothing to show. */
  String svg() {
    double[] sorted = positiveNanos();
    int least = sorted.length == 0 ? 0 : (int) Math.floor(Math.log10(sorted[0]));
    int most =
        sorted.length == 0
            ? 1
            : Math.max(least + 1, (int) Math.ceil(Math.log10(sorted[sorted.length - 1])));
    int top = TITLE_HEIGHT + (isPlain() ? 0 : LEGEND_HEIGHT);
    int groupHeight = grid.columns().size() * (BAR_HEIGHT + BAR_GAP) - BAR_GAP + GROUP_GAP;
    int bottom = top + grid.rows().size() * groupHeight;
    StringBuilder svg = new StringBuilder();
    add(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
            + " role=\"img\">\n",
        WIDTH,
        bottom + AXIS_HEIGHT,
        WIDTH,
        bottom + AXIS_HEIGHT);
    add(svg, "<title>%s</title>\n<desc>%s</desc>\n", escaped(title), escaped(subtitle));
    svg.append(STYLE);
    text(svg, 8, 22, "title", "start", title);
    text(svg, 8, 41, "", "start", subtitle);
    if (sorted.length == 0) {
      text(svg, WIDTH / 2, bottom + 10, "", "middle", "not measured");
    } else {
      legend(svg);
      axis(svg, least, most, top, bottom);
      for (int row = 0; row < grid.rows().size(); row++) {
        group(svg, grid.rows().get(row), top + row * groupHeight, groupHeight, least, most);
      }
    }
    return svg.append("</svg>\n").toString();
  }

  private void legend(StringBuilder svg) {
    if (isPlain()) {
      return;
    }
    int x = LABELS_WIDTH;
    for (int column = 0; column < grid.columns().size(); column++) {
      rectangle(svg, x, TITLE_HEIGHT + 1, 12, "bar-" + column);
      text(svg, x + 17, TITLE_HEIGHT + 12, "", "start", grid.columns().get(column));
      x += PLOT_WIDTH / grid.columns().size();
    }
  }

  private static void axis(StringBuilder svg, int least, int most, int top, int bottom) {
    for (int power = least; power <= most; power++) {
      double x = x(Math.pow(10, power), least, most);
      add(
          svg,
          "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n",
          x,
          top - 2,
          x,
          bottom);
      text(svg, x, bottom + 16, "tick", "middle", tick(power));
    }
  }

  /** {@code 10 ns}, {@code 1 ms}. */
  private static String tick(int power) {
    return Numbers.time(Math.pow(10, power)).replaceFirst("\\.0+(?= )", "");
  }

  private static double x(double nanos, int least, int most) {
    return LABELS_WIDTH + PLOT_WIDTH * (Math.log10(nanos) - least) / (most - least);
  }

  private void group(StringBuilder svg, Grid.Row row, int y, int height, int least, int most) {
    text(
        svg,
        LABELS_WIDTH - 8,
        y + (height - GROUP_GAP) / 2 + 4,
        row.rival().isOurs() ? "ours" : "",
        "end",
        row.rival().label());
    for (int column = 0; column < row.values().size(); column++) {
      int barY = y + column * (BAR_HEIGHT + BAR_GAP);
      OptionalDouble value = row.values().get(column);
      if (value.isEmpty() || value.getAsDouble() <= 0) {
        text(svg, LABELS_WIDTH + 4, barY + BAR_HEIGHT - 3, "tick", "start", "–");
        continue;
      }
      double nanos = value.getAsDouble() * nanosPerUnit;
      double end = x(nanos, least, most);
      String shade = row.rival().isOurs() ? "bar-ours" : "bar-other";
      rectangle(
          svg,
          LABELS_WIDTH,
          barY,
          Math.max(1, end - LABELS_WIDTH),
          isPlain() ? shade : "bar-" + column);
      text(svg, end + 5, barY + BAR_HEIGHT - 3, "value", "start", Numbers.time(nanos));
    }
  }

  private static void rectangle(StringBuilder svg, double x, int y, double width, String shade) {
    add(
        svg,
        "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
        shade,
        x,
        y,
        width,
        BAR_HEIGHT);
  }

  private static void text(
      StringBuilder svg, double x, int y, String style, String anchor, String text) {
    add(
        svg,
        "<text x=\"%.1f\" y=\"%d\" class=\"%s\" text-anchor=\"%s\">%s</text>\n",
        x,
        y,
        style,
        anchor,
        escaped(text));
  }

  private static void add(StringBuilder svg, String format, Object... arguments) {
    svg.append(String.format(Locale.ROOT, format, arguments));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
