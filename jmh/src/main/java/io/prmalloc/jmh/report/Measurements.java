package io.prmalloc.jmh.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.jmh.FaultsProfiler;
import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.trace.replay.Touch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * The results in JMH's files, of one run or of several. The forks of one setting count together,
 * whichever file they are in.
 *
 * <p>Threading: immutable.
 */
final class Measurements {

  private static final String HEAP_METRIC = "gc.alloc.rate.norm";
  private static final Map<String, Double> NANOS =
      Map.of("ns/op", 1.0, "us/op", 1e3, "ms/op", 1e6, "s/op", 1e9);

  private final Map<Measurement.Key, Measurement> byKey = new LinkedHashMap<>();

  /** The medians of the forks of one setting. */
  private static final class Forks {
    final List<Double> nanos = new ArrayList<>();
    final List<Double> heapBytes = new ArrayList<>();
    final List<Double> faults = new ArrayList<>();

    Measurement of(Measurement.Key key) {
      return new Measurement(
          key, median(nanos).orElseThrow(), nanos.size(), median(heapBytes), median(faults));
    }
  }

  private Measurements(Map<Measurement.Key, Forks> all) {
    all.forEach((key, forks) -> byKey.put(key, forks.of(key)));
  }

  /**
   * Reads JMH's results.
   *
   * @throws IllegalArgumentException if a file does not hold such results of these benchmarks
   * @throws UncheckedIOException if a file cannot be read
   */
  static Measurements read(Collection<Path> files) {
    Map<Measurement.Key, Forks> all = new LinkedHashMap<>();
    for (Path file : files) {
      try {
        JsonNode results = new ObjectMapper().readTree(file.toFile());
        if (results == null || !results.isArray()) {
          throw new IllegalArgumentException(file + " does not hold JMH's list of results");
        }
        for (JsonNode result : results) {
          add(all, file, result);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(file + " cannot be read: " + e.getMessage(), e);
      }
    }
    return new Measurements(all);
  }

  private static void add(Map<Measurement.Key, Forks> all, Path file, JsonNode result) {
    JsonNode primary = result.path("primaryMetric");
    String unit = primary.path("scoreUnit").asText();
    Double nanos = NANOS.get(unit);
    if (nanos == null) {
      throw new IllegalArgumentException(file + ": `" + unit + "` is not a time per operation");
    }
    Forks forks = all.computeIfAbsent(key(file, result), fresh -> new Forks());
    forkMedians(primary).forEach(median -> forks.nanos.add(median * nanos));
    JsonNode secondary = result.path("secondaryMetrics");
    forks.heapBytes.addAll(forkMedians(secondary.path(HEAP_METRIC)));
    forks.faults.addAll(forkMedians(secondary.path(FaultsProfiler.METRIC)));
  }

  private static Measurement.Key key(Path file, JsonNode result) {
    Map<String, String> subject = new TreeMap<>();
    result
        .path("params")
        .properties()
        .forEach(param -> subject.put(param.getKey(), param.getValue().asText()));
    String rival = String.valueOf(subject.remove("rival"));
    // The same trace lies elsewhere on another machine.
    for (String trace : List.of("trace", "other")) {
      subject.computeIfPresent(trace, (name, path) -> path.substring(path.lastIndexOf('/') + 1));
    }
    String[] names = result.path("benchmark").asText().split("\\.", -1);
    if (names.length < 2) {
      throw new IllegalArgumentException(file + " names no benchmark");
    }
    try {
      return new Measurement.Key(
          names[names.length - 2],
          subject(subject),
          Rival.valueOf(rival),
          result.path("threads").asInt());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": `" + rival + "` is none of the rivals", e);
    }
  }

  private static String subject(Map<String, String> sorted) {
    return String.join(
        ",", sorted.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList());
  }

  private static List<Double> forkMedians(JsonNode metric) {
    List<Double> medians = new ArrayList<>();
    for (JsonNode fork : metric.path("rawData")) {
      List<Double> iterations = new ArrayList<>();
      fork.forEach(iteration -> iterations.add(iteration.asDouble()));
      median(iterations).ifPresent(medians::add);
    }
    return medians;
  }

  private static OptionalDouble median(List<Double> values) {
    return Measurement.median(values.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /** All, in the order of the files. */
  Collection<Measurement> all() {
    return byKey.values();
  }

  Optional<Measurement> pair(Rival rival, long sizeBytes, int threads) {
    return find("PairBenchmark", "sizeBytes=" + sizeBytes, rival, threads);
  }

  Optional<Measurement> mixed(Rival rival, int threads) {
    return find("MixedBenchmark", "", rival, threads);
  }

  Optional<Measurement> handover(Rival rival, long sizeBytes) {
    return find("HandoverBenchmark", "sizeBytes=" + sizeBytes, rival, 2);
  }

  Optional<Measurement> requests(Rival rival, String kind, long sizeBytes) {
    return find("VirtualThreadBenchmark", "kind=" + kind + ",sizeBytes=" + sizeBytes, rival, 1);
  }

  Optional<Measurement> step(Rival rival, String trace, Touch touch, int threads) {
    return find("StepBenchmark", "touch=" + touch + ",trace=" + trace, rival, threads);
  }

  Optional<Measurement> varying(
      Rival rival, String traffic, String trace, String other, int threads) {
    return find(
        "VaryingBenchmark",
        "other=" + other + ",touch=FIRST,trace=" + trace + ",traffic=" + traffic,
        rival,
        threads);
  }

  private Optional<Measurement> find(String benchmark, String subject, Rival rival, int threads) {
    return Optional.ofNullable(byKey.get(new Measurement.Key(benchmark, subject, rival, threads)));
  }
}
