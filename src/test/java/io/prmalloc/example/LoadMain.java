package io.prmalloc.example;

import io.prmalloc.example.LoadRun.Load;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Compares the server on several kinds of memory, side by side: in each round one server after the
 * other, in an order that turns; the medians of the rounds are printed as a table.
 */
@Command(
    name = "load",
    mixinStandardHelpOptions = true,
    description = "Puts load on the example server and prints what it does with it.")
public final class LoadMain implements Runnable {

  @Option(names = "--allocators", split = ",", description = "default ${DEFAULT-VALUE}")
  private List<MemoryKind> kinds = List.of(MemoryKind.values());

  @Option(names = "--rounds", description = "default ${DEFAULT-VALUE}")
  private int rounds = 3;

  @Option(names = "--connections", description = "default ${DEFAULT-VALUE}")
  private int connections = 4;

  @Option(names = "--workers", description = "of the server; default ${DEFAULT-VALUE}")
  private int workers = 2;

  @Option(names = "--small", description = "requests of 12 KiB; default ${DEFAULT-VALUE}")
  private long small = 30_000;

  @Option(names = "--large", description = "requests of 4 MiB; default ${DEFAULT-VALUE}")
  private long large = 3_000;

  @Option(names = "--seconds", description = "bound of each run; default ${DEFAULT-VALUE}")
  private long seconds = 60;

  @Option(
      names = "--wrk",
      description = "seconds of each run by wrk, where it is installed; default ${DEFAULT-VALUE}")
  private long wrkSeconds = 5;

  private final Map<String, Map<MemoryKind, List<WrkRun>>> byWrk = new LinkedHashMap<>();

  /** What one run showed. */
  private record Row(
      double perSecond,
      double p50Micros,
      double p99Micros,
      double p999Micros,
      double cpuMicrosPerRequest,
      double faultsPerRequest,
      double collections,
      double collectionMillis,
      double residentMib) {}

  public static void main(String[] arguments) {
    System.exit(
        new CommandLine(new LoadMain())
            .setCaseInsensitiveEnumValuesAllowed(true)
            .execute(arguments));
  }

