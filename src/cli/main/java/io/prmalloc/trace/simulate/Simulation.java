package io.prmalloc.trace.simulate;

import io.prmalloc.model.Counted;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.heuristic.HeuristicPlanner;
import io.prmalloc.plan.heuristic.PlacementOrder;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.MnnProfile;
import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.TextTable;
import io.prmalloc.trace.Trace;
import io.prmalloc.trace.TraceInput;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;

/**
 * The memory that one step needs: with the reference allocators, by the offline placement, and at
 * least.
 *
 * <p>Threading: immutable.
 *
 * @param name what people call the step
 * @param ops how many tasks the step takes, from its first birth to its last death; the operators
 *     of a profile
 * @param tensors how many tensors it allocates
 * @param oraclePeakBytes the most bytes alive at one time, sizes as they are
 * @param poolPeakBytes what MNN's pool takes from the system by the original's rule
 * @param poolReuseChildrenPeakBytes the same where parts that are given back can be reused at once
 * @param lowerBoundBytes the most bytes alive in one task, sizes rounded up to 64: no placement
 *     needs less
 * @param lifeOrderBytes the placement, the longest life first
 * @param sizeOrderBytes the placement, the largest first
 */
public record Simulation(
    String name,
    long ops,
    int tensors,
    long oraclePeakBytes,
    long poolPeakBytes,
    long poolReuseChildrenPeakBytes,
    long lowerBoundBytes,
    long lifeOrderBytes,
    long sizeOrderBytes) {

  private static final long ALIGNMENT = 64;

  /**
   * Simulates a step of any format.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the input makes no sense, sizes are shapes or together pass
   *     2^63 − 1, or there are more tensors than {@link HeuristicPlanner#MAX_TENSORS}
   * @throws io.prmalloc.trace.TraceFormatException if the file does not hold a trace
   * @throws UncheckedIOException if a file cannot be read
   */
  public static Simulation of(TraceInput input) {
    if (input.isProfile()) {
      MnnProfile profile = input.readProfile();
      return of(profile.toTrace(), profile.toLifetimes(), profile.ops().size());
    }
    TensorLifetimes tensors = input.readLifetimes();
    checkCount(tensors);
    Trace trace = input.read();
    List<TensorUsageRecord> records = tensors.records();
    long first = records.stream().mapToLong(TensorUsageRecord::firstTask).min().orElse(0);
    long last = records.stream().mapToLong(TensorUsageRecord::lastTask).max().orElse(-1);
    return of(trace, tensors, last - first + 1);
  }

  /** Before what takes longer: the trace, and the pools. */
  private static void checkCount(TensorLifetimes tensors) {
    if (tensors.count() > HeuristicPlanner.MAX_TENSORS) {
      throw new IllegalArgumentException(
          tensors.name()
              + ": has "
              + tensors.count()
              + " tensors; the placement takes up to "
              + HeuristicPlanner.MAX_TENSORS);
    }
  }

  private static Simulation of(Trace trace, TensorLifetimes tensors, long ops) {
    // A pool knows of no constraints, and a placement is compared with it.
    List<TensorUsageRecord> records =
        tensors.records().stream().map(record -> record.with(TensorConstraints.NONE)).toList();
    return new Simulation(
        tensors.name(),
        ops,
        tensors.count(),
        peakBytes(trace, ModelKind.OS),
        peakBytes(trace, ModelKind.POOL),
        peakBytes(trace, ModelKind.POOL_REUSING_CHILDREN),
        roundedLoadBytes(records),
        HeuristicPlanner.assignOffsets(records, PlacementOrder.LIFE, ALIGNMENT).totalBytes(),
        HeuristicPlanner.assignOffsets(records, PlacementOrder.SIZE, ALIGNMENT).totalBytes());
  }

  /**
   * The most bytes an allocator holds during a step.
   *
   * <p>Threading: any thread.
   */
  public static long peakBytes(Trace trace, ModelKind kind) {
    MemoryModel model = kind.create(trace.tensorCount());
    for (int i = 0; i < trace.eventCount(); i++) {
      int event = trace.event(i);
      if (event >= 0) {
        model.allocate(event, trace.sizeBytes(event));
      } else {
        model.free(~event);
      }
    }
    return model.peakBytes();
  }

  private static long roundedLoadBytes(List<TensorUsageRecord> records) {
    return LowerBounds.loadBytes(
        records.stream()
            .map(
                record ->
                    new TensorUsageRecord(
                        (record.sizeBytes() + ALIGNMENT - 1) & -ALIGNMENT,
                        record.firstTask(),
                        record.lastTask()))
            .toList());
  }

  /**
   * One JSON document on one line, as the command line contract has it.
   *
   * <p>Threading: any thread.
   *
   * @param pool which rule of the pool goes by {@code poolPeakBytes}
   * @param order which order of the placement goes by {@code heuristicBytes}
   */
  public String json(ModelKind pool, PlacementOrder order) {
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("input", name);
          json.writeNumberField("ops", ops);
          json.writeNumberField("tensors", tensors);
          json.writeNumberField("oraclePeakBytes", oraclePeakBytes);
          json.writeNumberField(
              "poolPeakBytes", pool == ModelKind.POOL ? poolPeakBytes : poolReuseChildrenPeakBytes);
          json.writeNumberField("poolReuseChildrenPeakBytes", poolReuseChildrenPeakBytes);
          json.writeNumberField("lowerBoundBytes", lowerBoundBytes);
          json.writeNumberField(
              "heuristicBytes", order == PlacementOrder.LIFE ? lifeOrderBytes : sizeOrderBytes);
          json.writeNumberField("heuristicLifeOrderBytes", lifeOrderBytes);
          json.writeNumberField("heuristicSizeOrderBytes", sizeOrderBytes);
          json.writeEndObject();
        });
  }

  /**
   * A table for people. The factor is what is needed over the lower bound.
   *
   * <p>Threading: any thread.
   */
  public String text() {
    TextTable table = new TextTable("allocator", "bytes", "factor");
    row(table, "oracle", oraclePeakBytes);
    row(table, "lower bound of placements", lowerBoundBytes);
    row(table, "placement, longest life first", lifeOrderBytes);
    row(table, "placement, largest first", sizeOrderBytes);
    row(table, "MNN's pool", poolPeakBytes);
    row(table, "MNN's pool, parts reused", poolReuseChildrenPeakBytes);
    return name
        + ": "
        + Counted.of(tensors, "tensor")
        + ", "
        + Counted.of(ops, "task")
        + "\n\n"
        + table;
  }

  private void row(TextTable table, String what, long bytes) {
    table.row(
        what,
        Long.toString(bytes),
        lowerBoundBytes == 0
            ? "-"
            : String.format(Locale.ROOT, "%.3f", (double) bytes / lowerBoundBytes));
  }
}
