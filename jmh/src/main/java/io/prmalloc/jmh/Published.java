package io.prmalloc.jmh;

import io.prmalloc.jmh.report.Report;
import io.prmalloc.jmh.rival.Rival;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Measures what the results page shows, slice by slice, and leaves JMH's files in a directory with
 * a note on the machine.
 *
 * <p>Threading: one thread.
 */
final class Published {

  // All slices in turn, and that as often as there are forks: a promise is a ratio of two slices,
  // and a virtual machine may be a fifth slower ten minutes later. If all forks of a slice ran one
  // after the other, its median would be that of its minute.

  private static final int WARM_UP_MILLIS = 250;

  /** A JVM's start and JMH's talk with it, on a quiet machine. */
  private static final int START_MILLIS = 600;

  private static final int SMOKE_MILLIS = 20;
  private static final Set<Rival> SMOKE_RIVALS =
      EnumSet.of(Rival.POOL_HANDLE, Rival.NETTY_ADAPTIVE);

  /** Traces beside the bundled one, below the directory of data. */
  private static final List<String> MODELS = List.of("mnn/Squeezenet@2", "mnn/MobilenetV2@4");

  private final PrintStream out;
  private Path directory = Path.of("target", "published");
  private Path data = Path.of("..", "shared", "data");
  private Set<String> only = Set.of();
  private Set<Rival> rivals = EnumSet.allOf(Rival.class);
  private int forks = 3;
  private boolean smoke;

  private Published(PrintStream out) {
    this.out = out;
  }

  /**
   * Reads the command's arguments.
   *
   * @throws IllegalArgumentException if one is not understood
   */
  static Published of(List<String> arguments, PrintStream out) {
    Published published = new Published(out);
    Iterator<String> rest = arguments.iterator();
    while (rest.hasNext()) {
      String option = rest.next();
      if (option.equals("--smoke")) {
        published.smoke = true;
      } else if (rest.hasNext()) {
        published.set(option, rest.next());
      } else {
        throw new IllegalArgumentException("`" + option + "` is no option, or lacks its value");
      }
    }
    return published;
  }

  private void set(String option, String value) {
    switch (option) {
      case "--out" -> directory = Path.of(value);
      case "--data" -> data = Path.of(value);
      case "--only" -> only = Set.copyOf(Arrays.asList(value.split(",", -1)));
      case "--rivals" -> rivals = rivals(value);
      case "--forks" -> forks = forks(value);
      default -> throw new IllegalArgumentException("`" + option + "` is no option");
    }
  }

