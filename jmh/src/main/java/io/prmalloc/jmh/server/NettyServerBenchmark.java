package io.prmalloc.jmh.server;

import io.prmalloc.jmh.server.ServerProcess.Usage;
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

/**
 * How many requests does a Netty server answer, and how much memory does it use, if only its
 * allocator changes? Bodies of several MiB, reads of 64 KiB, no steps.
 *
 * <p>Each server has a JVM of its own. One follows the other in each round, in an order that
 * rotates, so that a slow minute affects all of them.
 *
 * <p>Threading: one thread.
 */
public final class NettyServerBenchmark {

  private static final int MEBIBYTE = 1 << 20;
  private static final int WARM_UP_WINDOWS = 2;

  /**
   * Medians of several runs.
   *
   * @param requests answered in a second
   * @param cpuMillis processor time of the server for a request
   * @param faults of the server for a request
   * @param loadedMebibytes in memory under load, at the end of a window
   * @param idleMebibytes in memory when the last request was answered
   * @param peakMebibytes the most in memory at any time
   */
  record Result(
      double requests,
      double cpuMillis,
      double faults,
      double loadedMebibytes,
      double idleMebibytes,
      double peakMebibytes) {}

  private final PrintStream out;
  private List<Buffers> buffers = List.of(Buffers.values());
  private List<Gathering> gatherings = List.of(Gathering.values());
  private int connections = 4;
  private int threads = 2;
  private int leastBytes = 4 * MEBIBYTE;
  private int mostBytes = 16 * MEBIBYTE;
  private int rounds = 3;
  private int windows = 5;
  private int windowMillis = 1000;

  private NettyServerBenchmark(PrintStream out) {
    this.out = out;
  }

