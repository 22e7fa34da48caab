package io.prmalloc.tflite;

import static io.prmalloc.tflite.BuiltinOperator.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.model.GraphModel;
import io.prmalloc.model.ModelFormatException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Shapes that a user sets, propagated through operators; the expected ones are TensorFlow Lite's.
 */
class ShapeInferenceTest {

  private static final int[] NONE = {};

  private static int[] of(int... numbers) {
    return numbers;
  }

  private static GraphModel model(byte[] model, Map<String, List<Integer>> shapes) {
    return TfliteReader.readModel("m.tflite", ByteBuffer.wrap(model), model.length, 0, shapes);
  }

  private static String shape(GraphModel model, int subgraph, int tensor) {
    return model.parts().get(subgraph).tensors().get(tensor).shape();
  }

  private static String stopped(byte[] model, Map<String, List<Integer>> shapes) {
    return assertThrows(ModelFormatException.class, () -> model(model, shapes)).getMessage();
  }

  /** One operator: tensor 0 is what is set, 1 and further are constants, the last is the output. */
  private static final class One {
    private final TfliteWriter writer = new TfliteWriter();
    private final List<Integer> constants = new ArrayList<>();
    private int tensors = 1;

    One() {
      // Without a signature the shape may have any rank.
      writer.tensor("in", ElementType.FLOAT32, 0, 1);
    }

    /** Whole numbers. */
    One numbers(int... values) {
      constants.add(tensors++);
      writer.constant("numbers", values);
      return this;
    }

    /** One whole number without a dimension. */
    One scalar(int value) {
      constants.add(tensors++);
      writer.tensor("scalar", ElementType.INT32, writer.ints(value));
      return this;
    }

    /** Weights whose values do not matter. */
    One weights(int... shape) {
      constants.add(tensors++);
      int elements = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
      writer.tensor("weights", ElementType.INT8, writer.buffer(new byte[elements]), shape);
      return this;
    }

    /** The shapes of the outputs for a shape of the input, which is at a position. */
    String run(int at, String in, BuiltinOperator kind, int outputs, int... options) {
      int[] inputs = new int[constants.size() + 1];
      List<Integer> rest = new ArrayList<>(constants);
      for (int i = 0; i < inputs.length; i++) {
        inputs[i] = i == at ? 0 : rest.remove(0);
      }
      int[] made = new int[outputs];
      for (int i = 0; i < outputs; i++) {
        writer.tensor("out", ElementType.FLOAT32, 0, 1);
        made[i] = tensors + i;
      }
      boolean vector = kind == SQUEEZE || (kind == RESHAPE && constants.isEmpty());
      byte[] model =
          (vector
                  ? writer.vectorOperator(kind, inputs, made, options)
                  : writer.operator(kind, inputs, made, options))
              .endSubgraph(of(0), made)
              .finish();
      List<Integer> shape = Arrays.stream(in.split("x", -1)).map(Integer::valueOf).toList();
      return run(model, shape, made);
    }

    private static String run(byte[] model, List<Integer> shape, int[] made) {
      try {
        GraphModel read = model(model, Map.of("in", shape));
        return IntStream.of(made).mapToObj(i -> shape(read, 0, i)).collect(Collectors.joining(" "));
      } catch (ModelFormatException stop) {
        return stop.getMessage().replaceFirst(".* stops the shapes of --shape: ", "stopped: ");
      }
    }
  }

  private static One one() {
    return new One();
  }

