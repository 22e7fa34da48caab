package io.prmalloc.trace.planning;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.model.Counted;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorShape;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.TextTable;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Shows the plans of several strategies, to people or to programs.
 *
 * <p>Threading: immutable.
 *
 * @param tensors what was planned
 * @param options how
 * @param runs what came out, in order
 */
public record PlanReport(TensorLifetimes tensors, PlanOptions options, List<PlanRun> runs) {

  /** Threading: any thread. */
  public PlanReport {
    runs = List.copyOf(runs);
  }

  /** What no plan by offsets can beat: the load. Threading: any thread. */
  public long lowerBoundBytes() {
    return LowerBounds.loadBytes(tensors.records());
  }

  /** What went wrong, one sentence each. Threading: any thread. */
  public List<String> failures() {
    List<String> failures = new ArrayList<>();
    for (PlanRun run : runs) {
      String what = run.strategy() + " by " + run.kind().label();
      run.failed().ifPresent(reason -> failures.add(what + " " + reason));
      run.fault().ifPresent(fault -> failures.add(what + " is not valid: " + fault));
    }
    if (runs.stream().allMatch(run -> run.skipped().isPresent())) {
      failures.add(
          "no strategy made a plan"
              + runs.stream()
                  .flatMap(run -> run.skipped().stream())
                  .findFirst()
                  .map(reason -> ": " + reason)
                  .orElse(""));
    }
    if (options.capacity().isPresent() && runs.stream().noneMatch(this::fits)) {
      OptionalLong least =
          runs.stream().flatMap(run -> run.validPlan().stream()).mapToLong(this::neededBytes).min();
      failures.add(
          "capacity "
              + options.capacity().getAsLong()
              + " is not reached"
              + (least.isPresent() ? "; the smallest plan found needs " + least.getAsLong() : "")
              + fixedAbove(options.capacity().getAsLong()));
    }
    return failures;
  }

  private String fixedAbove(long capacity) {
    for (int i = 0; i < tensors.count(); i++) {
      OptionalLong offset = tensors.records().get(i).constraints().offset();
      if (offset.isPresent()
          && offset.getAsLong() + tensors.records().get(i).sizeBytes() > capacity) {
        return "; infeasible: tensor "
            + tensors.shownId(i)
            + " is fixed at offset "
            + offset.getAsLong()
            + " and ends at "
            + (offset.getAsLong() + tensors.records().get(i).sizeBytes());
      }
    }
    return "";
  }

  /** Whether its plan is valid and within the capacity, if there is one. */
  private boolean fits(PlanRun run) {
    return run.validPlan()
        .filter(
            plan ->
                options.capacity().isEmpty() || neededBytes(plan) <= options.capacity().getAsLong())
        .isPresent();
  }

  /** What a plan needs as offsets, where objects are aligned; elements where sizes are shapes. */
  private long neededBytes(Plan plan) {
    return tensors.dimensions() > 1
        ? plan.total()
        : plan.toOffsets(tensors, options.alignment())
            .map(OffsetsAssignment::totalBytes)
            .orElse(Long.MAX_VALUE);
  }

  /**
   * The valid plan that needs the fewest bytes, objects laid end to end: of equals one by offsets,
   * and of these the first. Empty if there is no valid plan within the capacity, or it has no
   * offsets, as where sizes are shapes.
   *
   * <p>Threading: any thread.
   */
  public Optional<OffsetsAssignment> bestOffsets() {
    Comparator<PlanRun> byBytes =
        Comparator.comparingLong(run -> neededBytes(run.validPlan().orElseThrow()));
    return runs.stream()
        .filter(this::fits)
        .min(byBytes.thenComparing(PlanRun::kind, Comparator.reverseOrder()))
        .flatMap(run -> run.validPlan().orElseThrow().toOffsets(tensors, options.alignment()));
  }

