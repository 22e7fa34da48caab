package io.prmalloc.jmh;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.jmh.rival.Rival;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Files in JMH's format with invented numbers.
 *
 * <p>Threading: one thread.
 */
public final class FakeRun {

  private final List<Map<String, Object>> results = new ArrayList<>();

  /**
   * All that would be measured with every rival and every trace.
   *
   * @param nanos a time for each rival
   */
  public static FakeRun published(ToDoubleFunction<Rival> nanos) {
    FakeRun run = new FakeRun();
    for (Slice slice : Slice.all(List.of("data/Squeezenet@2", "data/MobilenetV2@4"))) {
      for (Map<String, String> params : combinations(slice)) {
        for (Rival rival : slice.rivals()) {
          double value =
              nanos.applyAsDouble(rival) * (slice.threads() > 2 ? slice.threads() / 2 : 1);
          run.add(slice.benchmark().getSimpleName(), rival.name(), slice.threads(), params, value);
        }
      }
    }
    return run;
  }

  private static List<Map<String, String>> combinations(Slice slice) {
    List<Map<String, String>> all = List.of(Map.of());
    for (Map.Entry<String, List<String>> param : slice.params().entrySet()) {
      List<Map<String, String>> longer = new ArrayList<>();
      for (Map<String, String> shorter : all) {
        for (String value : param.getValue()) {
          Map<String, String> one = new TreeMap<>(shorter);
          one.put(param.getKey(), value);
          longer.add(one);
        }
      }
      all = longer;
    }
    return all;
  }

  /**
   * Adds a result of one fork that needs no heap and no faults.
   *
   * @param benchmark simple name of its class
   */
  public FakeRun add(
      String benchmark, String rival, int threads, Map<String, String> params, double... nanos) {
    Map<String, String> all = new TreeMap<>(params);
    all.put("rival", rival);
    results.add(
        Map.of(
            "benchmark",
            "io.prmalloc.jmh." + benchmark + "." + benchmark.toLowerCase(Locale.ROOT),
            "threads",
            threads,
            "params",
            all,
            "primaryMetric",
            Map.of("scoreUnit", "ns/op", "rawData", List.of(nanos)),
            "secondaryMetrics",
            Map.of(
                "gc.alloc.rate.norm", Map.of("rawData", List.of(List.of(0.01))),
                "faults.norm", Map.of("rawData", List.of(List.of(0.02))))));
    return this;
  }

  /** Writes the file. */
  public Path write(Path file) throws IOException {
    new ObjectMapper().writeValue(file.toFile(), results);
    return file;
  }
}
