package io.prmalloc.trace.swap;

import io.prmalloc.trace.MnnOp;
import io.prmalloc.trace.MnnOp.ScratchEvent;
import io.prmalloc.trace.MnnProfile;
import io.prmalloc.trace.Trace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A profile with its tensors numbered, split into forward and backward pass.
 *
 * <p>Threading: immutable; the arrays are not to be written.
 */
final class SwapStep {

  /** One operator. Inputs that no operator of the step makes are left out. */
  static final class Op {
    final String name;
    final double millis;
    final int[] inputs;
    final int[] outputs;
    final int[] scratch;
    final int[] scratchFreed;
    final int[] released;

    private Op(MnnOp op, double millis, int[] inputs, Map<String, Integer> numbers) {
      this.name = op.name();
      this.millis = millis;
      this.inputs = inputs;
      outputs = numbers(op.outputs(), numbers);
      scratch = numbers(scratch(op, true), numbers);
      scratchFreed = numbers(scratch(op, false), numbers);
      released = numbers(op.released(), numbers);
    }
  }

  /** The operators in order. */
  final List<Op> ops;

  /** What the profile calls each tensor. */
  final String[] ids;

  /** The size of each tensor in bytes. */
  final long[] sizesBytes;

  /** How many operators the forward pass has. */
  final int forwardOps;

  /** The operator that releases each tensor; the number of operators if none does. */
  final int[] releaseOps;

  /** All feature maps in the order of their numbers. */
  final List<FeatureMap> maps;

  /** For each operator, the maps (by place in {@link #maps}) that are due to go after it. */
  final int[][] leaving;

  /** For each operator, the maps that must be back for it. */
  final int[][] returning;

  private SwapStep(List<Op> ops, String[] ids, long[] sizesBytes, int forwardOps) {
    this.ops = List.copyOf(ops);
    this.ids = ids;
    this.sizesBytes = sizesBytes;
    this.forwardOps = forwardOps;
    int[] producers = new int[ids.length];
    releaseOps = new int[ids.length];
    Arrays.fill(producers, -1);
    Arrays.fill(releaseOps, ops.size());
    for (int op = 0; op < ops.size(); op++) {
      for (int tensor : ops.get(op).outputs) {
        producers[tensor] = op;
      }
      for (int tensor : ops.get(op).released) {
        releaseOps[tensor] = op;
      }
    }
    leaving = new int[ops.size()][0];
    returning = new int[ops.size()][0];
    maps = List.copyOf(findMaps(producers));
  }

  /**
   * Numbers a profile's tensors in the order they come.
   *
   * @param forwardOps how many operators the forward pass has, from 1 to less than there are
   * @throws io.prmalloc.trace.TraceFormatException if the profile has no times, or not of all
   *     operators; or a life is impossible
   */
  static SwapStep of(MnnProfile profile, int forwardOps) {
    Trace trace = profile.toTrace();
    String[] ids = new String[trace.tensorCount()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = trace.id(i);
    }
    Map<String, Integer> numbers = new HashMap<>();
    List<Op> ops = new ArrayList<>();
    double[] millis = profile.requiredMillis();
    int next = 0;
    for (int i = 0; i < profile.ops().size(); i++) {
      MnnOp op = profile.ops().get(i);
      // Before its outputs are numbered: an id may come again.
      int[] inputs = numbers(op.inputs(), numbers);
      for (List<String> made : List.of(op.outputs(), scratch(op, true))) {
        for (String id : made) {
          numbers.put(id, next++);
        }
      }
      ops.add(new Op(op, millis[i], inputs, numbers));
    }
    return new SwapStep(ops, ids, trace.sizesBytes(), forwardOps);
  }

  private static List<String> scratch(MnnOp op, boolean allocated) {
    return op.scratch().stream()
        .filter(event -> event.allocate() == allocated)
        .map(ScratchEvent::id)
        .toList();
  }

  private static int[] numbers(List<String> ids, Map<String, Integer> numbers) {
    return ids.stream().filter(numbers::containsKey).mapToInt(numbers::get).toArray();
  }

  private List<FeatureMap> findMaps(int[] producers) {
    int[] lastForward = new int[ids.length];
    int[] firstBackward = new int[ids.length];
    Arrays.fill(lastForward, -1);
    Arrays.fill(firstBackward, -1);
    List<FeatureMap> found = new ArrayList<>();
    int[] placeOf = new int[ids.length];
    Arrays.fill(placeOf, -1);
    for (int tensor = 0; tensor < ids.length; tensor++) {
      if (producers[tensor] >= 0
          && producers[tensor] < forwardOps
          && releaseOps[tensor] >= forwardOps) {
        placeOf[tensor] = found.size();
        found.add(null);
      }
    }
    // The order within an operator is that in which this walk meets them.
    for (int op = forwardOps - 1; op >= 0; op--) {
      leaving[op] = firstMet(placeOf, lastForward, op, ops.get(op).inputs, ops.get(op).outputs);
    }
    for (int op = forwardOps; op < ops.size(); op++) {
      returning[op] = firstMet(placeOf, firstBackward, op, ops.get(op).inputs, new int[0]);
    }
    for (int tensor = 0; tensor < ids.length; tensor++) {
      if (placeOf[tensor] >= 0) {
        found.set(
            placeOf[tensor],
            new FeatureMap(
                tensor,
                sizesBytes[tensor],
                producers[tensor],
                lastForward[tensor],
                firstBackward[tensor]));
      }
    }
    return found;
  }

  private static int[] firstMet(int[] placeOf, int[] metAt, int op, int[] inputs, int[] outputs) {
    List<Integer> met = new ArrayList<>();
    for (int[] tensors : List.of(inputs, outputs)) {
      for (int tensor : tensors) {
        if (placeOf[tensor] >= 0 && metAt[tensor] < 0) {
          metAt[tensor] = op;
          met.add(placeOf[tensor]);
        }
      }
    }
    return met.stream().mapToInt(Integer::intValue).toArray();
  }
}
