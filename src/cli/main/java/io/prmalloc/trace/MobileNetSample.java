package io.prmalloc.trace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Makes the bundled sample: what one inference step of MobileNet v1 allocates, for 8 images.
 *
 * <p>The network is the published one (Howard et al., 2017): 224 × 224 × 3 input, width 1.0, 32-bit
 * floats, channels last, a full convolution, thirteen pairs of depthwise and pointwise convolution,
 * average pooling, one dense layer, softmax. Batch normalisation is folded into the bias and ReLU6
 * works in place, so neither has a tensor of its own. Around each layer the step has what a plain
 * CPU engine needs on two threads:
 *
 * <ul>
 *   <li>the layer's output, alive until the next layer has read it;
 *   <li>its shape (four 64-bit numbers) and its bias (one float per channel);
 *   <li>a padded copy of the input in front of a strided convolution, as the network's padding
 *       layers make it;
 *   <li>scratch: the unrolled patches of one image for the full convolution, three padded input
 *       rows per thread for a depthwise one, a packed panel of 256 rows per thread for a matrix
 *       product.
 * </ul>
 *
 * <p>The request in front of it brings bytes, which become floats; behind it the five best classes
 * of each image are sought. Every other tensor is small (at most 32 KiB).
 *
 * <p>Threading: one thread at a time.
 */
public final class MobileNetSample {

  private static final int BATCH = 8;
  private static final int THREADS = 2;
  private static final int PANEL_ROWS = 256;
  private static final int CLASSES = 1000;
  private static final int BEST = 5;

  /** Output channels and stride of the thirteen pairs. */
  private static final int[][] PAIRS = {
    {64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1},
    {512, 1}, {512, 1}, {1024, 2}, {1024, 1}
  };

  private final Trace.Builder step = Trace.builder("sample:" + Samples.MOBILENET);
  private String input;
  private int side;
  private int channels;

  private MobileNetSample() {}

  /**
   * The step, always the same.
   *
   * <p>Threading: any thread.
   */
  public static Trace generate() {
    return new MobileNetSample().run();
  }

  /**
   * Prints the step in the format {@link TraceFormat#EVENTS}, as it is bundled.
   *
   * <p>Threading: any thread.
   *
   * @param args not looked at
   */
  public static void main(String[] args) {
    byte[] text = EventsReader.write(generate()).getBytes(StandardCharsets.UTF_8);
    System.out.write(text, 0, text.length);
    System.out.flush();
  }

  private Trace run() {
    side = 224;
    channels = 3;
    step.allocate("request/bytes", (long) BATCH * side * side * channels);
    input = "request/floats";
    step.allocate(input, activationBytes());
    step.release("request/bytes");
    fullConvolution("conv1", 32);
    for (int i = 0; i < PAIRS.length; i++) {
      int stride = PAIRS[i][1];
      depthwise("dw" + (i + 1), stride);
      pointwise("pw" + (i + 1), PAIRS[i][0]);
    }
    head();
    return step.build();
  }

  /** Three by three, stride two: patches of one image are unrolled, then multiplied. */
  private void fullConvolution(String name, int outputChannels) {
    pad(name);
    int patch = 3 * 3 * channels;
    side /= 2;
    channels = outputChannels;
    layer(
        name,
        channels,
        List.of(
            scratch(name + "/patches", floats((long) side * side * patch)),
            scratch(name + "/panel", floats((long) THREADS * PANEL_ROWS * patch))));
  }

  private void depthwise(String name, int stride) {
    if (stride == 2) {
      pad(name);
    }
    long rows = floats((long) THREADS * 3 * (side + 2) * channels);
    side /= stride;
    layer(name, channels, List.of(scratch(name + "/rows", rows)));
  }

  private void pointwise(String name, int outputChannels) {
    long panel = floats((long) THREADS * PANEL_ROWS * channels);
    channels = outputChannels;
    layer(name, channels, List.of(scratch(name + "/panel", panel)));
  }

  /** The padded copy takes the input's place. */
  private void pad(String layer) {
    String padded = layer + "/padded";
    step.allocate(padded, floats((long) BATCH * (side + 1) * (side + 1) * channels));
    step.release(input);
    input = padded;
  }

  private void layer(String name, int biases, List<Scratch> scratch) {
    String output = name + "/output";
    step.allocate(name + "/shape", 4 * Long.BYTES);
    step.allocate(output, activationBytes());
    if (biases > 0) {
      step.allocate(name + "/bias", floats(biases));
    }
    scratch.forEach(piece -> step.allocate(piece.id, piece.bytes));
    List<Scratch> lastFirst = new ArrayList<>(scratch);
    Collections.reverse(lastFirst);
    lastFirst.forEach(piece -> step.release(piece.id));
    if (biases > 0) {
      step.release(name + "/bias");
    }
    step.release(name + "/shape");
    step.release(input);
    input = output;
  }

  private void head() {
    side = 1;
    layer("pool", 0, List.of());
    int features = channels;
    channels = CLASSES;
    layer(
        "dense",
        CLASSES,
        List.of(scratch("dense/panel", floats((long) THREADS * BATCH * features))));
    layer(
        "softmax",
        0,
        List.of(scratch("softmax/max", floats(BATCH)), scratch("softmax/sum", floats(BATCH))));
    step.allocate("best/classes", (long) BATCH * BEST * Long.BYTES);
    step.allocate("best/scores", floats((long) BATCH * BEST));
    step.release(input);
    step.release("best/classes");
    step.release("best/scores");
  }

  private record Scratch(String id, long bytes) {}

  private static Scratch scratch(String id, long bytes) {
    return new Scratch(id, bytes);
  }

  private long activationBytes() {
    return floats((long) BATCH * side * side * channels);
  }

  private static long floats(long count) {
    return count * Float.BYTES;
  }
}
