package io.prmalloc.example.client;

import io.prmalloc.example.MemoryKind;
import io.prmalloc.example.model.SampleNetwork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Draws the panels of the dashboard, without Grafana, from what a server of its own showed under
 * load: {@code docs/operations/dashboard.svg}. Arguments: the file and the seconds of load. A query
 * may be a selector or {@code rate} of one, which is the growth from scrape to scrape.
 *
 * <p>Threading: one thread.
 */
final class DashboardPicture {

  private static final long SCRAPE_MILLIS = 500;
  private static final int WIDTH = 400;
  private static final int HEIGHT = 250;
  private static final int COLUMNS = 3;
  private static final int PLOT_LEFT = 64;
  private static final int PLOT_TOP = 34;
  private static final int PLOT_WIDTH = WIDTH - PLOT_LEFT - 16;
  private static final int PLOT_HEIGHT = 128;
  private static final int MAX_LINES = 6;
  private static final Pattern RATE = Pattern.compile("rate\\((.*)\\[.*]\\)");
  private static final Pattern LABEL = Pattern.compile("[{][{](\\w+)}}");
  private static final String[] COLOURS = {
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b"
  };

  private record Moment(double seconds, Scrape scrape) {}

  private record Line(String name, List<double[]> points, double most) {}

  private DashboardPicture() {}

  /** Threading: one thread. */
  public static void main(String[] arguments) throws Exception {
    int seconds = Integer.parseInt(arguments[1]);
    List<Moment> moments = new ArrayList<>();
    try (ServerProcess server = new ServerProcess(MemoryKind.POOL, 2)) {
      AtomicBoolean done = new AtomicBoolean();
      Thread load = new Thread(() -> load(server, seconds, done));
      load.start();
      long start = System.nanoTime();
      try (LoadClient client = new LoadClient(server.address())) {
        while (!done.get()) {
          Scrape scrape = Scrape.of(client.get("/metrics").text());
          moments.add(new Moment((System.nanoTime() - start) / 1e9, scrape));
          Thread.sleep(SCRAPE_MILLIS);
        }
      }
      load.join();
    }
    Files.writeString(Path.of(arguments[0]), svg(Dashboard.read(), moments));
  }

  /** One picture at a time for a third of the time, then 8 of them, then the large network too. */
  private static void load(ServerProcess server, int seconds, AtomicBoolean done) {
    try {
      for (int part = 0; part < 3; part++) {
        byte[] request =
            part < 2
                ? LoadClient.request("small", SampleNetwork.SMALL, part == 0 ? 1 : 8, 1)
                : LoadClient.request("large", SampleNetwork.LARGE, 1, 1);
        LoadRun.of(
            server.address(),
            LoadRun.Load.of(server.address(), request),
            2,
            Long.MAX_VALUE,
            seconds / 3);
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      done.set(true);
    }
  }

  private static String svg(Dashboard dashboard, List<Moment> moments) {
    int rows = (dashboard.panels().size() + COLUMNS - 1) / COLUMNS;
    StringBuilder svg = new StringBuilder();
    svg.append(
        format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\""
                + " font-family=\"sans-serif\" font-size=\"11\">%n"
                + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n",
            COLUMNS * WIDTH, rows * HEIGHT));
    for (int i = 0; i < dashboard.panels().size(); i++) {
      svg.append(
          format(
              "<g transform=\"translate(%d,%d)\">%n", i % COLUMNS * WIDTH, i / COLUMNS * HEIGHT));
      panel(svg, dashboard.panels().get(i), moments);
      svg.append("</g>\n");
    }
    return svg.append("</svg>\n").toString();
  }

