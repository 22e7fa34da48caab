package io.prmalloc.report;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.planning.PlanKind;
import io.prmalloc.trace.planning.PlanReport;
import io.prmalloc.trace.planning.PlanRun;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Draws plans: time across, address up, a rectangle per tensor, with its gaps left out, the load as
 * a curve, a tab per strategy.
 *
 * <p>Threading: any thread.
 */
public final class PlanPage {

  // Sizes and lives are the same in every plan and are written once, offsets per plan, all as plain
  // arrays: some 30 bytes a tensor and 10 more a plan. The page draws them on a canvas, so that
  // tens of thousands of rectangles are no elements of a document.

  private PlanPage() {}

  /**
   * The page. A strategy that planned offsets and objects is drawn by its offsets; objects alone
   * are drawn laid end to end; a tab without a valid plan tells the reason.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if sizes are shapes: they have no address
   */
  public static String html(PlanReport report) {
    if (report.tensors().dimensions() > 1) {
      throw new IllegalArgumentException(
          "sizes of " + report.tensors().dimensions() + " dimensions have no address to draw");
    }
    return Pages.fill("plan.html", data(report));
  }

  private static String data(PlanReport report) {
    TensorLifetimes tensors = report.tensors();
    List<TensorUsageRecord> records = tensors.records();
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("name", tensors.name());
          json.writeNumberField("load", report.lowerBoundBytes());
          json.writeArrayFieldStart("labels");
          for (String label : tensors.labels()) {
            json.writeString(label);
          }
          json.writeEndArray();
          writeNumbers(json, "sizes", records, TensorUsageRecord::sizeBytes);
          writeNumbers(json, "first", records, TensorUsageRecord::firstTask);
          writeNumbers(json, "last", records, TensorUsageRecord::lastTask);
          writeGaps(json, records);
          json.writeArrayFieldStart("plans");
          for (PlanRun run : shown(report.runs())) {
            writeRun(json, report, run);
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  /**
   * Tensor, first and last task, first byte in use and the one behind the last, if there is any.
   */
  private static void writeGaps(JsonGenerator json, List<TensorUsageRecord> records)
      throws IOException {
    if (records.stream().allMatch(record -> record.constraints().gaps().isEmpty())) {
      return;
    }
    json.writeArrayFieldStart("gaps");
    for (int tensor = 0; tensor < records.size(); tensor++) {
      for (TensorConstraints.Gap gap : records.get(tensor).constraints().gaps()) {
        long[] row = {tensor, gap.firstTask(), gap.lastTask(), gap.fromByte(), gap.toByte()};
        json.writeArray(row, 0, row.length);
      }
    }
    json.writeEndArray();
  }

  private static void writeNumbers(
      JsonGenerator json,
      String key,
      List<TensorUsageRecord> records,
      ToLongFunction<TensorUsageRecord> number)
      throws IOException {
    long[] numbers = records.stream().mapToLong(number).toArray();
    json.writeFieldName(key);
    json.writeArray(numbers, 0, numbers.length);
  }

  /** One run per strategy: that by offsets, if there is one. */
  private static List<PlanRun> shown(List<PlanRun> runs) {
    Map<String, PlanRun> byStrategy = new LinkedHashMap<>();
    for (PlanRun run : runs) {
      byStrategy.merge(run.strategy(), run, (a, b) -> b.kind() == PlanKind.OFFSETS ? b : a);
    }
    return List.copyOf(byStrategy.values());
  }

  private static void writeRun(JsonGenerator json, PlanReport report, PlanRun run)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("strategy", run.strategy());
    json.writeStringField("kind", run.kind().label());
    if (run.validPlan().isPresent()) {
      OffsetsAssignment offsets =
          run.validPlan()
              .get()
              .toOffsets(report.tensors(), report.options().alignment())
              .orElseThrow();
      json.writeNumberField("total", offsets.totalBytes());
      json.writeFieldName("offsets");
      json.writeArray(offsets.offsets(), 0, offsets.tensorCount());
    } else {
      json.writeStringField(
          "reason", run.fault().or(run::failed).or(run::skipped).orElse("there is no plan"));
    }
    json.writeEndObject();
  }
}
