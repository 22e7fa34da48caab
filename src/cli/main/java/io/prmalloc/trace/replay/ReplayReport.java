package io.prmalloc.trace.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.Allocator;
import io.prmalloc.model.Counted;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.TextTable;
import io.prmalloc.trace.Trace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Shows the runs of a replay, to people or to programs.
 *
 * <p>Threading: immutable.
 *
 * @param input what the user called the trace
 * @param trace the step
 * @param options how it was replayed
 * @param runs what came out, in order
 */
public record ReplayReport(String input, Trace trace, ReplayOptions options, List<ReplayRun> runs) {

  /** Threading: any thread. */
  public ReplayReport {
    runs = List.copyOf(runs);
  }

  /** What went wrong, one sentence for each run that failed. Threading: any thread. */
  public List<String> failures() {
    List<String> failures = new ArrayList<>();
    for (ReplayRun run : runs) {
      run.failure().ifPresent(reason -> failures.add(run.allocator().label() + ": " + reason));
    }
    return failures;
  }

  /**
   * One JSON document on one line, as the command line contract has it. The lower bound is the load
   * with sizes rounded up to 64 bytes. A run that was not measured has the key {@code skipped} or
   * {@code failed}, with the reason, in place of the figures; one that failed when it was over, as
   * where its plan is not written, has both. What only the pool can tell is null for the others.
   *
   * <p>Threading: any thread.
   */
  public String json() {
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("input", input);
          json.writeNumberField("eventsPerStep", trace.eventCount());
          json.writeNumberField("lowerBoundBytes", lowerBoundBytes());
          json.writeNumberField("loadBytes", trace.loadBytes());
          json.writeStringField("touch", ReportValues.label(options.touch()));
          json.writeStringField("api", ReportValues.label(options.api()));
          json.writeStringField("memory", ReportValues.label(options.memory()));
          json.writeArrayFieldStart("runs");
          for (ReplayRun run : runs) {
            writeRun(json, run);
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  /**
   * One run as {@link #json} has it.
   *
   * <p>Threading: any thread.
   */
  public static String json(ReplayRun run) {
    return JsonText.of(json -> writeRun(json, run));
  }

  private static void writeRun(JsonGenerator json, ReplayRun run) throws IOException {
    json.writeStartObject();
    boolean planned = run.allocator() == ReplayAllocator.PLANNED;
    json.writeStringField("allocator", (planned ? ReplayAllocator.POOL : run.allocator()).label());
    if (planned) {
      json.writeBooleanField("planned", true);
    }
    json.writeNumberField("threads", run.threads());
    json.writeNumberField("steps", run.steps());
    if (run.skipped().isPresent()) {
      json.writeStringField("skipped", run.skipped().get());
    }
    if (run.failure().isPresent()) {
      json.writeStringField("failed", run.failure().get());
    }
    if (run.measured().isPresent()) {
      writeMeasured(json, run.measured().get());
    }
    if (run.cold().isPresent()) {
      ReplayRun.FromCold cold = run.cold().get();
      writeTimes(json, "firstHundredMicrosPerStep", cold.firstHundred());
      writeTimes(json, "steadyMicrosPerStep", cold.steady());
      json.writeNumberField("startRssBytes", cold.startRssBytes());
      json.writeNumberField("endRssBytes", cold.endRssBytes());
    }
    json.writeEndObject();
  }

  private static void writeTimes(JsonGenerator json, String key, ReplayRun.Percentiles micros)
      throws IOException {
    json.writeObjectFieldStart(key);
    json.writeNumberField("p50", ReportValues.rounded(micros.p50()));
    json.writeNumberField("p99", ReportValues.rounded(micros.p99()));
    json.writeNumberField("max", ReportValues.rounded(micros.max()));
    json.writeEndObject();
  }

  private static void writeMeasured(JsonGenerator json, ReplayRun.Measured measured)
      throws IOException {
    writeTimes(
        json,
        "microsPerStep",
        new ReplayRun.Percentiles(
            measured.p50Micros(), measured.p99Micros(), measured.maxMicros()));
    json.writeNumberField("nanosPerPair", ReportValues.rounded(measured.nanosPerPair()));
    json.writeNumberField(
        "minorFaultsPerStep", ReportValues.rounded(measured.minorFaultsPerStep()));
    json.writeNumberField(
        "majorFaultsPerStep", ReportValues.rounded(measured.majorFaultsPerStep()));
    json.writeNumberField("heapBytesPerStep", ReportValues.rounded(measured.heapBytesPerStep()));
    json.writeNumberField("peakReservedBytes", measured.peakReservedBytes());
    json.writeNumberField("peakRssBytes", measured.peakRssBytes());
    if (measured.pool().isPresent()) {
      ReplayRun.PoolCounts pool = measured.pool().get();
      json.writeNumberField("hits", pool.hits());
      json.writeNumberField("misses", pool.misses());
      json.writeNumberField("nullBins", pool.nullBins());
      json.writeNumberField("policyIntervalBytes", pool.policyIntervalBytes());
      json.writeNumberField("warmupSteps", measured.warmupSteps());
      json.writeBooleanField("pooling", pool.pooling());
      json.writeNumberField("planBytes", pool.planBytes());
      json.writeNumberField("addedBlocks", pool.addedBlocks());
      json.writeNumberField("arenaBytes", pool.arenaBytes());
    } else {
      json.writeNullField("hits");
      json.writeNullField("misses");
      json.writeNullField("nullBins");
      json.writeNullField("policyIntervalBytes");
      json.writeNumberField("warmupSteps", measured.warmupSteps());
    }
    if (measured.planned().isPresent()) {
      ReplayRun.StepCounts steps = measured.planned().get();
      json.writeNumberField("plannedSteps", steps.plannedSteps());
      json.writeNumberField("departedSteps", steps.departedSteps());
      json.writeNumberField("unplannedSteps", steps.unplannedSteps());
      json.writeNumberField("arenas", steps.arenas());
      json.writeNumberField("arenaBytes", steps.arenaBytes());
    }
  }

  private long lowerBoundBytes() {
    return trace.alignedLoadBytes(Allocator.DEFAULT_ALIGNMENT);
  }

  /**
   * Tables: what a step costs, and what the pool did.
   *
   * <p>Threading: any thread.
   */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(input)
        .append(": ")
        .append(Counted.of(trace.tensorCount(), "tensor"))
        .append(" a step, at least ")
        .append(lowerBoundBytes())
        .append(" bytes at a time\nthreads ")
        .append(options.threads())
        .append(", steps ")
        .append(options.steps())
        .append(", touch ")
        .append(ReportValues.label(options.touch()))
        .append(", api ")
        .append(ReportValues.label(options.api()))
        .append(", memory ")
        .append(ReportValues.label(options.memory()))
        .append("\n\n")
        .append(costs());
    for (ReplayRun run : runs) {
      run.measured()
          .flatMap(ReplayRun.Measured::pool)
          .ifPresent(pool -> text.append('\n').append(describe(pool, run)));
      run.measured()
          .flatMap(ReplayRun.Measured::planned)
          .ifPresent(steps -> text.append('\n').append(describe(steps, run)));
    }
    for (ReplayRun run : runs) {
      run.skipped().ifPresent(reason -> text.append("\nskipped: ").append(reason).append('\n'));
    }
    return text.toString();
  }

  private TextTable costs() {
    TextTable table =
        new TextTable(
            "allocator",
            "p50 us/step",
            "p99",
            "max",
            "ns/pair",
            "minor faults",
            "major",
            "heap bytes",
            "reserved MiB",
            "RSS MiB");
    for (ReplayRun run : runs) {
      String name = run.allocator().label();
      Optional<ReplayRun.Measured> measured = run.measured();
      if (measured.isPresent()) {
        ReplayRun.Measured m = measured.get();
        table.row(
            name,
            decimal(m.p50Micros()),
            decimal(m.p99Micros()),
            decimal(m.maxMicros()),
            decimal(m.nanosPerPair()),
            decimal(m.minorFaultsPerStep()),
            decimal(m.majorFaultsPerStep()),
            decimal(m.heapBytesPerStep()),
            mebibytes(m.peakReservedBytes()),
            mebibytes(m.peakRssBytes()));
      } else {
        table.row(name, run.skipped().isPresent() ? "skipped" : "failed");
      }
    }
    return table;
  }

  private String describe(ReplayRun.PoolCounts pool, ReplayRun run) {
    int warmupSteps = run.measured().map(ReplayRun.Measured::warmupSteps).orElse(0);
    if (!pool.pooling()) {
      return "pool: no plan after " + Counted.of(warmupSteps, "step") + "\n";
    }
    return String.format(
        Locale.ROOT,
        "pool: planned after %s with classes of %d KiB: %d bytes, %.3f times the least, and"
            + " %s added%nhits %d, misses %d, null bins %d%n",
        Counted.of(warmupSteps, "step"),
        pool.policyIntervalBytes() / 1024,
        pool.planBytes(),
        (double) pool.planBytes() / Math.max(1, lowerBoundBytes()),
        Counted.of(pool.addedBlocks(), "block"),
        pool.hits(),
        pool.misses(),
        pool.nullBins());
  }

  private String describe(ReplayRun.StepCounts steps, ReplayRun run) {
    return String.format(
        Locale.ROOT,
        "planned steps: after %s %s of %d bytes together, %.4f times the least each%n"
            + "planned %d, departed %d, without an arena %d%n",
        Counted.of(run.measured().map(ReplayRun.Measured::warmupSteps).orElse(0), "step"),
        Counted.of(steps.arenas(), "arena"),
        steps.arenaBytes(),
        (double) steps.arenaBytes() / Math.max(1, steps.arenas()) / Math.max(1, trace.loadBytes()),
        steps.plannedSteps(),
        steps.departedSteps(),
        steps.unplannedSteps());
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f", bytes / 1048576.0);
  }
}