  @Override
  public void run() {
    Map<String, Map<MemoryKind, List<Row>>> results = new LinkedHashMap<>();
    try {
      if (wrkSeconds > 0 && !WrkRun.isInstalled()) {
        System.out.println("wrk is not installed: only our own client puts load on the server");
        wrkSeconds = 0;
      }
      for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < kinds.size(); i++) {
          measure(kinds.get((i + round) % kinds.size()), results);
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    System.out.printf(
        Locale.ROOT,
        "%s, %d processors, %d connections, %d workers, medians of %d rounds%n",
        Runtime.version(),
        Runtime.getRuntime().availableProcessors(),
        connections,
        workers,
        rounds);
    results.forEach(this::print);
    byWrk.forEach(this::printWrk);
  }

  private void measure(MemoryKind kind, Map<String, Map<MemoryKind, List<Row>>> results)
      throws IOException, InterruptedException {
    // Each model has a server of its own, as its warm-up is to be its own.
    measure(kind, "small", SampleNetwork.SMALL, small, results);
    measure(kind, "large", SampleNetwork.LARGE, large, results);
  }

  private void measure(
      MemoryKind kind,
      String model,
      SampleNetwork network,
      long requests,
      Map<String, Map<MemoryKind, List<Row>>> results)
      throws IOException, InterruptedException {
    if (requests == 0) {
      return;
    }
    try (ServerProcess server = new ServerProcess(kind, workers)) {
      byte[] request = LoadClient.request(model, network, 1, 1);
      Load load = Load.of(server.address(), request);
      LoadRun.of(server.address(), load, connections, requests / 2, seconds);
      Map<String, Double> before = server.metrics();
      LoadRun run = LoadRun.of(server.address(), load, connections, requests, seconds);
      Map<String, Double> after = server.metrics();
      Row row = row(run, before, after);
      System.err.println(model + " " + kind + " " + row + pool(before, after));
      results
          .computeIfAbsent(model, name -> new LinkedHashMap<>())
          .computeIfAbsent(kind, name -> new ArrayList<>())
          .add(row);
      if (wrkSeconds > 0) {
        WrkRun wrk = WrkRun.of(server.address(), request, connections, wrkSeconds);
        System.err.println(model + " " + kind + " " + wrk);
        byWrk
            .computeIfAbsent(model, name -> new LinkedHashMap<>())
            .computeIfAbsent(kind, name -> new ArrayList<>())
            .add(wrk);
      }
    }
  }

  /** What became of the requests to the pool; nothing of other memory. */
  private static String pool(Map<String, Double> before, Map<String, Double> after) {
    StringBuilder text = new StringBuilder();
    for (String word : List.of("hits", "misses", "null_bins")) {
      String name = "prmalloc_" + word + "_total";
      if (after.containsKey(name)) {
        text.append(
            String.format(Locale.ROOT, " %s %.0f", word, after.get(name) - before.get(name)));
      }
    }
    return text.toString();
  }

  private static Row row(LoadRun run, Map<String, Double> before, Map<String, Double> after) {
    ToDoubleFunction<String> grown = name -> after.get(name) - before.get(name);
    return new Row(
        run.requests() * 1e9 / run.nanos(),
        run.latencies().getValueAtPercentile(50) / 1e3,
        run.latencies().getValueAtPercentile(99) / 1e3,
        run.latencies().getValueAtPercentile(99.9) / 1e3,
        grown.applyAsDouble("process_cpu_seconds_total") * 1e6 / run.requests(),
        grown.applyAsDouble("process_minor_faults_total") / run.requests(),
        grown.applyAsDouble("jvm_gc_collections_total"),
        grown.applyAsDouble("jvm_gc_seconds_total") * 1e3,
        after.get("process_resident_memory_bytes") / (1 << 20));
  }

  private void print(String model, Map<MemoryKind, List<Row>> byKind) {
    System.out.printf(
        Locale.ROOT,
        "%n%s%n%-9s %9s %10s %10s %10s %14s %14s %9s %9s %8s%n",
        model,
        "allocator",
        "requests/s",
        "p50 us",
        "p99 us",
        "p99.9 us",
        "CPU us/request",
        "faults/request",
        "GC pauses",
        "GC ms",
        "RSS MiB");
    for (MemoryKind kind : kinds) {
      List<Row> rows = byKind.get(kind);
      System.out.printf(
          Locale.ROOT,
          "%-9s %10.0f %10.0f %10.0f %10.0f %14.0f %14.2f %9.0f %9.0f %8.0f%n",
          kind.name().toLowerCase(Locale.ROOT),
          median(rows, Row::perSecond),
          median(rows, Row::p50Micros),
          median(rows, Row::p99Micros),
          median(rows, Row::p999Micros),
          median(rows, Row::cpuMicrosPerRequest),
          median(rows, Row::faultsPerRequest),
          median(rows, Row::collections),
          median(rows, Row::collectionMillis),
          median(rows, Row::residentMib));
    }
  }

  private void printWrk(String model, Map<MemoryKind, List<WrkRun>> byKind) {
    System.out.printf(
        Locale.ROOT,
        "%n%s, by wrk, %d s%n%-9s %10s %10s %10s %10s%n",
        model,
        wrkSeconds,
        "allocator",
        "requests/s",
        "p50 us",
        "p99 us",
        "p99.9 us");
    for (MemoryKind kind : kinds) {
      List<WrkRun> runs = byKind.get(kind);
      System.out.printf(
          Locale.ROOT,
          "%-9s %10.0f %10.0f %10.0f %10.0f%n",
          kind.name().toLowerCase(Locale.ROOT),
          median(runs, WrkRun::perSecond),
          median(runs, WrkRun::p50Micros),
          median(runs, WrkRun::p99Micros),
          median(runs, WrkRun::p999Micros));
    }
  }

  private static <T> double median(List<T> rows, ToDoubleFunction<T> field) {
    double[] values = rows.stream().mapToDouble(field).toArray();
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