  @Test
  void shouldSlideWindowsWhenOperatorsConvolveOrPool() {
    // Padding 0 is SAME, 1 VALID; then the strides, width first.
    assertEquals("2x5x10x8", one().weights(8, 3, 3, 3).run(0, "2x10x20x3", CONV_2D, 1, 0, 2, 2));
    assertEquals("2x8x9x8", one().weights(8, 3, 3, 3).run(0, "2x10x20x3", CONV_2D, 1, 1, 2, 1));
    assertEquals(
        "2x6x16x8", one().weights(8, 3, 3, 3).run(0, "2x10x20x3", CONV_2D, 1, 1, 1, 1, 0, 2, 2));
    assertEquals(
        "stopped: a window of 3 does not fit into 2",
        one().weights(8, 3, 3, 3).run(0, "1x2x9x3", CONV_2D, 1, 1, 1, 1));
    assertEquals(
        "1x5x4x6", one().weights(1, 2, 3, 6).run(0, "1x10x9x3", DEPTHWISE_CONV_2D, 1, 1, 2, 2, 2));
    assertEquals(
        "1x2x3x3x7", one().weights(2, 2, 2, 3, 7).run(0, "1x3x6x4x3", CONV_3D, 1, 1, 1, 1, 2));
    assertEquals("1x4x3x5", one().run(0, "1x9x9x5", MAX_POOL_2D, 1, 1, 3, 2, 3, 2));
    assertEquals("1x5x3x5", one().run(0, "1x9x9x5", AVERAGE_POOL_2D, 1, 0, 3, 2, 3, 2));
    assertEquals(
        "1x8x8x4",
        one()
            .numbers(1, 8, 8, 4)
            .weights(4, 3, 3, 2)
            .run(2, "1x4x4x2", TRANSPOSE_CONV, 1, 0, 2, 2));
  }

  @Test
  void shouldStopWhenAFilterIsForOtherChannels() {
    // Two groups of three channels.
    assertEquals("1x4x4x8", one().weights(8, 3, 3, 3).run(0, "1x4x4x6", CONV_2D, 1, 0, 1, 1));
    assertEquals(
        "stopped: a filter of [8, 3, 3, 3] does not fit [1, 4, 4, 4]",
        one().weights(8, 3, 3, 3).run(0, "1x4x4x4", CONV_2D, 1, 0, 1, 1));
    assertEquals(
        "stopped: a filter of [7, 3, 3, 3] does not fit [1, 4, 4, 6]",
        one().weights(7, 3, 3, 3).run(0, "1x4x4x6", CONV_2D, 1, 0, 1, 1));
    assertEquals(
        "stopped: a filter of [1, 3, 3, 6] does not fit [1, 4, 4, 4]",
        one().weights(1, 3, 3, 6).run(0, "1x4x4x4", DEPTHWISE_CONV_2D, 1, 0, 1, 1));
    assertEquals(
        "stopped: a filter of [2, 2, 2, 3, 7] does not fit [1, 3, 6, 4, 4]",
        one().weights(2, 2, 2, 3, 7).run(0, "1x3x6x4x4", CONV_3D, 1, 1, 1, 1, 2));
    assertEquals(
        "stopped: a filter of [4, 3, 3, 2] does not fit [1, 4, 4, 3]",
        one()
            .numbers(1, 8, 8, 4)
            .weights(4, 3, 3, 2)
            .run(2, "1x4x4x3", TRANSPOSE_CONV, 1, 0, 2, 2));
  }

  @Test
  void shouldStopWhenShapesDoNotFitEachOther() {
    assertEquals("stopped: [2, 4] and [2, 3] differ", one().weights(2, 4).run(0, "2x3", ADD_N, 1));
    assertEquals(
        "stopped: [2, 4] and [2, 3] differ",
        one().weights(2, 3).weights(2, 4).run(0, "2x3", SELECT, 1));
    assertEquals(
        "stopped: [3, 5] and [3, 4] differ", one().weights(3, 5).run(0, "3x4", PACK, 1, 2, 1));
    assertEquals("4x3", one().numbers(4, 3).run(0, "1x3", BROADCAST_TO, 1));
    assertEquals(
        "stopped: [4, 1] cannot be broadcast to [1, 3]",
        one().numbers(1, 3).run(0, "4x1", BROADCAST_TO, 1));
    assertEquals(
        "stopped: indices of [3, 5] do not fit [2, 4]",
        one().weights(3, 5).run(0, "2x4", GATHER, 1, 1, 1));
    assertEquals(
        "stopped: the first 10 are not in [7, 9]", one().scalar(10).run(0, "7x9", TOPK_V2, 2));
  }

