package io.prmalloc.trace;

import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.TensorKind;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes two graphs that are always there: MobileNet v1 and v2 as they are published (Howard et al.,
 * 2017; Sandler et al., 2018), with 224 × 224 × 3 input, width 1.0, for one image, quantised to 8
 * bits.
 *
 * <p>Activations and weights are one byte an element, biases four. Batch normalisation and ReLU6
 * are folded into the convolutions, padding is part of them, and no kernel needs scratch memory, as
 * in the models of TensorFlow's hosted collection. Their arenas need 1,204,224 and 1,505,280 bytes.
 *
 * <p>Threading: one thread at a time.
 */
public final class MobileNetGraphs {

  private static final int SIDE = 224;
  private static final int CLASSES = 1001;

  /** Output channels and stride of v1's thirteen pairs. */
  private static final int[][] V1_PAIRS = {
    {64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1},
    {512, 1}, {512, 1}, {1024, 2}, {1024, 1}
  };

  /** Expansion, output channels, repetitions and first stride of v2's bottlenecks. */
  private static final int[][] V2_BOTTLENECKS = {
    {1, 16, 1, 1},
    {6, 24, 2, 2},
    {6, 32, 3, 2},
    {6, 64, 4, 2},
    {6, 96, 3, 1},
    {6, 160, 3, 2},
    {6, 320, 1, 1}
  };

  private final List<Tensor> tensors = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private int current;
  private int side = SIDE;
  private int channels = 3;

  private MobileNetGraphs() {
    current = add("input", (long) SIDE * SIDE * 3, TensorKind.ARENA);
  }

  /** MobileNet v1, always the same. Threading: any thread. */
  public static Graph v1() {
    MobileNetGraphs net = new MobileNetGraphs();
    net.convolution("conv1", 3, 2, 32);
    for (int i = 0; i < V1_PAIRS.length; i++) {
      net.depthwise("dw" + (i + 1), V1_PAIRS[i][1]);
      net.convolution("pw" + (i + 1), 1, 1, V1_PAIRS[i][0]);
    }
    return net.head();
  }

  /** MobileNet v2, always the same. Threading: any thread. */
  public static Graph v2() {
    MobileNetGraphs net = new MobileNetGraphs();
    net.convolution("conv1", 3, 2, 32);
    int block = 0;
    for (int[] stage : V2_BOTTLENECKS) {
      for (int i = 0; i < stage[2]; i++) {
        net.bottleneck("block" + ++block, stage[0], stage[1], i == 0 ? stage[3] : 1);
      }
    }
    net.convolution("conv2", 1, 1, 1280);
    return net.head();
  }

  private void bottleneck(String name, int expansion, int outputChannels, int stride) {
    int input = current;
    int inputChannels = channels;
    if (expansion > 1) {
      convolution(name + "/expand", 1, 1, expansion * channels);
    }
    depthwise(name + "/depthwise", stride);
    convolution(name + "/project", 1, 1, outputChannels);
    if (stride == 1 && inputChannels == outputChannels) {
      node(name + "/add", List.of(input, current));
    }
  }

  private void convolution(String name, int kernel, int stride, int outputChannels) {
    weighted(name, stride, outputChannels, (long) kernel * kernel * channels * outputChannels);
  }

  private void depthwise(String name, int stride) {
    weighted(name, stride, channels, 3L * 3 * channels);
  }

  private void weighted(String name, int stride, int outputChannels, long weights) {
    int weight = add(name + "/weights", weights, TensorKind.CONSTANT);
    int bias = add(name + "/bias", 4L * outputChannels, TensorKind.CONSTANT);
    side = (side + stride - 1) / stride;
    channels = outputChannels;
    node(name, List.of(current, weight, bias));
  }

  private Graph head() {
    side = 1;
    node("pool", List.of(current));
    convolution("classes", 1, 1, CLASSES);
    node("logits", List.of(current));
    node("softmax", List.of(current));
    return new Graph(tensors, nodes, List.of(0), List.of(current), List.of());
  }

  private void node(String name, List<Integer> inputs) {
    current = add(name, (long) side * side * channels, TensorKind.ARENA);
    nodes.add(new Node(inputs, List.of(current), List.of()));
  }

  private int add(String name, long bytes, TensorKind kind) {
    tensors.add(new Tensor(bytes, kind, name));
    return tensors.size() - 1;
  }
}
