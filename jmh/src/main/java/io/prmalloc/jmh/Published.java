package io.prmalloc.jmh;

import io.prmalloc.jmh.report.Report;
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
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
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
    int results = 0;
    try {
      Files.createDirectories(directory);
      for (Slice slice : slices) {
        long start = System.nanoTime();
        Collection<RunResult> measured = measure(slice, machine);
        out.printf(
            "%-10s %3d of %d settings, %d s%n",
            slice.name(),
            measured.size(),
            slice.settings(),
            (System.nanoTime() - start) / 1_000_000_000);
        results += measured.size();
      }
      try (OutputStream file = Files.newOutputStream(directory.resolve(Report.ENVIRONMENT_FILE))) {
        machine.after().store(file, null);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (results < settings) {
      out.printf("%d settings failed; why is in the logs beside the results%n", settings - results);
    }
    return results == settings;
  }

  private Collection<RunResult> measure(Slice slice, Machine machine) throws RunnerException {
    if (slice.threads() == 1) {
      return new Runner(options(slice)).run();
    }
    machine.measureCacheLine(slice.name());
    Collection<RunResult> measured = new Runner(options(slice)).run();
    machine.measureCacheLine(slice.name());
    return measured;
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
      sum += slice.settings() * fork * (smoke ? 1 : forks);
    }
    return sum;
  }

  private Options options(Slice slice) {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("\\." + slice.benchmark().getSimpleName() + "\\.")
            .forks(smoke ? 1 : forks)
            .warmupIterations(smoke ? 1 : slice.timing().warmUps())
            .warmupTime(TimeValue.milliseconds(smoke ? SMOKE_MILLIS : WARM_UP_MILLIS))
            .measurementIterations(smoke ? 1 : slice.timing().iterations())
            .measurementTime(
                TimeValue.milliseconds(smoke ? SMOKE_MILLIS : slice.timing().measuredMillis()))
            .param("rival", slice.rivals().stream().map(Rival::name).toArray(String[]::new))
            .resultFormat(ResultFormatType.JSON)
            .result(directory.resolve(slice.name() + ".json").toString())
            .output(directory.resolve(slice.name() + ".log").toString());
    if (slice.benchmark() != HandoverBenchmark.class) {
      options.threads(slice.threads());
    }
    slice.params().forEach((param, values) -> options.param(param, values.toArray(new String[0])));
    if (slice.costs()) {
      options.addProfiler(GCProfiler.class).addProfiler(FaultsProfiler.class);
    }
    return options.build();
  }
}