  @Test
  void shouldMultiplyWhenOperatorsAreProducts() {
    assertEquals("6x7", one().weights(7, 4).run(0, "2x3x4", FULLY_CONNECTED, 1));
    assertEquals(
        "stopped: dimension 10 is no multiple of 4",
        one().weights(7, 4).run(0, "2x5", FULLY_CONNECTED, 1));
    assertEquals("5x2x3x6", one().weights(4, 6).run(0, "5x2x3x4", BATCH_MATMUL, 1));
    assertEquals("5x3x6", one().weights(5, 4, 6).run(0, "3x4", BATCH_MATMUL, 1));
    assertEquals(
        "stopped: [3, 5] and [4, 6] cannot be multiplied",
        one().weights(4, 6).run(0, "3x5", BATCH_MATMUL, 1));
  }

  @Test
  void shouldGiveTheUnitsWhenOperatorsAreRecurrent() {
    assertEquals("2x8", rnn(2).run(0, "2x4", RNN, 1));
    assertEquals("2x5x8", rnn(2).run(0, "2x5x4", UNIDIRECTIONAL_SEQUENCE_RNN, 1));
    assertEquals("5x2x8", rnn(2).run(0, "5x2x4", UNIDIRECTIONAL_SEQUENCE_RNN, 1, 1));
    assertEquals(
        "stopped: its state, input 4, has 8 elements instead of 16",
        rnn(1).run(0, "2x5x4", UNIDIRECTIONAL_SEQUENCE_RNN, 1));
    assertEquals("stopped: [2, 3] does not end in 4", rnn(2).run(0, "2x3", RNN, 1));
    assertEquals("2x5x8 2x5x6", bothRnns().run(0, "2x5x4", BIDIRECTIONAL_SEQUENCE_RNN, 2));
    assertEquals("5x2x14", bothRnns().run(0, "5x2x4", BIDIRECTIONAL_SEQUENCE_RNN, 1, 1, 0, 1));
    assertEquals(
        "4x6",
        one().weights(12, 3).weights(12, 5).weights(12).weights(4, 60).run(0, "4x3", SVDF, 1, 2));
  }

  /** Weights, recurrent weights, bias and state. */
  private static One rnn(int batch) {
    return one().weights(8, 4).weights(8, 8).weights(8).weights(batch, 8);
  }

  private static One bothRnns() {
    return rnn(2).weights(6, 4).weights(6, 6).weights(6).weights(2, 6);
  }

  @Test
  void shouldGiveTheOutputsWhenOperatorsAreLongShortTermMemories() {
    assertEquals("2x6", lstm(2).run(0, "2x4", LSTM, 1));
    assertEquals("2x5x6", lstm(2).run(0, "2x5x4", UNIDIRECTIONAL_SEQUENCE_LSTM, 1));
    assertEquals("5x2x6", lstm(2).run(0, "5x2x4", UNIDIRECTIONAL_SEQUENCE_LSTM, 1, 0, 0, 0, 1));
    assertEquals(
        "stopped: its state, input 18, has 6 elements instead of 12",
        lstm(1).run(0, "2x5x4", UNIDIRECTIONAL_SEQUENCE_LSTM, 1));
    // The kernel whose state is an input: activation, weights, biases, state.
    assertEquals(
        "2x8 2x8 2x12 2x32",
        one()
            .weights(2, 8)
            .weights(32, 12)
            .weights(32)
            .weights(2, 8)
            .run(0, "2x4", LSTM, 4, 0, 0, 0, 1));
    // Time is first where nothing is said.
    One both = lstmWeights(lstmWeights(one())).weights(2, 6).weights(2, 8);
    assertEquals(
        "5x2x6 5x2x6",
        both.weights(2, 6).weights(2, 8).run(0, "5x2x4", BIDIRECTIONAL_SEQUENCE_LSTM, 2));
  }

  /** Eight cells and six outputs: weights and biases, 1 to 17, and the states. */
  private static One lstm(int batch) {
    return lstmWeights(one()).weights(batch, 6).weights(batch, 8);
  }

  private static One lstmWeights(One one) {
    one.weights(8, 4).weights(8, 4).weights(8, 4).weights(8, 4);
    one.weights(8, 6).weights(8, 6).weights(8, 6).weights(8, 6);
    one.weights(8).weights(8).weights(8).weights(8).weights(8).weights(8).weights(8);
    return one.weights(6, 8).weights(6);
  }

