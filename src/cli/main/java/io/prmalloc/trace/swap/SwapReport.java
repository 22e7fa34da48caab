package io.prmalloc.trace.swap;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.model.Counted;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.TextTable;
import io.prmalloc.trace.simulate.ModelKind;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;

/**
 * Shows a simulated step, to people or to programs.
 *
 * <p>Threading: any thread.
 */
public final class SwapReport {

  private SwapReport() {}

  /**
   * One JSON document on one line, as the command line contract has it; times with nanoseconds.
   *
   * <p>Threading: any thread.
   */
  public static String json(Swapping swapping) {
    SwapOptions options = swapping.options();
    SwapRun run = swapping.run();
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("input", swapping.name());
          json.writeStringField("mode", options.mode().toString());
          json.writeStringField("allocator", options.allocator() == ModelKind.OS ? "os" : "pool");
          json.writeBooleanField(
              "reuseChildren", options.allocator() == ModelKind.POOL_REUSING_CHILDREN);
          json.writeNumberField("forwardOps", swapping.forwardOps());
          json.writeNumberField("outBytesPerSecond", options.outBytesPerSecond());
          json.writeNumberField("inBytesPerSecond", options.inBytesPerSecond());
          if (options.budgetBytes().isPresent()) {
            json.writeNumberField("budgetBytes", options.budgetBytes().getAsLong());
            json.writeBooleanField("fits", swapping.failure().isEmpty());
          }
          json.writeNumberField("totalMillis", rounded(run.totalMillis()));
          json.writeNumberField("computeMillis", rounded(run.computeMillis()));
          json.writeNumberField("recomputeMillis", rounded(run.recomputeMillis()));
          json.writeNumberField("stallMillis", rounded(run.stallMillis()));
          json.writeNumberField("peakBytes", run.peakBytes());
          json.writeNumberField("bytesOut", run.bytesOut());
          json.writeNumberField("bytesIn", run.bytesIn());
          json.writeNumberField("featureMaps", swapping.mapCount());
          writeIds(json, "swapped", swapping.swapped());
          writeIds(json, "recomputed", swapping.recomputed());
          writeTimeline(json, swapping.timeline());
          json.writeEndObject();
        });
  }

  private static void writeIds(JsonGenerator json, String key, List<String> ids)
      throws IOException {
    json.writeArrayFieldStart(key);
    for (String id : ids) {
      json.writeString(id);
    }
    json.writeEndArray();
  }

  private static void writeTimeline(JsonGenerator json, Timeline timeline) throws IOException {
    json.writeArrayFieldStart("ops");
    for (Timeline.Op op : timeline.ops()) {
      json.writeStartObject();
      json.writeNumberField("id", op.op());
      json.writeNumberField("startMillis", rounded(op.startMillis()));
      json.writeNumberField("endMillis", rounded(op.endMillis()));
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeArrayFieldStart("transfers");
    for (Timeline.Transfer transfer : timeline.transfers()) {
      json.writeStartObject();
      json.writeStringField("tensor", transfer.tensor());
      json.writeStringField("direction", transfer.out() ? "out" : "in");
      json.writeNumberField("bytes", transfer.bytes());
      json.writeNumberField("startMillis", rounded(transfer.startMillis()));
      json.writeNumberField("endMillis", rounded(transfer.endMillis()));
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static BigDecimal rounded(double millis) {
    return BigDecimal.valueOf(millis).setScale(6, RoundingMode.HALF_EVEN);
  }

  /** A table for people. Threading: any thread. */
  public static String text(Swapping swapping) {
    SwapOptions options = swapping.options();
    SwapRun run = swapping.run();
    TextTable table = new TextTable("", "ms", "bytes");
    table.row("step", millis(run.totalMillis()), "");
    table.row("computing", millis(run.computeMillis()), "");
    if (options.recompute()) {
      table.row("computing again", millis(run.recomputeMillis()), "");
    }
    table.row("waiting", millis(run.stallMillis()), "");
    table.row("written", "", Long.toString(run.bytesOut()));
    table.row("read", "", Long.toString(run.bytesIn()));
    table.row("peak", "", Long.toString(run.peakBytes()));
    return swapping.name()
        + ": "
        + options.mode()
        + " over "
        + options.allocator().label()
        + ", forward pass of "
        + Counted.of(swapping.forwardOps(), "operator")
        + ", "
        + swapping.swapped().size()
        + " of "
        + Counted.of(swapping.mapCount(), "feature map")
        + " swapped"
        + (options.recompute() ? ", " + swapping.recomputed().size() + " computed again" : "")
        + "\n\n"
        + table;
  }

  private static String millis(double millis) {
    return String.format(Locale.ROOT, "%.3f", millis);
  }
}
