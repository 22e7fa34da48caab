package io.prmalloc.example.client;

import io.prmalloc.example.EngineMemory;
import io.prmalloc.example.MemoryKind;
import io.prmalloc.example.RunFailedException;
import io.prmalloc.example.ServerLimits;
import io.prmalloc.example.ServerOptions;
import io.prmalloc.example.client.LoadRun.Load;
import io.prmalloc.example.client.LoadRun.Traffic;
import io.prmalloc.example.model.ModelFile;
import io.prmalloc.example.model.ModelFileOptions;
import io.prmalloc.example.model.OptionBounds;
import io.prmalloc.example.model.SampleNetwork;
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
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Compares the server on several kinds of memory. In each round the servers run one after the
 * other, in an order that rotates; the medians of the rounds are printed as a table. With a model
 * from a file the kinds are those of the engine's memory, and shapes are random.
 */
@Command(
    name = "load",
    mixinStandardHelpOptions = true,
    description = "Puts load on the example server and prints what it does with it.")
public final class LoadMain implements Runnable {

  private static final long MAX_REQUESTS = 1_000_000_000_000L;
  private static final int MAX_ROUNDS = 1_000;

  /** A day. */
  private static final long MAX_SECONDS = 86_400;

  @Spec private CommandSpec spec;

  @Mixin private ModelFileOptions modelOptions = new ModelFileOptions();

  @Option(
      names = "--allocators",
      split = ",",
      description = "of ${COMPLETION-CANDIDATES}; default all, with --model: one, pool")
  private List<MemoryKind> kinds;

  @Option(
      names = "--engine-memory",
      split = ",",
      description = "with --model: of ${COMPLETION-CANDIDATES}; default all")
  private List<EngineMemory> engines;

  @Option(names = "--requests", description = "with --model; default ${DEFAULT-VALUE}")
  private long requests = 1_000;

  @Option(names = "--seed", description = "of the shapes, with --model; default ${DEFAULT-VALUE}")
  private long seed = 1;

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

  private final Map<String, Map<String, List<Row>>> results = new LinkedHashMap<>();
  private final Map<String, Map<String, List<WrkRun>>> byWrk = new LinkedHashMap<>();