  @Test
  void shouldBroadcastWhenOperatorsAreElementWise() {
    assertEquals("2x3", one().run(0, "2x3", RELU, 1));
    assertEquals("4x2x3", one().weights(4, 1, 3).run(0, "2x3", ADD, 1));
    assertEquals("2x3", one().scalar(7).run(0, "2x3", MUL, 1));
    assertEquals(
        "stopped: [2, 3] and [2] cannot be broadcast", one().weights(2).run(0, "2x3", SUB, 1));
    assertEquals("2x3", one().weights(2, 3).weights(1).run(0, "1x1", SELECT_V2, 1));
  }

  @Test
  void shouldCutAndJoinWhenOperatorsMoveElements() {
    assertEquals("6x4", one().numbers(-1, 4).run(0, "2x3x4", RESHAPE, 1));
    assertEquals("3x8", one().run(0, "2x3x4", RESHAPE, 1, 3, -1));
    assertEquals(
        "stopped: 24 elements do not fit [5, 5]", one().numbers(5, 5).run(0, "2x3x4", RESHAPE, 1));
    assertEquals("2x8", one().weights(2, 5).run(0, "2x3", CONCATENATION, 1, -1));
    assertEquals("2x2", one().numbers(1, 0).numbers(-1, 2).run(0, "3x4", SLICE, 1));
    assertEquals(
        "2x4",
        one().numbers(1, 0).numbers(3, 0).numbers(1, 1).run(0, "9x4", STRIDED_SLICE, 1, 0, 2));
    assertEquals(
        "4",
        one()
            .numbers(-1, 0)
            .numbers(0, 0)
            .numbers(1, 1)
            .run(0, "9x4", STRIDED_SLICE, 1, 0, 2, 0, 0, 1));
    assertEquals("5", one().numbers(-1).numbers(0).numbers(-2).run(0, "9", STRIDED_SLICE, 1, 1, 1));
    assertEquals(
        "1x9x4x2",
        one()
            .numbers(0, 0, 1)
            .numbers(0, 0, 3)
            .numbers(1, 1, 1)
            .run(0, "9x4x5", STRIDED_SLICE, 1, 0, 0, 2, 1));
    assertEquals("3x2 3x2", one().scalar(1).run(1, "3x4", SPLIT, 2));
    assertEquals("3x1 3x3", one().numbers(1, -1).scalar(1).run(0, "3x4", SPLIT_V, 2));
    assertEquals("3x4 3x4", one().run(0, "2x3x4", UNPACK, 2, 2, 0));
    assertEquals("3x2x4", one().weights(3, 4).run(0, "3x4", PACK, 1, 2, 1));
    assertEquals("6x4", one().numbers(1, 2, 0, 0).run(0, "3x4", PAD, 1));
    assertEquals("4x2x3", one().numbers(2, 0, 1).run(0, "2x3x4", TRANSPOSE, 1));
    assertEquals("6x4", one().numbers(2, 1).run(0, "3x4", TILE, 1));
    assertEquals("3x5x6", one().weights(5, 6).run(0, "3x4", GATHER, 1, 1));
    assertEquals("5x4", one().weights(5, 1).run(0, "3x4", GATHER_ND, 1));
    assertEquals("1x7x9x3", one().numbers(7, 9).run(0, "1x2x3x3", RESIZE_BILINEAR, 1));
    assertEquals("1x4x6x2", one().run(0, "1x2x3x8", DEPTH_TO_SPACE, 1, 2));
    assertEquals("1x2x3x8", one().run(0, "1x4x6x2", SPACE_TO_DEPTH, 1, 2));
    assertEquals(
        "4x3x3x1", one().numbers(2, 2).numbers(1, 1, 0, 0).run(0, "1x4x6x1", SPACE_TO_BATCH_ND, 1));
    assertEquals(
        "1x4x6x1", one().numbers(2, 2).numbers(1, 1, 0, 0).run(0, "4x3x3x1", BATCH_TO_SPACE_ND, 1));
  }

