package io.prmalloc.jmh.report;

import io.prmalloc.jmh.rival.Rival;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * Numbers by rival: what a table shows, and a chart.
 *
 * <p>Threading: immutable.
 *
 * @param columns what stands above the numbers
 * @param rows the rivals that have at least one, in the order in which they are declared
 */
record Grid(List<String> columns, List<Row> rows) {

  /** A rival's numbers, one for each column. */
  record Row(Rival rival, List<OptionalDouble> values) {}

  /** Where the numbers of a column come from. */
  record Column(String title, Function<Rival, OptionalDouble> values) {

    static Column nanos(String title, Function<Rival, Optional<Measurement>> source) {
      return of(title, source, measurement -> OptionalDouble.of(measurement.nanos()));
    }

    static Column micros(String title, Function<Rival, Optional<Measurement>> source) {
      return of(title, source, measurement -> OptionalDouble.of(measurement.nanos() / 1e3));
    }

    static Column heapBytes(String title, Function<Rival, Optional<Measurement>> source) {
      return of(title, source, Measurement::heapBytes);
    }

    static Column faults(String title, Function<Rival, Optional<Measurement>> source) {
      return of(title, source, Measurement::faults);
    }

    private static Column of(
        String title,
        Function<Rival, Optional<Measurement>> source,
        Function<Measurement, OptionalDouble> part) {
      return new Column(
          title, rival -> source.apply(rival).map(part).orElse(OptionalDouble.empty()));
    }
  }

  static Grid of(Column... columns) {
    List<Row> rows = new ArrayList<>();
    for (Rival rival : Rival.values()) {
      List<OptionalDouble> values = new ArrayList<>();
      for (Column column : columns) {
        values.add(column.values().apply(rival));
      }
      if (values.stream().anyMatch(OptionalDouble::isPresent)) {
        rows.add(new Row(rival, List.copyOf(values)));
      }
    }
    return new Grid(Arrays.stream(columns).map(Column::title).toList(), List.copyOf(rows));
  }

  /** Only the rivals that have several numbers: where columns are to be compared. */
  Grid comparing() {
    return new Grid(
        columns,
        rows.stream()
            .filter(row -> row.values().stream().filter(OptionalDouble::isPresent).count() > 1)
            .toList());
  }

  /** As a table in Markdown; a line that says so where there is nothing. */
  String markdown() {
    if (rows.isEmpty()) {
      return "Not measured.\n";
    }
    StringBuilder table = new StringBuilder("| |");
    columns.forEach(column -> table.append(' ').append(column).append(" |"));
    table.append("\n| --- |").append(" ---: |".repeat(columns.size())).append('\n');
    for (Row row : rows) {
      table.append("| ").append(row.rival().label()).append(" |");
      for (OptionalDouble value : row.values()) {
        table.append(value.isPresent() ? " " + Numbers.plain(value.getAsDouble()) + " |" : " |");
      }
      table.append('\n');
    }
    return table.toString();
  }
}
