package io.prmalloc.trace;

import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.trace.MnnOp.ScratchEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The profile of one model and batch, as the HeuristicAllocator project records training steps of
 * MNN on a phone.
 *
 * <p>Threading: immutable.
 *
 * @param model the model's name
 * @param batch how many samples one step takes, from 1
 * @param files where the parts were read, for errors
 * @param ops the operators in order
 * @param sizesBytes size of each tensor in bytes, by id; may hold ids that no operator uses
 * @param redundantParents scratch ids that repeat another allocation of their operator, and which
 *     one; such an id is never allocated, and neither is its parent, always
 * @param costMillis how long each operator takes in milliseconds, by index; empty if the profile
 *     does not say
 */
public record MnnProfile(
    String model,
    int batch,
    MnnFiles files,
    List<MnnOp> ops,
    Map<String, Long> sizesBytes,
    Map<String, String> redundantParents,
    Map<Integer, Double> costMillis) {

  /**
   * The step in the documented order. For each operator: its outputs come; its scratch memory
   * comes; it computes; its scratch memory goes; what it releases goes. What is never released
   * lives to the end, and so does scratch memory that is never given back.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if a size is missing or out of its bounds, a tensor comes while it
   *     is alive, or goes while it is not; the message names file and entry
   */
  public Trace toTrace() {
    Trace.Builder trace = Trace.builder(files.directory() + " batch " + batch);
    for (int i = 0; i < ops.size(); i++) {
      MnnOp op = ops.get(i);
      for (String output : op.outputs()) {
        allocate(trace, files.ioInfo(), "op " + i + ", outputs", output);
      }
      for (ScratchEvent event : op.scratch()) {
        if (event.allocate()) {
          allocate(trace, files.resizeInfo(), "op " + i, event.id());
        }
      }
      for (ScratchEvent event : op.scratch()) {
        if (!event.allocate()) {
          release(trace, files.resizeInfo(), "op " + i, event.id());
        }
      }
      for (String released : op.released()) {
        release(trace, files.ioInfo(), "op " + i + ", release", released);
      }
    }
    return trace.build();
  }

  /**
   * The tensors as planners want them, where an operator is a task: an output lives from its
   * operator to the one that releases it, scratch memory at its operator, and what is never
   * released to the last operator.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException as {@link #toTrace} does
   */
  public TensorLifetimes toLifetimes() {
    Trace trace = toTrace();
    long[] firstOps = new long[trace.tensorCount()];
    long[] lastOps = new long[trace.tensorCount()];
    int next = 0;
    for (int op = 0; op < ops.size(); op++) {
      MnnOp of = ops.get(op);
      int end = next + of.outputs().size() + of.scratch().size() + of.released().size();
      for (int k = next; k < end; k++) {
        int event = trace.event(k);
        if (event >= 0) {
          firstOps[event] = op;
          lastOps[event] = ops.size() - 1L;
        } else {
          lastOps[~event] = op;
        }
      }
      next = end;
    }
    List<String> ids = new ArrayList<>(trace.tensorCount());
    List<TensorUsageRecord> records = new ArrayList<>(trace.tensorCount());
    for (int i = 0; i < trace.tensorCount(); i++) {
      ids.add(trace.id(i));
      records.add(new TensorUsageRecord(trace.sizeBytes(i), firstOps[i], lastOps[i]));
    }
    return TensorLifetimes.of(trace.name(), ids, records);
  }

  /**
   * How long each operator takes in milliseconds, for callers that require the times.
   *
   * <p>Threading: any thread.
   *
   * @return one time per operator, a new array
   * @throws TraceFormatException if the profile has no times, or not of all operators
   */
  public double[] requiredMillis() {
    if (costMillis.isEmpty()) {
      throw TraceFormatException.ofFile(
          files.costInfo(), "is not there or empty, but the times of the operators are needed");
    }
    double[] millis = new double[ops.size()];
    for (int op = 0; op < millis.length; op++) {
      Double cost = costMillis.get(op);
      if (cost == null) {
        throw TraceFormatException.atEntry(
            files.costInfo(), "\"" + op + "\"", "no time of this operator");
      }
      millis[op] = cost;
    }
    return millis;
  }

  private void allocate(Trace.Builder trace, String file, String entry, String id) {
    Long bytes = sizesBytes.get(id);
    if (bytes == null) {
      throw TraceFormatException.atEntry(
          files.tensorSize(),
          "\"" + id + "\"",
          "no size of this tensor, which " + entry + " of " + file + " allocates");
    }
    try {
      trace.allocate(id, bytes);
    } catch (IllegalArgumentException refused) {
      throw TraceFormatException.atEntry(file, entry, refused.getMessage());
    }
  }

  private static void release(Trace.Builder trace, String file, String entry, String id) {
    try {
      trace.release(id);
    } catch (IllegalArgumentException refused) {
      throw TraceFormatException.atEntry(file, entry, refused.getMessage());
    }
  }
}