  @Test
  void shouldReduceWhenOperatorsDo() {
    assertEquals("2x4", one().numbers(1).run(0, "2x3x4", MEAN, 1));
    assertEquals("1x3x1", one().numbers(0, -1).run(0, "2x3x4", SUM, 1, 1));
    assertEquals("2x3", one().scalar(-1).run(0, "2x3x4", ARG_MAX, 1));
    assertEquals("2x4", one().run(0, "2x1x4", SQUEEZE, 1, 1));
    assertEquals("2x4", one().run(0, "2x1x4x1", SQUEEZE, 1));
    assertEquals("stopped: dimension 1 is 3 instead of 1", one().run(0, "2x3x4", SQUEEZE, 1, 1));
    assertEquals("2x1x3", one().scalar(1).run(0, "2x3", EXPAND_DIMS, 1));
    assertEquals("2x3x1", one().scalar(-1).run(0, "2x3", EXPAND_DIMS, 1));
    assertEquals("3", one().run(0, "7x8x9", SHAPE, 1));
    assertEquals("", one().run(0, "7x8x9", RANK, 1));
    assertEquals("7x2 7x2", one().scalar(2).run(0, "7x9", TOPK_V2, 2));
    assertEquals("7x5", one().scalar(5).scalar(1).scalar(0).run(0, "7", ONE_HOT, 1, -1));
  }

  @Test
  void shouldNameTheOperatorWhenItStopsTheShapes() {
    assertEquals("stopped: the operator's rule is not known", one().run(0, "7", RFFT2D, 1));
    assertEquals("stopped: its shape depends on the data", one().run(0, "7", WHERE, 1));
    byte[] model =
        new TfliteWriter()
            .open("in", ElementType.INT8, -1, 4)
            .open("out", ElementType.INT8, -1, 4)
            .tensor("other", ElementType.INT8, 0, 2)
            .tensor("made", ElementType.INT8, 0, 2)
            .custom("alone", of(2), of(3))
            .custom("mystery", of(0), of(1))
            .endSubgraph(of(0, 2), of(1))
            .finish();
    assertEquals(
        "m.tflite: subgraphs[0].operators[1]: mystery stops the shapes of --shape: the operator's"
            + " rule is not known",
        stopped(model, Map.of("in", List.of(3, 4))));
  }

  @Test
  void shouldComputeShapesWhenTheModelDoes() {
    // A batch is flattened to the length that the model computes from its own shape.
    byte[] model =
        new TfliteWriter()
            .open("in", ElementType.FLOAT32, -1, -1, 3)
            .open("shape", ElementType.INT32, 3)
            .constant("from", 0)
            .constant("to", 1)
            .constant("step", 1)
            .tensor("batch", ElementType.INT32, 0)
            .constant("minus", -1)
            .tensor("row", ElementType.INT32, 0, 1)
            .tensor("wanted", ElementType.INT32, 0, 2)
            .open("out", ElementType.FLOAT32, -1, -1)
            .operator(SHAPE, of(0), of(1))
            .operator(STRIDED_SLICE, of(1, 2, 3, 4), of(5), 0, 0, 0, 0, 1)
            .vectorOperator(RESHAPE, of(5), of(7), 1)
            .operator(CONCATENATION, of(7, 6), of(8), 0)
            .operator(RESHAPE, of(0, 8), of(9))
            .endSubgraph(of(0), of(9))
            .finish();

    GraphModel read = model(model, Map.of("in", List.of(5, 4, 3)));

    assertEquals("5x12", shape(read, 0, 9));
    assertEquals(240, read.parts().get(0).graph().tensors().get(9).bytes());
    assertEquals(List.of(), read.warnings());
  }

