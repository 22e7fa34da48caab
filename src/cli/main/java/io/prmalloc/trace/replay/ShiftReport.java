package io.prmalloc.trace.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.TextTable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Shows how pools served shifting traffic, to people or to programs.
 *
 * <p>Threading: immutable.
 *
 * @param inputs what the user called the traces, in order
 * @param options how each was replayed
 * @param idle the idle time of the pools
 * @param runs what came out, one for each pool
 */
public record ShiftReport(
    List<String> inputs, ReplayOptions options, Duration idle, List<ShiftRun> runs) {

  /** Copies the lists. */
  public ShiftReport {
    inputs = List.copyOf(inputs);
    runs = List.copyOf(runs);
  }

  /** What went wrong, one sentence for each run that failed. Threading: any thread. */
  public List<String> failures() {
    List<String> failures = new ArrayList<>();
    for (ShiftRun run : runs) {
      run.failure().ifPresent(reason -> failures.add(run.allocator().label() + ": " + reason));
    }
    return failures;
  }

  /**
   * One JSON document on one line; {@code stepsToHits} is null where hits did not come back.
   *
   * <p>Threading: any thread.
   */
  public String json() {
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("input", inputs.get(0));
          json.writeArrayFieldStart("shift");
          for (String input : inputs.subList(1, inputs.size())) {
            json.writeString(input);
          }
          json.writeEndArray();
          json.writeNumberField("threads", options.threads());
          json.writeStringField("touch", ReportValues.label(options.touch()));
          json.writeStringField("api", ReportValues.label(options.api()));
          json.writeStringField("memory", ReportValues.label(options.memory()));
          json.writeNumberField("idleSeconds", ReportValues.rounded(idle.toNanos() / 1e9));
          json.writeArrayFieldStart("runs");
          for (ShiftRun run : runs) {
            writeRun(json, run);
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  private static void writeRun(JsonGenerator json, ShiftRun run) throws IOException {
    json.writeStartObject();
    json.writeStringField("allocator", ReplayAllocator.POOL.label());
    json.writeBooleanField("planned", run.allocator() == ReplayAllocator.PLANNED);
    if (run.skipped().isPresent()) {
      json.writeStringField("skipped", run.skipped().get());
    }
    if (run.failure().isPresent()) {
      json.writeStringField("failed", run.failure().get());
    }
    json.writeArrayFieldStart("phases");
    for (ShiftPhase phase : run.phases()) {
      json.writeStartObject();
      json.writeStringField("trace", phase.trace());
      json.writeNumberField("steps", phase.steps());
      if (phase.stepsToHits().isPresent()) {
        json.writeNumberField("stepsToHits", phase.stepsToHits().getAsInt());
      } else {
        json.writeNullField("stepsToHits");
      }
      json.writeNumberField("requests", phase.requests());
      json.writeNumberField("misses", phase.misses());
      json.writeNumberField("replans", phase.replans());
      json.writeNumberField("departedSteps", phase.departedSteps());
      json.writeNumberField("startReservedBytes", phase.startBytes());
      json.writeNumberField("peakReservedBytes", phase.peakBytes());
      json.writeNumberField("endReservedBytes", phase.endBytes());
      json.writeNumberField("newPlanBytes", phase.freshBytes());
      json.writeNumberField("timesNewPlan", ReportValues.rounded(phase.ratio()));
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /** A table for each pool. Threading: any thread. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%s%nthreads %d, steps %d or more, touch %s, api %s, memory %s, idle time %.3f s%n",
            String.join(", then ", inputs),
            options.threads(),
            options.steps(),
            ReportValues.label(options.touch()),
            ReportValues.label(options.api()),
            ReportValues.label(options.memory()),
            idle.toNanos() / 1e9));
    for (ShiftRun run : runs) {
      if (run.skipped().isEmpty() || !run.phases().isEmpty()) {
        text.append('\n').append(run.allocator().label()).append(":\n").append(table(run));
      }
      run.skipped().ifPresent(reason -> text.append("\nskipped: ").append(reason).append('\n'));
    }
    return text.toString();
  }

  private static TextTable table(ShiftRun run) {
    TextTable table =
        new TextTable(
            "trace",
            "steps",
            "until hits",
            "misses",
            "re-plans",
            "departed",
            "MiB at start",
            "peak",
            "end",
            "new plan",
            "times it");
    for (ShiftPhase phase : run.phases()) {
      table.row(
          phase.trace(),
          Integer.toString(phase.steps()),
          phase.stepsToHits().isPresent()
              ? Integer.toString(phase.stepsToHits().getAsInt())
              : "never",
          Long.toString(phase.misses()),
          Long.toString(phase.replans()),
          Long.toString(phase.departedSteps()),
          mebibytes(phase.startBytes()),
          mebibytes(phase.peakBytes()),
          mebibytes(phase.endBytes()),
          mebibytes(phase.freshBytes()),
          String.format(Locale.ROOT, "%.3f", phase.ratio()));
    }
    return table;
  }

  private static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f", bytes / 1048576.0);
  }
}
