package io.prmalloc.trace.replay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prmalloc.Allocator;
import io.prmalloc.model.Counted;
import io.prmalloc.trace.TextTable;
import io.prmalloc.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Shows the runs of traffic that varies, or of a recording, to people or to programs. Each run
 * comes as the JSON of {@link ReplayReport#json(ReplayRun)}, for it may be another process's.
 *
 * <p>Threading: one thread at a time.
 */
public final class VaryingReport {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final ObjectNode document;
  private final ArrayNode runs;
  private final String subject;

  private VaryingReport(ObjectNode document, String subject) {
    this.document = document;
    this.runs = document.putArray("runs");
    this.subject = subject;
  }

  /**
   * Of traffic that varies.
   *
   * <p>Threading: any thread.
   *
   * @param inputs what the user called the traces
   */
  public static VaryingReport of(List<String> inputs, Traffic traffic, ReplayOptions options) {
    ObjectNode document =
        document(
            String.join(", ", inputs),
            traffic.traces().stream().mapToInt(Trace::eventCount).max().orElse(0),
            traffic.loadBytes(Allocator.DEFAULT_ALIGNMENT),
            traffic.loadBytes(1),
            options);
    document.put("seed", traffic.seed());
    if (traffic.range().isPresent()) {
      FactorRange range = traffic.range().get();
      document.putArray("vary").add(range.from()).add(range.to());
    } else {
      document.putNull("vary");
    }
    ArrayNode factors = document.putArray("factors");
    for (double factor : traffic.factors()) {
      factors.add(factor);
    }
    ArrayNode each = document.putArray("inputs");
    for (int i = 0; i < inputs.size(); i++) {
      Trace trace = traffic.traces().get(i);
      each.addObject()
          .put("input", inputs.get(i))
          .put("weight", traffic.weights().get(i))
          .put("eventsPerStep", trace.eventCount())
          .put("lowerBoundBytes", trace.alignedLoadBytes(Allocator.DEFAULT_ALIGNMENT))
          .put("loadBytes", trace.loadBytes());
    }
    return new VaryingReport(document, subject(inputs, traffic, options));
  }

  private static String subject(List<String> inputs, Traffic traffic, ReplayOptions options) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      String weight = inputs.size() == 1 ? "" : " (weight " + traffic.weights().get(i) + ")";
      words.add(
          inputs.get(i)
              + ": "
              + Counted.of(traffic.traces().get(i).tensorCount(), "tensor")
              + " a step"
              + weight);
    }
    String sizes =
        traffic
            .range()
            .map(
                range ->
                    "sizes times "
                        + range
                        + (traffic.shapes() == 0
                            ? ", a new factor in each step"
                            : ", " + Counted.of(traffic.shapes(), "factor") + " in random order"))
            .orElse("sizes as they are");
    return String.join("\n", words)
        + "\n"
        + sizes
        + ", seed "
        + traffic.seed()
        + "; at least "
        + traffic.loadBytes(Allocator.DEFAULT_ALIGNMENT)
        + " bytes for the largest step\nthreads "
        + options.threads()
        + ", steps "
        + options.steps()
        + values(options);
  }

  /**
   * Of a recording as it was.
   *
   * <p>Threading: any thread.
   *
   * @param input what the user called the recording
   */
  public static VaryingReport of(String input, RecordedTraffic traffic, ReplayOptions options) {
    ObjectNode document =
        document(
            input,
            traffic.steps() == 0 ? 0 : 2 * traffic.allocations() / traffic.steps(),
            traffic.alignedLoadBytes(),
            traffic.loadBytes(),
            options);
    document
        .put("recorded", true)
        .put("recordedThreads", traffic.threads())
        .put("recordedSteps", traffic.steps())
        .put("recordedAllocations", traffic.allocations());
    return new VaryingReport(
        document,
        String.format(
            Locale.ROOT,
            "%s: %s in %s of %s, as they were; at least %d bytes at a" + " time%n%s",
            input,
            Counted.of(traffic.allocations(), "allocation"),
            Counted.of(traffic.steps(), "step"),
            Counted.of(traffic.threads(), "thread"),
            traffic.alignedLoadBytes(),
            values(options).substring(2)));
  }

  private static ObjectNode document(
      String input,
      long eventsPerStep,
      long lowerBoundBytes,
      long loadBytes,
      ReplayOptions options) {
    return JSON.createObjectNode()
        .put("input", input)
        .put("eventsPerStep", eventsPerStep)
        .put("lowerBoundBytes", lowerBoundBytes)
        .put("loadBytes", loadBytes)
        .put("touch", ReportValues.label(options.touch()))
        .put("api", ReportValues.label(options.api()))
        .put("memory", ReportValues.label(options.memory()));
  }

  private static String values(ReplayOptions options) {
    return ", touch "
        + ReportValues.label(options.touch())
        + ", api "
        + ReportValues.label(options.api())
        + ", memory "
        + ReportValues.label(options.memory());
  }

  /**
   * Adds a run.
   *
   * <p>Threading: one thread at a time.
   *
   * @param json as {@link ReplayReport#json(ReplayRun)} has it
   * @throws IllegalArgumentException if it is no JSON
   */
  public void add(String json) {
    try {
      runs.add(JSON.readTree(json));
    } catch (JsonProcessingException wrong) {
      throw new IllegalArgumentException("`" + json + "` is no run", wrong);
    }
  }

  /** What went wrong, one sentence for each run that failed. Threading: as {@link #add}. */
  public List<String> failures() {
    List<String> failures = new ArrayList<>();
    for (JsonNode run : runs) {
      if (run.has("failed")) {
        failures.add(label(run) + ": " + run.get("failed").asText());
      }
    }
    return failures;
  }

  private static String label(JsonNode run) {
    return run.has("planned") ? ReplayAllocator.PLANNED.label() : run.get("allocator").asText();
  }

  /** One JSON document on one line. Threading: as {@link #add}. */
  public String json() {
    return document.toString();
  }

  /** A table: what steps cost at first and later, and memory. Threading: as {@link #add}. */
  public String text() {
    TextTable table =
        new TextTable(
            "allocator",
            "first p50 us",
            "p99",
            "steady p50 us",
            "p99",
            "max",
            "ns/pair",
            "faults",
            "MiB at start",
            "end",
            "peak");
    StringBuilder below = new StringBuilder();
    for (JsonNode run : runs) {
      if (!run.has("endRssBytes")) {
        table.row(label(run), run.has("skipped") ? "skipped" : "failed");
        if (run.has("skipped")) {
          below.append("\nskipped: ").append(run.get("skipped").asText()).append('\n');
        }
        continue;
      }
      JsonNode first = run.get("firstHundredMicrosPerStep");
      JsonNode steady = run.get("steadyMicrosPerStep");
      table.row(
          label(run),
          decimal(first.get("p50")),
          decimal(first.get("p99")),
          decimal(steady.get("p50")),
          decimal(steady.get("p99")),
          decimal(steady.get("max")),
          decimal(run.get("nanosPerPair")),
          decimal(run.get("minorFaultsPerStep")),
          mebibytes(run.get("startRssBytes")),
          mebibytes(run.get("endRssBytes")),
          mebibytes(run.get("peakRssBytes")));
      below.append(served(run));
    }
    return subject + "\n\n" + table + below;
  }

  private static String served(JsonNode run) {
    if (run.has("plannedSteps")) {
      return String.format(
          Locale.ROOT,
          "%nplanned steps: planned %d, departed %d, without an arena %d%n",
          run.get("plannedSteps").asLong(),
          run.get("departedSteps").asLong(),
          run.get("unplannedSteps").asLong());
    }
    if (run.has("pooling")) {
      return String.format(
          Locale.ROOT,
          "%npool: %s; hits %d, misses %d, null bins %d%n",
          run.get("pooling").asBoolean()
              ? "planned after " + Counted.of(run.get("warmupSteps").asInt(), "step")
              : "no plan",
          run.get("hits").asLong(),
          run.get("misses").asLong(),
          run.get("nullBins").asLong());
    }
    return "";
  }

  private static String decimal(JsonNode value) {
    return String.format(Locale.ROOT, "%.1f", value.asDouble());
  }

  private static String mebibytes(JsonNode bytes) {
    return String.format(Locale.ROOT, "%.1f", bytes.asLong() / 1048576.0);
  }
}