  @Test
  void shouldHandShapesOnWhenGraphsAreCalled() {
    byte[] model =
        new TfliteWriter()
            .tensor("if", ElementType.BOOL, 0)
            .open("in", ElementType.INT8, -1)
            .open("out", ElementType.INT8, -1)
            .operator(IF, of(0, 1), of(2), 1, 2)
            .endSubgraph(of(0, 1), of(2))
            .open("then", ElementType.INT8, -1)
            .open("then out", ElementType.INT8, -1)
            .operator(RELU, of(0), of(1))
            .endSubgraph(of(0), of(1))
            .open("else", ElementType.INT8, -1)
            .open("doubled", ElementType.INT8, -1)
            .constant("twice", 2)
            .operator(TILE, of(0, 2), of(1))
            .endSubgraph(of(0), of(0))
            .finish();

    GraphModel read = model(model, Map.of("in", List.of(9)));

    assertEquals("9", shape(read, 0, 2));
    assertEquals("9", shape(read, 1, 1));
    assertEquals("18", shape(read, 2, 1));
    assertEquals(List.of(), read.warnings());
    byte[] loop =
        new TfliteWriter()
            .open("in", ElementType.INT8, -1)
            .open("out", ElementType.INT8, -1)
            .operator(WHILE, of(0), of(1), 1, 2)
            .endSubgraph(of(0), of(1))
            .open("x", ElementType.INT8, -1)
            .tensor("go", ElementType.BOOL, 0)
            .operator(BuiltinOperator.EQUAL, NONE, of(1))
            .endSubgraph(of(0), of(1))
            .open("x", ElementType.INT8, -1)
            .open("grown", ElementType.INT8, -1)
            .constant("twice", 2)
            .operator(TILE, of(0, 2), of(1))
            .endSubgraph(of(0), of(1))
            .finish();
    assertEquals(
        "m.tflite: subgraphs[0].operators[0]: WHILE stops the shapes of --shape: a shape changes"
            + " from turn to turn",
        stopped(loop, Map.of("in", List.of(3))));
  }

  @Test
  void shouldWarnWhenOpenShapesAreOnlyAssumed() {
    byte[] model =
        new TfliteWriter()
            .open("audio:0", ElementType.FLOAT32, -1, 4)
            .open("out", ElementType.FLOAT32, -1, 4)
            .operator(RELU, of(0), of(1))
            .endSubgraph(of(0), of(1))
            .finish();
    assertEquals(
        List.of(
            "input 0 (audio:0) has the open shape [-1, 4], which counts as [1, 4]; --shape sets it"),
        model(model, Map.of()).warnings());
    for (String name : List.of("audio:0", "audio", "0")) {
      GraphModel set = model(model, Map.of(name, List.of(1, 4)));
      assertEquals(List.of(), set.warnings(), name);
      assertEquals("5x4", shape(model(model, Map.of(name, List.of(5, 4))), 0, 1));
    }
    byte[] inside =
        new TfliteWriter()
            .tensor("in", ElementType.FLOAT32, 0, 4)
            .open("found", ElementType.INT64, -1, 1)
            .operator(WHERE, of(0), of(1))
            .endSubgraph(of(0), of(1))
            .finish();
    assertEquals(
        List.of(
            "1 shape is known only as the model runs: tensor 1 (found) has the open shape [-1, 1],"
                + " which counts as [1, 1]"),
        model(inside, Map.of()).warnings());
  }

  @Test
  void shouldRefuseWhenAShapeIsOfNoInputOrDoesNotFit() {
    byte[] model =
        new TfliteWriter()
            .open("audio:0", ElementType.FLOAT32, -1, 4)
            .tensor("out", ElementType.FLOAT32, 0, 4)
            .endSubgraph(of(0), NONE)
            .finish();
    assertEquals(
        "--shape out is of no input; there are 0 (audio:0)",
        refused(model, Map.of("out", List.of(1))));
    assertEquals(
        "--shape audio: [1, 5] does not fit the model's [-1, 4], where -1 is open",
        refused(model, Map.of("audio", List.of(1, 5))));
    assertEquals(
        "--shape audio: [1] does not fit the model's [-1, 4], where -1 is open",
        refused(model, Map.of("audio", List.of(1))));
    assertTrue(
        refused(model, Map.of("audio", List.of(1, 4), "0", List.of(2, 4)))
            .endsWith(": input 0 has a shape already"));
  }

  private static String refused(byte[] model, Map<String, List<Integer>> shapes) {
    return assertThrows(IllegalArgumentException.class, () -> model(model, shapes)).getMessage();
  }
}
