package io.prmalloc.trace.swap;

import io.prmalloc.trace.MnnOp;
import io.prmalloc.trace.MnnProfile;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Finds where the backward pass of a training step begins.
 *
 * <p>Threading: stateless.
 */
public final class ForwardPass {

  // A profile does not say which operators are derivatives; they are plain products and sums. But
  // the labels give it away. They come in as numbers and become vectors in an operator OneHot, and
  // nothing of the forward pass needs them before the loss. So:
  //
  // 1. Tensors that depend on a OneHot are the labels' and all that is made of them: the whole
  //    backward pass, and some arithmetic that is the labels' own.
  // 2. An operator where the labels meet the network reads one of them and one that is free of
  //    them. The labels' own arithmetic (scaling by the number of samples) looks the same, but what
  //    is label-free there has a short history: count the operators of the longest chain behind a
  //    tensor. The network's end is at least half as deep as the deepest label-free tensor.
  // 3. The first such operator begins the backward pass: a training framework drops the loss itself
  //    when nothing reads it, so what is left of it is its derivative. If the network ends in a
  //    Softmax, the meeting is the derivative of the logarithm, label / probability, and counts as
  //    the loss: the backward pass begins behind it. That is where the HeuristicAllocator project
  //    cuts, "two after the softmax".

  private static final String ONE_HOT = "OneHot";
  private static final String SOFTMAX = "Softmax";

  private ForwardPass() {}

  /**
   * How many operators the forward pass has, which is the index of the first one of the backward
   * pass; empty if the profile has no labels, or they do not meet a network.
   *
   * <p>Threading: any thread.
   */
  public static OptionalInt find(MnnProfile profile) {
    List<MnnOp> ops = profile.ops();
    Set<String> labelled = new HashSet<>();
    Map<String, Integer> depths = new HashMap<>();
    Map<String, Integer> producers = new HashMap<>();
    int deepest = 0;
    for (int i = 0; i < ops.size(); i++) {
      MnnOp op = ops.get(i);
      boolean label = isA(op, ONE_HOT) || op.inputs().stream().anyMatch(labelled::contains);
      int depth =
          1 + op.inputs().stream().mapToInt(id -> depths.getOrDefault(id, 0)).max().orElse(0);
      deepest = label ? deepest : Math.max(deepest, depth);
      for (String output : op.outputs()) {
        depths.put(output, depth);
        producers.put(output, i);
        if (label) {
          labelled.add(output);
        }
      }
    }
    for (int i = 0; i < ops.size(); i++) {
      if (ops.get(i).inputs().stream().noneMatch(labelled::contains)) {
        continue;
      }
      for (String input : ops.get(i).inputs()) {
        if (!labelled.contains(input) && 2 * depths.getOrDefault(input, 0) >= deepest) {
          int first = isA(ops.get(producers.get(input)), SOFTMAX) ? i + 1 : i;
          return first > 0 && first < ops.size() ? OptionalInt.of(first) : OptionalInt.empty();
        }
      }
    }
    return OptionalInt.empty();
  }

  /** Profilers name an operator {@code INDEXth:CODE:TYPE}. */
  private static boolean isA(MnnOp op, String type) {
    return op.name().equals(type) || op.name().endsWith(":" + type);
  }
}