  private static Set<Rival> rivals(String names) {
    try {
      return Arrays.stream(names.split(",", -1))
          .map(Rival::valueOf)
          .collect(Collectors.toCollection(() -> EnumSet.noneOf(Rival.class)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "`" + names + "` names a rival that is none of " + Arrays.toString(Rival.values()), e);
    }
  }

  private static int forks(String number) {
    if (!number.matches("[1-9][0-9]?")) {
      throw new IllegalArgumentException("`" + number + "` forks are not 1 to 99");
    }
    return Integer.parseInt(number);
  }

  /** What will run here. */
  List<Slice> slices() {
    List<Slice> all = Slice.all(smoke ? List.of() : models());
    Set<String> names = all.stream().map(Slice::name).collect(Collectors.toSet());
    if (!names.containsAll(only)) {
      throw new IllegalArgumentException("slices " + only + " are not all among " + names);
    }
    Set<Rival> present = present();
    List<Slice> slices = new ArrayList<>();
    for (Slice slice : all) {
      Slice here = (smoke ? slice.firstOnly().among(SMOKE_RIVALS) : slice).among(present);
      if ((only.isEmpty() || only.contains(slice.name())) && !here.rivals().isEmpty()) {
        slices.add(here);
      }
    }
    return slices;
  }

  private List<String> models() {
    List<String> models = new ArrayList<>();
    for (String model : MODELS) {
      Path path = data.resolve(model);
      if (Files.exists(path.resolveSibling(path.getFileName().toString().replaceAll("@.*", "")))) {
        models.add(path.toString());
      } else {
        out.println(model + " is skipped: it is not in " + data);
      }
    }
    return models;
  }

  private Set<Rival> present() {
    Set<Rival> present = EnumSet.noneOf(Rival.class);
    for (Rival rival : rivals) {
      if (smoke && !SMOKE_RIVALS.contains(rival)) {
        continue;
      }
      Optional<String> missing = rival.missing();
      missing.ifPresent(reason -> out.println(rival + " is skipped: " + reason));
      if (missing.isEmpty()) {
        present.add(rival);
      }
    }
    if (!VirtualThreadBenchmark.virtualThreadsArePresent()) {
      out.println("virtual threads are skipped: they need JDK 21 or later");
    }
    return present;
  }

  /**
   * Runs all and writes the results.
   *
   * @return whether everything that was to be measured was; what was not is named
   */
  boolean run() throws RunnerException {
    List<Slice> slices = slices();
    int settings = slices.stream().mapToInt(Slice::settings).sum();
    out.printf(
        Locale.ROOT,
        "%d settings, about %.1f minutes on a quiet machine, into %s%n",
        settings,
        millis(slices) / 60_000.0,
        directory);
    if (smoke) {
      System.setProperty("jmh.ignoreLock", "true");
    }
    Machine machine = Machine.before();
    Map<Slice, List<RunResult>> results = new LinkedHashMap<>();
    try {
      Files.createDirectories(directory);
      for (int round = 1; round <= rounds(); round++) {
        for (Slice slice : slices) {
          long start = System.nanoTime();
          List<RunResult> all = results.computeIfAbsent(slice, fresh -> new ArrayList<>());
          int before = all.size();
          all.addAll(measure(slice, round, machine));
          write(slice, all);
          out.printf(
              "round %d: %-10s %3d of %d settings, %d s%n",
              round,
              slice.name(),
              all.size() - before,
              slice.settings(),
              (System.nanoTime() - start) / 1_000_000_000);
        }
      }
      try (OutputStream file = Files.newOutputStream(directory.resolve(Report.ENVIRONMENT_FILE))) {
        machine.after().store(file, null);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int failed = settings * rounds() - results.values().stream().mapToInt(List::size).sum();
    if (failed > 0) {
      out.printf("%d forks failed; why is in the logs beside the results%n", failed);
    }
    return failed == 0;
  }

  private int rounds() {
    return smoke ? 1 : forks;
  }

  private Collection<RunResult> measure(Slice slice, int round, Machine machine)
      throws RunnerException {
    Runner runner = new Runner(options(slice, round));
    if (slice.threads() == 1) {
      return runner.run();
    }
    machine.measureCacheLine(slice.name());
    Collection<RunResult> measured = runner.run();
    machine.measureCacheLine(slice.name());
    return measured;
  }

  /** All rounds so far: each fork is a result of its own. */
  private void write(Slice slice, List<RunResult> results) {
    ResultFormatFactory.getInstance(
            ResultFormatType.JSON, directory.resolve(slice.name() + ".json").toString())
        .writeOut(results);
  }

  /** How long that takes where every fork has a processor and more for itself. */
  long millis(List<Slice> slices) {
    long sum = 0;
    for (Slice slice : slices) {
      long fork =
          smoke
              ? START_MILLIS + 2 * SMOKE_MILLIS
              : START_MILLIS
                  + slice.timing().warmUps() * WARM_UP_MILLIS
                  + (long) slice.timing().iterations() * slice.timing().measuredMillis();
      sum += slice.settings() * fork * rounds();
    }
    return sum;
  }

  private Options options(Slice slice, int round) {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("\\." + slice.benchmark().getSimpleName() + "\\.")
            .forks(1)
            .warmupIterations(smoke ? 1 : slice.timing().warmUps())
            .warmupTime(TimeValue.milliseconds(smoke ? SMOKE_MILLIS : WARM_UP_MILLIS))
            .measurementIterations(smoke ? 1 : slice.timing().iterations())
            .measurementTime(
                TimeValue.milliseconds(smoke ? SMOKE_MILLIS : slice.timing().measuredMillis()))
            .param("rival", slice.rivals().stream().map(Rival::name).toArray(String[]::new))
            .output(directory.resolve(slice.name() + "-" + round + ".log").toString());
    if (slice.benchmark() != HandoverBenchmark.class) {
      options.threads(slice.threads());
    }
    slice.params().forEach((param, values) -> options.param(param, values.toArray(new String[0])));
    if (smoke) {
      // Whether it runs, and not how fast: it takes longer to make a large heap resident.
      options.jvmArgsAppend("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m");
    }
    if (slice.costs()) {
      options.addProfiler(GCProfiler.class).addProfiler(FaultsProfiler.class);
    }
    return options.build();
  }
}