  private static void panel(StringBuilder svg, Dashboard.Panel panel, List<Moment> moments) {
    List<Line> lines = new ArrayList<>();
    panel.targets().forEach(target -> lines.addAll(lines(target, moments)));
    // Series that stay 0 say no more than that; of the rest the legend has room for a few.
    List<Line> shown = lines.stream().filter(line -> line.most() > 0).limit(MAX_LINES).toList();
    double most = shown.stream().mapToDouble(Line::most).max().orElse(1);
    double end = moments.get(moments.size() - 1).seconds();
    text(svg, 8, 18, "font-weight=\"bold\" font-size=\"13\"", panel.title());
    svg.append(
        format(
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#bbb\"/>%n",
            PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT));
    String right = "text-anchor=\"end\" fill=\"#555\"";
    text(svg, PLOT_LEFT - 4, PLOT_TOP + 10, right, number(most, panel.unit()));
    text(svg, PLOT_LEFT - 4, PLOT_TOP + PLOT_HEIGHT, right, "0");
    text(svg, WIDTH - 16, PLOT_TOP + PLOT_HEIGHT + 13, right, format("%.0f s", end));
    for (int i = 0; i < shown.size(); i++) {
      StringBuilder points = new StringBuilder();
      for (double[] point : shown.get(i).points()) {
        points.append(
            format(
                "%.1f,%.1f ",
                PLOT_LEFT + point[0] / end * PLOT_WIDTH,
                PLOT_TOP + PLOT_HEIGHT * (1 - point[1] / most)));
      }
      svg.append(
          format(
              "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>%n",
              points.toString().strip(), COLOURS[i]));
      text(
          svg,
          PLOT_LEFT + i % 2 * 170,
          PLOT_TOP + PLOT_HEIGHT + 28 + i / 2 * 15,
          "fill=\"" + COLOURS[i] + "\"",
          shown.get(i).name());
    }
    int hidden = lines.size() - shown.size();
    if (hidden > 0) {
      String more =
          shown.isEmpty() ? "all " + hidden + " lines are 0" : hidden + " more, at 0 or below";
      text(svg, 8, PLOT_TOP + PLOT_HEIGHT + 13, "fill=\"#555\"", more);
    }
  }

  private static List<Line> lines(Dashboard.Target target, List<Moment> moments) {
    Matcher rate = RATE.matcher(target.query());
    boolean isRate = rate.matches();
    List<Scrape.Selector> selectors = Scrape.Selector.of(target.query());
    String plain = isRate ? rate.group(1) : target.query();
    if (selectors.size() != 1 || !plain.matches("[a-z_]+([{][^}]*[}])?")) {
      throw new IllegalArgumentException("cannot be drawn: " + target.query());
    }
    Map<Scrape.Series, List<double[]>> points = new LinkedHashMap<>();
    for (int i = isRate ? 1 : 0; i < moments.size(); i++) {
      Moment now = moments.get(i);
      for (Scrape.Series series : now.scrape().found(selectors.get(0))) {
        double value = now.scrape().samples().get(series);
        if (isRate) {
          Moment before = moments.get(i - 1);
          value =
              (value - before.scrape().samples().get(series)) / (now.seconds() - before.seconds());
        }
        if (!Double.isNaN(value)) {
          points
              .computeIfAbsent(series, one -> new ArrayList<>())
              .add(new double[] {now.seconds(), value});
        }
      }
    }
    List<Line> lines = new ArrayList<>();
    points.forEach(
        (series, all) -> {
          String name =
              LABEL
                  .matcher(target.legend())
                  .replaceAll(label -> series.labels().get(label.group(1)));
          double most = all.stream().mapToDouble(point -> point[1]).max().orElse(0);
          lines.add(new Line(name, all, most));
        });
    return lines;
  }

  private static String number(double value, String unit) {
    return unit.equals("bytes") ? format("%.1f MiB", value / (1 << 20)) : format("%,.5g", value);
  }

  private static void text(StringBuilder svg, int x, int y, String style, String words) {
    svg.append(format("<text x=\"%d\" y=\"%d\" %s>%s</text>%n", x, y, style, words));
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
