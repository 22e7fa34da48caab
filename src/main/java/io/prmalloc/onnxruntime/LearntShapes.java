package io.prmalloc.onnxruntime;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Output shapes that were not given, as runs showed them, by the shapes of all inputs. An output
 * that has two shapes for the same inputs depends on the data, and is not looked up again.
 *
 * <p>Threading: any thread.
 */
final class LearntShapes {

  /** So many shapes of inputs are kept; the one longest unused makes room. */
  private static final int MOST = 1024;

  private final Map<List<List<Long>>, Map<String, long[]>> byInputs =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<List<List<Long>>, Map<String, long[]>> it) {
          return size() > MOST;
        }
      };

  private final Set<String> varying = new HashSet<>();

  /** What the shapes of all inputs are looked up by. */
  static List<List<Long>> keyOf(Map<String, TensorView.Layout> inputs) {
    return inputs.values().stream()
        .map(layout -> Arrays.stream(layout.shape).boxed().toList())
        .toList();
  }

  /** The shape of an output, or null if it is not known. */
  synchronized long[] find(List<List<Long>> inputs, String output) {
    Map<String, long[]> known = varying.contains(output) ? null : byInputs.get(inputs);
    return known == null ? null : known.get(output);
  }

  /** Keeps the shape of an output; false if it depends on the data. */
  synchronized boolean learn(List<List<Long>> inputs, String output, long... shape) {
    long[] before =
        byInputs.computeIfAbsent(inputs, key -> new HashMap<>()).putIfAbsent(output, shape);
    if (before != null && !Arrays.equals(before, shape)) {
      varying.add(output);
    }
    return !varying.contains(output);
  }
}
