package io.prmalloc.example.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The metrics that a server showed to Prometheus at one time, and a look-up of the series that a
 * selector of a query finds.
 *
 * <p>Threading: immutable.
 *
 * @param samples the value of each series
 */
record Scrape(Map<Series, Double> samples) {

  private static final Pattern SAMPLE = Pattern.compile("([a-z_]+)(?:[{](.*)[}])? (\\S+)");
  private static final Pattern LABEL = Pattern.compile("([a-z]+)=\"([^\"]*)\"");
  private static final Pattern SELECTOR = Pattern.compile("(prmalloc_[a-z_]+)(?:[{]([^}]*)[}])?");
  private static final Pattern MATCHER = Pattern.compile("([a-z]+)(=~|=)\"([^\"]*)\"");

  /** A metric with its labels. */
  record Series(String name, Map<String, String> labels) {}

  /** A metric with what a query wants of its labels, as regular expressions. */
  record Selector(String name, Map<String, Pattern> wanted) {

    /** All selectors of a query. The variables of a dashboard stand for any value. */
    static List<Selector> of(String query) {
      List<Selector> all = new ArrayList<>();
      Matcher found = SELECTOR.matcher(query);
      while (found.find()) {
        Map<String, Pattern> wanted = new TreeMap<>();
        String labels = found.group(2) == null ? "" : found.group(2);
        Matcher label = MATCHER.matcher(labels);
        while (label.find()) {
          String value = label.group(3).startsWith("$") ? ".*" : label.group(3);
          boolean isPattern = label.group(2).equals("=~");
          wanted.put(label.group(1), Pattern.compile(isPattern ? value : Pattern.quote(value)));
        }
        if (!label.reset().replaceAll("").replace(",", "").isBlank()) {
          throw new IllegalArgumentException("labels `" + labels + "` of query: " + query);
        }
        all.add(new Selector(found.group(1), wanted));
      }
      return all;
    }

    boolean finds(Series series) {
      return series.name().equals(name)
          && wanted.entrySet().stream()
              .allMatch(
                  label ->
                      label
                          .getValue()
                          .matcher(series.labels().getOrDefault(label.getKey(), ""))
                          .matches());
    }
  }

  /** Reads a page in Prometheus's text format. */
  static Scrape of(String page) {
    Map<Series, Double> samples = new LinkedHashMap<>();
    page.lines()
        .map(SAMPLE::matcher)
        .filter(Matcher::matches)
        .forEach(
            sample -> {
              Map<String, String> labels = new TreeMap<>();
              Matcher label = LABEL.matcher(sample.group(2) == null ? "" : sample.group(2));
              while (label.find()) {
                labels.put(label.group(1), label.group(2));
              }
              samples.put(new Series(sample.group(1), labels), Double.valueOf(sample.group(3)));
            });
    return new Scrape(samples);
  }

  /** The series that a selector finds. */
  List<Series> found(Selector selector) {
    return samples.keySet().stream().filter(selector::finds).toList();
  }
}
