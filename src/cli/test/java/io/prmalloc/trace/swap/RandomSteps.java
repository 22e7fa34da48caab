package io.prmalloc.trace.swap;

import io.prmalloc.trace.MnnFiles;
import io.prmalloc.trace.MnnOp;
import io.prmalloc.trace.MnnOp.ScratchEvent;
import io.prmalloc.trace.MnnProfile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Small training steps: a chain with skips forward, and its mirror image backward. */
final class RandomSteps {

  private RandomSteps() {}

  /** A step with up to so many feature maps, its passes as long as each other. */
  static SwapStep step(SplittableRandom random, int maxMaps) {
    int layers = random.nextInt(2, maxMaps + 1);
    return SwapStep.of(profile(random, layers), layers);
  }

  /** A profile whose forward pass has so many operators, and its backward pass too. */
  static MnnProfile profile(SplittableRandom random, int layers) {
    List<List<String>> inputs = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      List<String> reads = new ArrayList<>();
      if (i > 0) {
        reads.add("" + (i - 1));
        if (i > 2 && random.nextInt(4) == 0) {
          reads.add("" + random.nextInt(i - 1));
        }
      }
      inputs.add(reads);
    }
    // Gradient k belongs to layer layers - 1 - k and reads what that layer read or wrote.
    for (int k = 0; k < layers; k++) {
      int layer = layers - 1 - k;
      List<String> reads = new ArrayList<>();
      if (k > 0) {
        reads.add("" + (layers + k - 1));
      }
      if (random.nextInt(5) > 0) {
        reads.add("" + layer);
      }
      inputs.get(layer).stream().filter(id -> random.nextInt(3) > 0).forEach(reads::add);
      inputs.add(reads.stream().distinct().toList());
    }
    Map<String, Integer> lastReads = new HashMap<>();
    for (int op = 0; op < inputs.size(); op++) {
      for (String id : inputs.get(op)) {
        lastReads.put(id, op);
      }
    }
    Map<String, Long> sizes = new HashMap<>();
    Map<Integer, Double> millis = new HashMap<>();
    List<MnnOp> ops = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      int op = i;
      List<String> released = inputs.get(i).stream().filter(id -> lastReads.get(id) == op).toList();
      List<ScratchEvent> scratch = new ArrayList<>();
      if (random.nextInt(3) == 0) {
        scratch.add(new ScratchEvent(true, i + ":0"));
        scratch.add(new ScratchEvent(false, i + ":0"));
        sizes.put(i + ":0", 1L + random.nextInt(20_000));
      }
      sizes.put("" + i, 1L + random.nextInt(100_000));
      millis.put(i, 1 + random.nextDouble() * 80);
      ops.add(new MnnOp("op", inputs.get(i), List.of("" + i), released, scratch));
    }
    return new MnnProfile(
        "Random", 1, new MnnFiles(Path.of("random"), "Random", 1), ops, sizes, Map.of(), millis);
  }
}
