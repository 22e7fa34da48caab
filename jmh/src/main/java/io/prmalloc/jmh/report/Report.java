package io.prmalloc.jmh.report;

import io.prmalloc.jmh.report.Floors.Line;
import io.prmalloc.jmh.report.Floors.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Makes the results page, the charts and the verdict from JMH's files.
 *
 * <p>Threading: one thread at a time.
 */
public final class Report {

  /** Where a run keeps what it says of the machine. */
  public static final String ENVIRONMENT_FILE = "environment.properties";

  private static final String PAGE = "README.md";
  private static final String CHART_READING = "; logarithmic axis, less is better";

  private final Measurements measurements;
  private final Properties environment;
  private final Measurements fixedThreshold;

  private Report(Measurements measurements, Properties environment, Measurements fixedThreshold) {
    this.measurements = measurements;
    this.environment = environment;
    this.fixedThreshold = fixedThreshold;
  }

  /**
   * Reads a run.
   *
   * <p>Threading: any thread.
   *
   * @param run a directory with JMH's results, {@code *.json}, and what was said of the machine
   * @throws IllegalArgumentException if there are no results, or a file does not hold any
   * @throws UncheckedIOException if a file cannot be read
   */
  public static Report of(Path run) {
    Properties environment = new Properties();
    Path said = run.resolve(ENVIRONMENT_FILE);
    if (Files.exists(said)) {
      try (InputStream stream = Files.newInputStream(said)) {
        environment.load(stream);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return new Report(results(run), environment, Measurements.read(List.of()));
  }

  /**
   * The same with another run beside it, in which malloc's threshold was fixed.
   *
   * <p>Threading: any thread.
   *
   * @param run as in {@link #of}
   * @throws IllegalArgumentException as there
   * @throws UncheckedIOException as there
   */
  public Report withFixedThreshold(Path run) {
    return new Report(measurements, environment, results(run));
  }

  private static Measurements results(Path run) {
    List<Path> files;
    try (Stream<Path> all = Files.list(run)) {
      files = all.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(run + " cannot be read: " + e.getMessage(), e);
    }
    if (files.isEmpty()) {
      throw new IllegalArgumentException(run + " holds no results, which end in .json");
    }
    return Measurements.read(files);
  }

  /**
   * Prints what is promised and what was reached.
   *
   * <p>Threading: one thread.
   *
   * @return whether every promise was kept; false also where something was not measured
   */
  public boolean printFloors(PrintStream out) {
    List<Line> lines = Floors.check(measurements);
    for (Line line : lines) {
      out.printf(
          Locale.ROOT,
          "%-12s %8s %s %-6s %s (%s)%n",
          line.verdict().toString().toLowerCase(Locale.ROOT).replace('_', ' '),
          line.measured().isPresent() ? Numbers.plain(line.measured().getAsDouble()) : "",
          line.atMost() ? "<=" : ">=",
          Numbers.plain(line.bound()),
          line.claim(),
          line.detail());
    }
    long reached = lines.stream().filter(line -> line.verdict() == Verdict.REACHED).count();
    out.printf("%d of %d floors reached%n", reached, lines.size());
    return reached == lines.size();
  }

  /**
   * Prints all that was measured, a line for each, tabs between the columns.
   *
   * <p>Threading: one thread.
   */
  public void printMedians(PrintStream out) {
    out.println("benchmark\tsubject\trival\tthreads\tmedian\tforks\tB/op\tfaults/op");
    for (Measurement one : measurements.all()) {
      List<String> columns = new ArrayList<>();
      columns.add(one.key().benchmark());
      columns.add(one.key().subject());
      columns.add(one.key().rival().name());
      columns.add(String.valueOf(one.key().threads()));
      columns.add(Numbers.time(one.nanos()));
      columns.add(String.valueOf(one.forks()));
      columns.add(one.heapBytes().isPresent() ? Numbers.plain(one.heapBytes().getAsDouble()) : "");
      columns.add(one.faults().isPresent() ? Numbers.plain(one.faults().getAsDouble()) : "");
      out.println(String.join("\t", columns));
    }
  }

  /**
   * Writes the page's tables anew, and all charts beside it.
   *
   * <p>Threading: one thread.
   *
   * @param docs the directory of the page, {@value #PAGE}
   * @throws IllegalArgumentException if the page lacks a place for a table; nothing is written then
   * @throws UncheckedIOException if a file cannot be read or written
   */
  public void write(Path docs) {
    try {
      Path page = docs.resolve(PAGE);
      Files.writeString(page, MarkedPage.with(Files.readString(page), parts()));
      for (Map.Entry<String, BarChart> chart : charts().entrySet()) {
        Files.writeString(docs.resolve(chart.getKey() + ".svg"), chart.getValue().svg());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(docs + ": " + e.getMessage(), e);
    }
  }

  Map<String, String> parts() {
    Grids grids = new Grids(measurements);
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("environment", environmentText());
    parts.put("varying", grids.varying(1).markdown());
    parts.put("varying-faults", grids.varyingFaults().markdown());
    parts.put("two-thread-varying", grids.varying(2).markdown());
    parts.put("floors", floorsTable());
    parts.put("sizes", grids.sizes().markdown());
    parts.put("pair-costs", grids.pairCosts().markdown());
    parts.put("threads", grids.threads().markdown());
    parts.put("mixed", grids.mixed().markdown());
    parts.put("handover", grids.handover().markdown());
    parts.put("requests", grids.requests().markdown());
    parts.put("steps", grids.steps().markdown());
    parts.put("two-thread-steps", grids.twoThreadSteps().markdown());
    parts.put("step-costs", grids.stepCosts().markdown());
    parts.put("touches", grids.touches().markdown());
    parts.put("touch-faults", grids.touchFaults().markdown());
    Grids fixed = new Grids(fixedThreshold);
    parts.put("fixed-sizes", fixed.sizes().markdown());
    parts.put("fixed-steps", fixed.steps().markdown());
    return parts;
  }

  private Map<String, BarChart> charts() {
    Grids grids = new Grids(measurements);
    String pair = "Allocate, touch 8 bytes, release";
    Map<String, BarChart> charts = new LinkedHashMap<>();
    charts.put("pair", nanos(pair + ": 64 KiB", "One thread", grids.pair()));
    charts.put("sizes", nanos(pair + ", by size", "One thread", grids.sizes()));
    charts.put("threads", nanos(pair + ": 64 KiB", "Time of one thread", grids.threads()));
    charts.put("mixed", nanos(pair + ": 4 KiB to 1 MiB", "Time of one thread", grids.mixed()));
    charts.put(
        "handover",
        nanos(
            "Allocated by one thread, released by another",
            "Time from one to the next",
            grids.handover()));
    charts.put(
        "requests",
        nanos(
            pair + ": 64 KiB, 64 requests at a time",
            "Time that passes for each pair",
            grids.requests()));
    charts.put(
        "steps",
        micros(
            "Memory of one step of a model",
            "8 bytes touched of each tensor, one thread",
            grids.steps()));
    charts.put(
        "touches",
        micros(
            "Memory of one step of Squeezenet b2, by what is written",
            "One thread",
            grids.touches()));
    return charts;
  }

  private static BarChart nanos(String title, String what, Grid grid) {
    return new BarChart(title, what + CHART_READING, 1, grid);
  }

  private static BarChart micros(String title, String what, Grid grid) {
    return new BarChart(title, what + CHART_READING, 1e3, grid);
  }

  private String environmentText() {
    if (environment.isEmpty()) {
      return "Nothing was noted of the machine.\n";
    }
    StringBuilder text = new StringBuilder("| | |\n| --- | --- |\n");
    for (String name : new TreeSet<>(environment.stringPropertyNames())) {
      text.append(String.format(Locale.ROOT, "| %s | %s |\n", name, environment.getProperty(name)));
    }
    return text.toString();
  }

  private String floorsTable() {
    StringBuilder table =
        new StringBuilder(
            "| promised | bound | measured | | numbers |\n| --- | ---: | ---: | --- | --- |\n");
    for (Line line : Floors.check(measurements)) {
      String verdict =
          switch (line.verdict()) {
            case REACHED -> "reached";
            case MISSED -> "**missed**";
            case NOT_MEASURED -> "not measured";
          };
      table.append(
          String.format(
              Locale.ROOT,
              "| %s | %s %s | %s | %s | %s |\n",
              line.claim(),
              line.atMost() ? "≤" : "≥",
              Numbers.plain(line.bound()),
              line.measured().isPresent() ? Numbers.plain(line.measured().getAsDouble()) : "",
              verdict,
              line.detail()));
    }
    return table.toString();
  }
}
