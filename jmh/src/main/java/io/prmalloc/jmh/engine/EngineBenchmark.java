package io.prmalloc.jmh.engine;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * How much memory does ONNX Runtime use, and what does a run cost, if shapes vary and only its
 * allocator changes?
 *
 * <p>Each arm has a JVM of its own. One follows the other in each round, in an order that rotates,
 * so that a slow minute affects all of them.
 *
 * <p>Threading: one thread.
 */
public final class EngineBenchmark {

  /**
   * Medians of all rounds.
   *
   * @param equalOutputs whether every run's outputs were bit for bit those of {@link Arm#OWN}; null
   *     where that was not measured
   */
  private record Result(
      Arm arm,
      double endMebibytes,
      double peakMebibytes,
      double cpuMicros,
      double p50Millis,
      double p99Millis,
      double faults,
      double callPairs,
      Boolean equalOutputs) {}

  private final PrintStream out;
  private final Workload.Arguments arguments = new Workload.Arguments();

  /** What the processes of the arms are given. */
  private final List<String> passedOn = new ArrayList<>();

  private List<Arm> arms = List.of(Arm.values());
  private int rounds = 1;
  private int heapMebibytes = 256;
  private boolean json;
  private final Workload workload;

  private EngineBenchmark(List<String> given, PrintStream out) {
    this.out = out;
    Iterator<String> rest = given.iterator();
    while (rest.hasNext()) {
      String option = rest.next();
      if (option.equals("--json")) {
        json = true;
      } else if (rest.hasNext()) {
        set(option, rest.next());
      } else {
        throw new IllegalArgumentException("`" + option + "` is no option, or lacks its value");
      }
    }
    workload = arguments.build();
  }

  /**
   * Reads the command's arguments.
   *
   * <p>Threading: one thread.
   *
   * @param arguments of the command {@code engine}
   * @param out where the table or the JSON goes
   * @throws IllegalArgumentException if one is not understood
   */
  public static EngineBenchmark of(List<String> arguments, PrintStream out) {
    return new EngineBenchmark(arguments, out);
  }

  private void set(String option, String value) {
    switch (option) {
      case "--arms" -> arms = Arm.named(option, value);
      case "--rounds" -> rounds = (int) Numbers.of(option, value, 1, 1000);
      case "--heap" -> heapMebibytes = (int) Numbers.of(option, value, 16, 1 << 20);
      default -> {
        arguments.set(option, value);
        passedOn.add(option);
        passedOn.add(value);
      }
    }
  }

  /**
   * Runs all arms and prints what they took.
   *
   * <p>Threading: one thread.
   *
   * @return whether no arm's outputs differ from those of the engine's own memory
   * @throws IllegalArgumentException if a model does not fit its arguments
   * @throws UncheckedIOException if an arm fails
   */
  public boolean run() {
    Map<Arm, List<Measured>> measured = measure();
    List<Measured> own = measured.get(Arm.OWN);
    List<Result> results = arms.stream().map(arm -> result(arm, measured.get(arm), own)).toList();
    if (json) {
      printJson(results);
    } else {
      print(results, measured.get(arms.get(0)).get(0).engine());
    }
    return results.stream().noneMatch(each -> Boolean.FALSE.equals(each.equalOutputs()));
  }

  private Map<Arm, List<Measured>> measure() {
    Map<Arm, List<Measured>> measured = new EnumMap<>(Arm.class);
    List<Arm> order = new ArrayList<>(arms);
    for (int round = 0; round < rounds; round++) {
      for (Arm arm : order) {
        try {
          measured
              .computeIfAbsent(arm, fresh -> new ArrayList<>())
              .add(ArmProcess.run(arm, heapMebibytes, passedOn));
        } catch (IOException e) {
          throw new UncheckedIOException(arm.label() + ": " + e.getMessage(), e);
        }
      }
      Collections.rotate(order, 1);
    }
    return measured;
  }

  private static Result result(Arm arm, List<Measured> rounds, List<Measured> own) {
    Boolean equal =
        own == null
            ? null
            : rounds.stream()
                .allMatch(
                    each -> each.runsThatDiffer() == 0 && each.digest() == own.get(0).digest());
    return new Result(
        arm,
        median(rounds, Measured::endMebibytes),
        median(rounds, Measured::peakMebibytes),
        median(rounds, Measured::cpuMicros),
        median(rounds, Measured::p50Millis),
        median(rounds, Measured::p99Millis),
        median(rounds, Measured::faults),
        median(rounds, Measured::callPairs),
        equal);
  }

  private static double median(List<Measured> rounds, ToDoubleFunction<Measured> which) {
    double[] sorted = rounds.stream().mapToDouble(which).toArray();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private void printJson(List<Result> results) {
    ObjectNode root = new ObjectMapper().createObjectNode();
    var list = root.putArray("arms");
    for (Result each : results) {
      list.addObject()
          .put("arm", each.arm().label())
          .put("endMiB", rounded(each.endMebibytes()))
          .put("peakMiB", rounded(each.peakMebibytes()))
          .put("cpuMicrosPerRun", rounded(each.cpuMicros()))
          .put("p50Millis", rounded(each.p50Millis()))
          .put("p99Millis", rounded(each.p99Millis()))
          .put("faultsPerRun", rounded(each.faults()))
          .put("callPairsPerRun", rounded(each.callPairs()))
          .put("equalOutputs", each.equalOutputs());
    }
    out.println(root);
  }

  private static double rounded(double value) {
    return Math.round(value * 1000) / 1000.0;
  }

  private void print(List<Result> results, String engine) {
    out.printf(
        Locale.ROOT,
        "ONNX Runtime %s, Java %s; runs: %d, shapes of each model: %d, models: %d, threads: %d;"
            + " medians of %d%n",
        engine,
        Runtime.version().feature(),
        workload.runs(),
        workload.shapes(),
        workload.models().size(),
        workload.threads(),
        rounds);
    out.printf(
        "%n| arm | MiB at the end | peak | CPU ms/run | p50 ms | p99 ms | faults/run |"
            + " call pairs/run | outputs equal |%n");
    out.println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for (Result each : results) {
      out.printf(
          Locale.ROOT,
          "| %s | %.0f | %.0f | %.2f | %.2f | %.2f | %.0f | %.0f | %s |%n",
          each.arm().label(),
          each.endMebibytes(),
          each.peakMebibytes(),
          each.cpuMicros() / 1000,
          each.p50Millis(),
          each.p99Millis(),
          each.faults(),
          each.callPairs(),
          each.equalOutputs() == null ? "not compared" : each.equalOutputs() ? "yes" : "NO");
    }
  }
}