  /**
   * Reads the command's arguments.
   *
   * @param arguments of the command {@code netty-server}
   * @param out where the tables go
   * @throws IllegalArgumentException if one is not understood
   */
  public static NettyServerBenchmark of(List<String> arguments, PrintStream out) {
    NettyServerBenchmark benchmark = new NettyServerBenchmark(out);
    Iterator<String> rest = arguments.iterator();
    while (rest.hasNext()) {
      String option = rest.next();
      if (option.equals("--smoke")) {
        benchmark.rounds = 1;
        benchmark.windows = 1;
        benchmark.windowMillis = 50;
        benchmark.gatherings = List.of(Gathering.COMPOSITE);
      } else if (rest.hasNext()) {
        benchmark.set(option, rest.next());
      } else {
        throw new IllegalArgumentException("`" + option + "` is no option, or lacks its value");
      }
    }
    if (benchmark.leastBytes > benchmark.mostBytes) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "--least of %d MiB is above --most of %d MiB",
              benchmark.leastBytes / MEBIBYTE,
              benchmark.mostBytes / MEBIBYTE));
    }
    return benchmark;
  }

  private void set(String option, String value) {
    switch (option) {
      case "--buffers" -> buffers = named(Buffers.class, value);
      case "--gathering" -> gatherings = named(Gathering.class, value);
      case "--connections" -> connections = number(option, value, 1000);
      case "--threads" -> threads = number(option, value, 1000);
      case "--least" -> leastBytes = number(option, value, 512) * MEBIBYTE;
      case "--most" -> mostBytes = number(option, value, 512) * MEBIBYTE;
      case "--rounds" -> rounds = number(option, value, 1000);
      case "--windows" -> windows = number(option, value, 1000);
      case "--millis" -> windowMillis = number(option, value, 600_000);
      default -> throw new IllegalArgumentException("`" + option + "` is no option");
    }
  }

  private static <E extends Enum<E>> List<E> named(Class<E> type, String names) {
    try {
      return Arrays.stream(names.split(",", -1)).map(name -> Enum.valueOf(type, name)).toList();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "`" + names + "` has a name that is none of " + Arrays.toString(type.getEnumConstants()),
          e);
    }
  }

  private static int number(String option, String value, int most) {
    if (!value.matches("[1-9][0-9]{0,5}") || Integer.parseInt(value) > most) {
      throw new IllegalArgumentException(option + " is `" + value + "`, not 1 to " + most);
    }
    return Integer.parseInt(value);
  }

  /**
   * Runs all servers and prints a table for each way to gather a body.
   *
   * @throws UncheckedIOException if a server or a client fails, or an answer is wrong
   */
  public void run() {
    out.printf(
        Locale.ROOT,
        "bodies of %d to %d MiB, reads of %d KiB, %d connections, %d event loops;"
            + " medians of %d rounds of %d windows of %d ms%n",
        leastBytes / MEBIBYTE,
        mostBytes / MEBIBYTE,
        BodyServer.READ_BYTES >> 10,
        connections,
        threads,
        rounds,
        windows,
        windowMillis);
    Bodies bodies = new Bodies(mostBytes);
    for (Gathering gathering : gatherings) {
      print(gathering, measure(gathering, bodies));
    }
  }

  private Map<Buffers, List<Result>> measure(Gathering gathering, Bodies bodies) {
    Map<Buffers, List<Result>> results = new EnumMap<>(Buffers.class);
    List<Buffers> order = new ArrayList<>(buffers);
    for (int round = 0; round < rounds; round++) {
      for (Buffers each : order) {
        try {
          Result result = measure(each, gathering, bodies);
          results.computeIfAbsent(each, any -> new ArrayList<>()).add(result);
        } catch (IOException e) {
          throw new UncheckedIOException(each + ": " + e.getMessage(), e);
        }
      }
      Collections.rotate(order, 1);
    }
    return results;
  }

  private Result measure(Buffers each, Gathering gathering, Bodies bodies) throws IOException {
    try (ServerProcess server = new ServerProcess(each, gathering, threads)) {
      double[] requests = new double[windows];
      double[] loaded = new double[windows];
      Usage before;
      long answered;
      try (Clients clients =
          new Clients(server.port(), connections, bodies, leastBytes, mostBytes)) {
        for (int window = 0; window < WARM_UP_WINDOWS; window++) {
          perSecond(clients);
        }
        before = server.usage();
        answered = clients.answers();
        for (int window = 0; window < windows; window++) {
          requests[window] = perSecond(clients);
          loaded[window] = (double) server.usage().residentBytes() / MEBIBYTE;
        }
        answered = clients.answers() - answered;
      }
      Usage after = server.usage();
      return new Result(
          median(requests),
          (double) (after.cpuMillis() - before.cpuMillis()) / answered,
          (double) (after.faults() - before.faults()) / answered,
          median(loaded),
          (double) after.residentBytes() / MEBIBYTE,
          (double) after.peakBytes() / MEBIBYTE);
    }
  }

  /**
   * Lets a window pass, or several until there was an answer; how many requests were answered in a
   * second of it.
   */
  private double perSecond(Clients clients) throws IOException {
    long start = System.nanoTime();
    long before = clients.answers();
    do {
      clients.check();
      try {
        Thread.sleep(windowMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    } while (clients.answers() == before);
    return (clients.answers() - before) * 1e9 / (System.nanoTime() - start);
  }

  static double median(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private void print(Gathering gathering, Map<Buffers, List<Result>> results) {
    out.printf(
        "%n| %s | requests/s | CPU ms/request | faults/request | RSS MiB | at the end | peak |%n",
        gathering.name().toLowerCase(Locale.ROOT));
    out.println("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    results.forEach(
        (each, runs) ->
            out.printf(
                Locale.ROOT,
                "| %s | %.1f | %.2f | %.1f | %.0f | %.0f | %.0f |%n",
                each.label(),
                median(runs.stream().mapToDouble(Result::requests).toArray()),
                median(runs.stream().mapToDouble(Result::cpuMillis).toArray()),
                median(runs.stream().mapToDouble(Result::faults).toArray()),
                median(runs.stream().mapToDouble(Result::loadedMebibytes).toArray()),
                median(runs.stream().mapToDouble(Result::idleMebibytes).toArray()),
                median(runs.stream().mapToDouble(Result::peakMebibytes).toArray())));
  }
}