  /** All that are compared, in the order in which they are printed. */
  private final List<String> memories = new ArrayList<>();

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
      double residentMib,
      double peakMib) {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  public static CommandLine commandLine() {
    return RunFailedException.commandLine(new LoadMain());
  }

  @Override
  public void run() {
    ModelFile model = model();
    try {
      if (model == null) {
        compareAllocators();
      } else {
        compareEngineMemories(model);
      }
    } catch (IOException e) {
      throw new RunFailedException(RunFailedException.FAILED, e.getMessage(), e);
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

  /** What the options say, once they are known to be right. */
  private ModelFile model() {
    try {
      checkBounds();
      ModelFile model = modelOptions.toModelFile();
      if (model == null && engines != null) {
        throw new IllegalArgumentException(
            "--engine-memory " + engines + " is given without --model");
      }
      if (model != null && kinds != null && kinds.size() != 1) {
        throw new IllegalArgumentException(
            "--allocators " + kinds + " has " + kinds.size() + " kinds, with --model it has 1");
      }
      return model;
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), wrong.getMessage(), wrong);
    }
  }

  private void checkBounds() {
    OptionBounds.check("--requests", requests, 1, MAX_REQUESTS);
    OptionBounds.check("--rounds", rounds, 1, MAX_ROUNDS);
    OptionBounds.check("--connections", connections, 1, ServerLimits.DEFAULT.maxConnections());
    OptionBounds.check("--workers", workers, 1, ServerOptions.MAX_WORKERS);
    OptionBounds.check("--small", small, 0, MAX_REQUESTS);
    OptionBounds.check("--large", large, 0, MAX_REQUESTS);
    OptionBounds.check("--seconds", seconds, 1, MAX_SECONDS);
    OptionBounds.check("--wrk", wrkSeconds, 0, MAX_SECONDS);
  }

  private static String name(Enum<?> memory) {
    return memory.name().toLowerCase(Locale.ROOT);
  }

  private void compareAllocators() throws IOException, InterruptedException {
    List<MemoryKind> compared = kinds == null ? List.of(MemoryKind.values()) : kinds;
    compared.forEach(kind -> memories.add(name(kind)));
    if (wrkSeconds > 0 && !WrkRun.isInstalled()) {
      System.out.println("wrk is not installed: only our own client puts load on the server");
      wrkSeconds = 0;
    }
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < compared.size(); i++) {
        MemoryKind kind = compared.get((i + round) % compared.size());
        // Each model has a server of its own, as its warm-up is to be its own.
        measure(kind, "small", SampleNetwork.SMALL, small);
        measure(kind, "large", SampleNetwork.LARGE, large);
      }
    }
  }

  private void compareEngineMemories(ModelFile model) throws IOException, InterruptedException {
    List<EngineMemory> compared = engines == null ? List.of(EngineMemory.values()) : engines;
    compared.forEach(engine -> memories.add(name(engine)));
    MemoryKind kind = kinds == null ? MemoryKind.POOL : kinds.get(0);
    String title = model.file().getFileName() + " " + model.shapes();
    // One for all servers, so that their answers are compared with each other.
    ShapedLoad load = new ShapedLoad(ModelFile.NAME, model.shapes(), seed);
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < compared.size(); i++) {
        EngineMemory engine = compared.get((i + round) % compared.size());
        List<String> more = new ArrayList<>(ModelFileOptions.arguments(model));
        more.add("--engine-memory=" + name(engine));
        try (ServerProcess server = new ServerProcess(kind, workers, more)) {
          measure(server, title, name(engine), load.withSeed(~seed), load, requests);
        }
      }
    }
  }

  private void measure(MemoryKind kind, String model, SampleNetwork network, long requests)
      throws IOException, InterruptedException {
    if (requests == 0) {
      return;
    }
    try (ServerProcess server = new ServerProcess(kind, workers)) {
      byte[] request = LoadClient.request(model, network, 1, 1);
      Load load = Load.of(server.address(), request);
      measure(server, model, name(kind), load, load, requests);
      if (wrkSeconds > 0) {
        WrkRun wrk = WrkRun.of(server.address(), request, connections, wrkSeconds);
        System.err.println(model + " " + kind + " " + wrk);
        add(byWrk, model, name(kind), wrk);
      }
    }
  }

  private void measure(
      ServerProcess server,
      String model,
      String memory,
      Traffic warmUp,
      Traffic load,
      long requests)
      throws IOException, InterruptedException {
    LoadRun.of(server.address(), warmUp, connections, requests / 2, seconds);
    Map<String, Double> before = server.metrics();
    LoadRun run = LoadRun.of(server.address(), load, connections, requests, seconds);
    Map<String, Double> after = server.metrics();
    Row row = row(run, before, after);
    System.err.println(model + " " + memory + " " + row + pool(before, after));
    add(results, model, memory, row);
  }

  private static <T> void add(
      Map<String, Map<String, List<T>>> all, String model, String memory, T result) {
    all.computeIfAbsent(model, name -> new LinkedHashMap<>())
        .computeIfAbsent(memory, name -> new ArrayList<>())
        .add(result);
  }

  /** What became of the requests to the pool; nothing of other memory. */
  private static String pool(Map<String, Double> before, Map<String, Double> after) {
    StringBuilder text = new StringBuilder();
    for (String word : List.of("hit", "miss", "null_bin")) {
      String name = "prmalloc_requests_total{pool=\"server\",result=\"" + word + "\"}";
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
        after.get("process_resident_memory_bytes") / (1 << 20),
        after.get("process_resident_peak_bytes") / (1 << 20));
  }

  private void print(String model, Map<String, List<Row>> byMemory) {
    System.out.printf(
        Locale.ROOT,
        "%n%s%n%-9s %9s %10s %10s %10s %14s %14s %9s %9s %8s %8s%n",
        model,
        "memory",
        "requests/s",
        "p50 us",
        "p99 us",
        "p99.9 us",
        "CPU us/request",
        "faults/request",
        "GC pauses",
        "GC ms",
        "RSS MiB",
        "peak MiB");
    for (String memory : memories) {
      List<Row> rows = byMemory.get(memory);
      System.out.printf(
          Locale.ROOT,
          "%-9s %10.0f %10.0f %10.0f %10.0f %14.0f %14.2f %9.0f %9.0f %8.0f %8.0f%n",
          memory,
          median(rows, Row::perSecond),
          median(rows, Row::p50Micros),
          median(rows, Row::p99Micros),
          median(rows, Row::p999Micros),
          median(rows, Row::cpuMicrosPerRequest),
          median(rows, Row::faultsPerRequest),
          median(rows, Row::collections),
          median(rows, Row::collectionMillis),
          median(rows, Row::residentMib),
          median(rows, Row::peakMib));
    }
  }

  private void printWrk(String model, Map<String, List<WrkRun>> byMemory) {
    System.out.printf(
        Locale.ROOT,
        "%n%s, by wrk, %d s%n%-9s %10s %10s %10s %10s%n",
        model,
        wrkSeconds,
        "memory",
        "requests/s",
        "p50 us",
        "p99 us",
        "p99.9 us");
    for (String memory : memories) {
      List<WrkRun> runs = byMemory.get(memory);
      System.out.printf(
          Locale.ROOT,
          "%-9s %10.0f %10.0f %10.0f %10.0f%n",
          memory,
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
