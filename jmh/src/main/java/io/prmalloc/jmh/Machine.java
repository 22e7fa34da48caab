package io.prmalloc.jmh;

import io.prmalloc.internal.os.OperatingSystem;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;

/**
 * What a measurement depends on beside the code: the machine, its operating system, and the load of
 * other processes.
 *
 * <p>Threading: one thread.
 */
final class Machine {

  /** Settings that change what malloc does. */
  private static final List<String> VARIABLES =
      List.of("MALLOC_MMAP_THRESHOLD_", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "LD_PRELOAD");

  private final double loadBefore;

  /** What a journey of a {@link CacheLine} took before and after each slice of several threads. */
  private final Map<String, List<Double>> journeys = new LinkedHashMap<>();

  private Machine(double loadBefore) {
    this.loadBefore = loadBefore;
  }

  /** To be called before anything runs. */
  static Machine before() {
    return new Machine(load());
  }

  /**
   * To be called before and after what several threads are measured in, for how far their
   * processors are from each other may change meanwhile.
   *
   * @param slice what it is called
   */
  void measureCacheLine(String slice) {
    CacheLine.journeyNanos()
        .ifPresent(nanos -> journeys.computeIfAbsent(slice, any -> new ArrayList<>()).add(nanos));
  }

  private static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  /** To be called when all is done. */
  Properties after() {
    Properties properties = new Properties();
    properties.setProperty("Date", LocalDate.now(ZoneOffset.UTC).toString());
    properties.setProperty("Commit", commit());
    properties.setProperty(
        "JDK", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    properties.setProperty(
        "CPU", cpu() + ", " + Runtime.getRuntime().availableProcessors() + " cores");
    properties.setProperty("Memory", memory());
    properties.setProperty(
        "System",
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + ", "
            + said("getconf", "GNU_LIBC_VERSION").orElse("C library unknown")
            + ", huge pages: "
            + OperatingSystem.hugePageMode().toString().toLowerCase(Locale.ROOT));
    // The machine's own doing raises the second by one or two.
    properties.setProperty(
        "Load", String.format(Locale.ROOT, "%.1f before, %.1f after", loadBefore, load()));
    if (!journeys.isEmpty()) {
      properties.setProperty("Cache line's journey", journeys());
    }
    for (String variable : VARIABLES) {
      Optional.ofNullable(System.getenv(variable))
          .ifPresent(value -> properties.setProperty(variable, value));
    }
    return properties;
  }

  private String journeys() {
    return journeys.entrySet().stream()
        .map(slice -> slice.getKey() + " " + range(slice.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static String range(List<Double> nanos) {
    String least = String.format(Locale.ROOT, "%.0f", Collections.min(nanos));
    String most = String.format(Locale.ROOT, "%.0f", Collections.max(nanos));
    return (least.equals(most) ? "" : least + " to ") + most + " ns";
  }

  private static String commit() {
    String changed = said("git", "status", "--porcelain").orElse("").isEmpty() ? "" : ", changed";
    return said("git", "rev-parse", "--short=10", "HEAD").map(id -> id + changed).orElse("unknown");
  }

  private static String cpu() {
    return line("/proc/cpuinfo", "model name").orElse(System.getProperty("os.arch"));
  }

  private static String memory() {
    return line("/proc/meminfo", "MemTotal")
        .map(text -> text.replace(" kB", ""))
        .map(kibibytes -> Math.round(Long.parseLong(kibibytes) / 1048576.0) + " GiB")
        .orElse("unknown");
  }

  /** What stands behind the colon in the first line that begins so. */
  private static Optional<String> line(String file, String beginning) {
    try {
      return Files.readAllLines(Path.of(file)).stream()
          .filter(text -> text.startsWith(beginning))
          .map(text -> text.substring(text.indexOf(':') + 1).strip())
          .findFirst();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** What a program prints, if it is there and ends well. */
  private static Optional<String> said(String... command) {
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      String text =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return process.waitFor() == 0 ? Optional.of(text) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
