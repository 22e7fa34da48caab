package io.prmalloc.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One inference as an allocator sees it: tensors are taken and given back in a fixed order, the
 * same in every run.
 *
 * <p>Made up of layers, as models are: a layer takes its output, at times some scratch space and
 * small tensors beside it, and gives the scratch back at its end. An output lives until the next
 * layer has read it, or, with a skip connection, until a later one has. At the end nothing is left.
 *
 * <p>Threading: immutable.
 */
final class Step {

  /** Is told of a tensor while it has memory. */
  interface Visitor {
    /** The tensor has just got its memory. */
    void taken(int tensor);

    /** The tensor is about to give its memory back. */
    void leaving(int tensor);
  }

  /** Looks at no tensor. */
  private static final Visitor NOTHING =
      new Visitor() {
        @Override
        public void taken(int tensor) {}

        @Override
        public void leaving(int tensor) {}
      };

  /** Draws the tensors and the order of events, layer by layer. */
  private static final class Layers {
    private final SplittableRandom random;
    private final long largestBytes;
    private final int mirrorLayers;
    private final List<Long> bytes = new ArrayList<>();
    private final List<Long> alignments = new ArrayList<>();
    private final List<Integer> events = new ArrayList<>();
    private final List<List<Integer>> endingAfter = new ArrayList<>();

    Layers(long seed, int layers, long largestBytes, boolean mirrored) {
      this.random = new SplittableRandom(seed);
      this.largestBytes = largestBytes;
      this.mirrorLayers = mirrored ? layers : 0;
      for (int layer = 0; layer < layers + LONGEST_SKIP; layer++) {
        endingAfter.add(new ArrayList<>());
      }
      for (long edge : EDGES) {
        add(edge, 0);
      }
      for (int layer = 0; layer < layers; layer++) {
        add(layer);
        end(layer);
      }
      for (int layer = layers; layer < endingAfter.size(); layer++) {
        end(layer);
      }
    }

    private void add(int layer) {
      int skip = random.nextInt(4) == 0 ? 2 + random.nextInt(LONGEST_SKIP - 1) : 1;
      int lastLayer = layer < mirrorLayers / 2 ? mirrorLayers - 1 - layer : layer + skip;
      add(plannedBytes(largestBytes), lastLayer);
      for (int scratch = random.nextInt(3); scratch > 0; scratch--) {
        add(plannedBytes(largestBytes / 2), layer);
      }
      for (int small = random.nextInt(4); small > 0; small--) {
        add(random.nextInt(LARGEST_SMALL_BYTES + 1), layer + random.nextInt(2));
      }
    }

    private void add(long size, int lastLayer) {
      int tensor = bytes.size();
      bytes.add(size);
      // Mostly a cache line, at times more, up to a page.
      alignments.add(random.nextInt(3) > 0 ? 64 : 64L << random.nextInt(7));
      events.add(tensor);
      endingAfter.get(lastLayer).add(tensor);
    }

    /** As many of 64 KiB to 128 KiB as of 4 MiB to 8 MiB, as in real models. */
    private long plannedBytes(long most) {
      double doublings = Math.log((double) most / SMALLEST_PLANNED_BYTES) / Math.log(2);
      return (long) (SMALLEST_PLANNED_BYTES * Math.pow(2, doublings * random.nextDouble()));
    }

    private void end(int layer) {
      endingAfter.get(layer).forEach(tensor -> events.add(~tensor));
    }
  }

  private static final int LARGEST_SMALL_BYTES = 32 << 10;
  private static final long SMALLEST_PLANNED_BYTES = LARGEST_SMALL_BYTES + 1;
  private static final int LONGEST_SKIP = 8;

  /** Sizes that every step has: none, least, and either side of what is planned. */
  private static final long[] EDGES = {0, 1, LARGEST_SMALL_BYTES, SMALLEST_PLANNED_BYTES};

  private final long[] bytes;
  private final long[] alignments;

  /** A tensor's number where it is taken, its complement where it is given back. */
  private final int[] events;

  private Step(Layers layers) {
    bytes = layers.bytes.stream().mapToLong(Long::longValue).toArray();
    alignments = layers.alignments.stream().mapToLong(Long::longValue).toArray();
    events = layers.events.stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * Makes a step.
   *
   * @param seed the same seed gives the same step
   * @param layers how many layers, from 1; each takes one to six tensors
   * @param largestBytes what no tensor exceeds
   */
  static Step of(long seed, int layers, long largestBytes) {
    return new Step(new Layers(seed, layers, largestBytes, false));
  }

  /**
   * Makes a step whose first half's outputs are read again in its second half, last one first, as
   * by a U-Net or a backward pass. Half of them live at the same time.
   *
   * <p>Parameters as {@link #of}.
   */
  static Step mirrored(long seed, int layers, long largestBytes) {
    return new Step(new Layers(seed, layers, largestBytes, true));
  }

  /** Runs the step once, and uses none of its memory. Makes no garbage. */
  void run(Tensors tensors) {
    run(tensors, NOTHING);
  }

  /** Runs the step once. Makes no garbage. */
  void run(Tensors tensors, Visitor visitor) {
    for (int event : events) {
      if (event >= 0) {
        tensors.take(event, bytes[event], alignments[event]);
        visitor.taken(event);
      } else {
        visitor.leaving(~event);
        tensors.giveBack(~event);
      }
    }
  }

  int tensors() {
    return bytes.length;
  }

  /** Tensors that are too large for slabs, and so are planned. */
  int plannedTensors() {
    int planned = 0;
    for (long size : bytes) {
      planned += size > LARGEST_SMALL_BYTES ? 1 : 0;
    }
    return planned;
  }

  long bytes(int tensor) {
    return bytes[tensor];
  }

  long alignment(int tensor) {
    return alignments[tensor];
  }

  /** The most bytes that tensors have at a time. */
  long peakBytes() {
    long live = 0;
    long most = 0;
    for (int event : events) {
      live += event >= 0 ? bytes[event] : -bytes[~event];
      most = Math.max(most, live);
    }
    return most;
  }
}