  /**
   * One JSON document on one line, as the command line contract has it. {@code
   * objectsLowerBoundBytes} is what no plan by objects can beat. A run without a plan has the key
   * {@code skipped} or {@code failed}, with the reason; a plan that is not valid has {@code fault}.
   *
   * <p>Threading: any thread.
   */
  public String json() {
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("input", tensors.name());
          json.writeNumberField("tensors", tensors.count());
          json.writeNumberField("lowerBoundBytes", lowerBoundBytes());
          if (tensors.dimensions() == 1) {
            json.writeNumberField(
                "objectsLowerBoundBytes", LowerBounds.objectsBytes(tensors.records()));
          }
          if (options.capacity().isPresent()) {
            json.writeNumberField("capacity", options.capacity().getAsLong());
          }
          json.writeArrayFieldStart("results");
          for (PlanRun run : runs) {
            writeRun(json, run);
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  private void writeRun(JsonGenerator json, PlanRun run) throws IOException {
    json.writeStartObject();
    json.writeStringField("strategy", run.strategy());
    json.writeStringField("kind", run.kind().label());
    if (run.skipped().isPresent()) {
      json.writeStringField("skipped", run.skipped().get());
    }
    if (run.failed().isPresent()) {
      json.writeStringField("failed", run.failed().get());
    }
    if (run.plan().isPresent()) {
      Plan plan = run.plan().get();
      json.writeNumberField("totalBytes", plan.total());
      if (plan instanceof Plan.Offsets offsets) {
        json.writeNumberField("alignment", offsets.assignment().alignment());
        if (offsets.optimal().isPresent()) {
          json.writeBooleanField("optimal", offsets.optimal().get());
        }
      }
      json.writeNumberField("millis", millis(run));
      json.writeBooleanField("valid", run.fault().isEmpty());
      if (run.fault().isPresent()) {
        json.writeStringField("fault", run.fault().get());
      }
      if (options.capacity().isPresent()) {
        json.writeBooleanField("fits", fits(run));
      }
      writePlan(json, plan);
    }
    json.writeEndObject();
  }

  private void writePlan(JsonGenerator json, Plan plan) throws IOException {
    if (plan instanceof Plan.Objects objects) {
      writeObjectIds(json, objects.assignment().objectIds());
      json.writeFieldName("objectSizes");
      long[] sizes = objects.assignment().objectSizesBytes();
      json.writeArray(sizes, 0, sizes.length);
    } else if (plan instanceof Plan.ShapedObjects objects) {
      writeObjectIds(json, objects.assignment().objectIds());
      json.writeArrayFieldStart("objectSizes");
      for (TensorShape shape : objects.assignment().objectShapes()) {
        long[] dimensions = shape.dimensions().stream().mapToLong(Long::longValue).toArray();
        json.writeArray(dimensions, 0, dimensions.length);
      }
      json.writeEndArray();
    } else if (plan instanceof Plan.Offsets offsets) {
      json.writeObjectFieldStart("offsets");
      for (int tensor = 0; tensor < tensors.count(); tensor++) {
        json.writeNumberField(tensors.ids().get(tensor), offsets.assignment().offset(tensor));
      }
      json.writeEndObject();
    }
  }

  private void writeObjectIds(JsonGenerator json, int[] objectIds) throws IOException {
    json.writeObjectFieldStart("objectIds");
    for (int tensor = 0; tensor < objectIds.length; tensor++) {
      json.writeNumberField(tensors.ids().get(tensor), objectIds[tensor]);
    }
    json.writeEndObject();
  }

  private static BigDecimal millis(PlanRun run) {
    return BigDecimal.valueOf(run.nanos() / 1e6).setScale(3, RoundingMode.HALF_UP);
  }

  /**
   * A table of the plans. The factor is what a plan needs over the load; an object is never as
   * tight as an offset.
   *
   * <p>Threading: any thread.
   */
  public String text() {
    String unit = tensors.dimensions() == 1 ? "bytes" : "elements";
    long load = lowerBoundBytes();
    TextTable table =
        new TextTable("strategy", "kind", "total " + unit, "factor", "objects", "millis", "valid");
    for (PlanRun run : runs) {
      if (run.plan().isEmpty()) {
        table.row(
            run.strategy(), run.kind().label(), run.skipped().isPresent() ? "skipped" : "failed");
        continue;
      }
      long total = run.plan().get().total();
      table.row(
          run.strategy(),
          run.kind().label(),
          Long.toString(total),
          load == 0 ? "-" : String.format(Locale.ROOT, "%.3f", (double) total / load),
          objects(run.plan().get()),
          millis(run).toString(),
          run.fault().isEmpty() ? "yes" : "no");
    }
    StringBuilder text = new StringBuilder();
    text.append(tensors.name())
        .append(": ")
        .append(Counted.of(tensors.count(), "tensor"))
        .append(", load ")
        .append(load)
        .append(' ')
        .append(unit)
        .append("\n\n")
        .append(table);
    runs.stream()
        .flatMap(run -> run.skipped().stream())
        .distinct()
        .forEach(reason -> text.append("\nskipped: ").append(reason).append('\n'));
    return text.toString();
  }

  private static String objects(Plan plan) {
    if (plan instanceof Plan.Objects objects) {
      return Integer.toString(objects.assignment().objectCount());
    }
    if (plan instanceof Plan.ShapedObjects objects) {
      return Integer.toString(objects.assignment().objectShapes().size());
    }
    return "";
  }
}
