package io.prmalloc.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.onnx.OnnxModel.Attribute;
import io.prmalloc.onnx.OnnxModel.Operation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The rules for shapes, by examples. Elsewhere the same rules are compared with ONNX's own
 * inference on the models of its test suite, and with ONNX Runtime's memory on real models.
 */
@Tag("jdk-independent")
class ShapeRulesTest {

  /** Inputs are shapes, or a list of numbers in brackets; - is absent, * is of unknown shape. */
  private static List<Value> inputs(String text) {
    List<Value> inputs = new ArrayList<>();
    for (String input : text.isEmpty() ? new String[0] : text.split(" ", -1)) {
      if (input.equals("-")) {
        inputs.add(null);
      } else if (input.equals("*")) {
        inputs.add(new Value(OnnxType.FLOAT, null, null));
      } else if (input.startsWith("[")) {
        double[] content = numbers(input).stream().mapToDouble(Double::parseDouble).toArray();
        inputs.add(new Value(OnnxType.INT64, new long[] {content.length}, content));
      } else {
        long[] dims =
            input.equals("scalar")
                ? new long[0]
                : Arrays.stream(input.split("x", -1))
                    .mapToLong(dim -> dim.equals("?") ? Value.OPEN : Long.parseLong(dim))
                    .toArray();
        inputs.add(Value.of(OnnxType.FLOAT, dims));
      }
    }
    return inputs;
  }

  private static List<String> numbers(String list) {
    String inside = list.substring(1, list.length() - 1);
    return inside.isEmpty() ? List.of() : List.of(inside.split(";", -1));
  }

  private static Operator operator(String name, int opset, String inputs, String attributes) {
    Map<String, Attribute> map = new LinkedHashMap<>();
    for (String attribute : attributes.isEmpty() ? new String[0] : attributes.split(" ", -1)) {
      String[] parts = attribute.split("=", -1);
      boolean isList = parts[1].startsWith("[");
      boolean isNumber = parts[1].matches("-?[0-9]+");
      map.put(
          parts[0],
          new Attribute(
              isNumber ? Long.parseLong(parts[1]) : 0,
              parts[1],
              isList ? numbers(parts[1]).stream().map(Long::valueOf).toList() : List.of(),
              List.of(),
              null,
              List.of()));
    }
    Operation operation = new Operation("node", "", name, "", List.of(), List.of("a", "b"), map);
    return new Operator(operation, opset, inputs(inputs));
  }

  private static String text(Value value) {
    return value.dims() == null ? "*" : Value.describe(value.dims()).replace("a scalar", "scalar");
  }

  @ParameterizedTest
  @CsvSource({
    "Relu, 13, 2x3, '', 2x3",
    "Add, 13, 2x1x4 3x1, '', 2x3x4",
    "Add, 13, ?x4 1x4, '', ?x4",
    "Add, 6, 2x3x4 3, axis=1, 2x3x4",
    "Where, 16, 3x1 1x4 scalar, '', 3x4",
    "Conv, 13, 1x3x224x224 64x3x7x7, strides=[2;2] pads=[3;3;3;3], 1x64x112x112",
    "Conv, 13, 1x3x10x10 8x3x3x3, dilations=[2;3], 1x8x6x4",
    "Conv, 13, 1x3x11x11 8x3x3x3, strides=[2;2] auto_pad=SAME_UPPER, 1x8x6x6",
    "Conv, 13, 1x3x11x11 8x3x3x3, strides=[2;2] auto_pad=VALID pads=[1;1;1;1], 1x8x5x5",
    "Conv, 13, ?x3x?x10 8x3x3x3, '', ?x8x?x8",
    "ConvTranspose, 13, 1x4x3x3 4x2x3x3, strides=[3;2] group=2, 1x4x9x7",
    "ConvTranspose, 13, 1x3x3x3 3x2x3x3, strides=[3;2] output_shape=[10;8], 1x2x10x8",
    "MaxPool, 13, 1x3x112x112, kernel_shape=[3;3] strides=[2;2] pads=[1;1;1;1], 1x3x56x56",
    "MaxPool, 13, 1x1x4x4, kernel_shape=[3;3] strides=[2;2] ceil_mode=1, 1x1x2x2",
    "AveragePool, 19, 1x1x2x2, kernel_shape=[1;1] strides=[2;2] ceil_mode=1 pads=[0;0;1;1], 1x1x1x1",
    "GlobalAveragePool, 13, 2x8x7x7, '', 2x8x1x1",
    "Gemm, 13, 4x8 5x8, transB=1, 4x5",
    "MatMul, 13, 2x1x3x4 7x4x5, '', 2x7x3x5",
    "MatMul, 13, 4 4x5, '', 5",
    "MatMul, 13, 3x4 4, '', 3",
    "Einsum, 13, 2x3x4 2x4x5, 'equation=bij,bjk->bik', 2x3x5",
    "Einsum, 13, 2x3x4 2x4x5, 'equation=...ij,...jk->...ik', *",
    "Reshape, 13, 2x3x4 [0;-1], '', 2x12",
    "Reshape, 13, ?x3x4 [0;-1], '', ?x?",
    "Reshape, 14, 0x3 [3;0], allowzero=1, 3x0",
    "Reshape, 13, 2x3 3, '', ?x?x?",
    "Flatten, 13, 2x3x4, axis=2, 6x4",
    "Flatten, 13, 2x3x4, axis=0, 1x24",
    "Squeeze, 11, 1x3x1, '', 3",
    "Squeeze, 13, 1x3x1 [-1], '', 1x3",
    "Unsqueeze, 13, 3x4 [0;-1], '', 1x3x4x1",
    "Unsqueeze, 11, 3x4, axes=[1], 3x1x4",
    "Transpose, 13, 2x3x4, perm=[1;0;2], 3x2x4",
    "Transpose, 13, 2x3x4, '', 4x3x2",
    "Concat, 13, 2x3 2x5, axis=-1, 2x8",
    "Concat, 13, ?x3 2x5, axis=1, 2x8",
    "Split, 13, ?x2, '', ?x2",
    "Split, 18, 7x2, num_outputs=2, 4x2",
    "Split, 13, 7x2 [2;5], '', 2x2",
    "Slice, 13, 10x20 [1;-5] [9223372036854775807;-1], '', 9x4",
    "Slice, 13, 10x20 [8] [-9223372036854775807] [0] [-2], '', 5x20",
    "Slice, 13, 0x20 [0] [-9223372036854775807] [0] [-1], '', 0x20",
    "Slice, 9, 10x20, starts=[2] ends=[5] axes=[1], 10x3",
    "Slice, 13, 10x20 1 1, '', ?x?",
    "Pad, 13, 2x3 [0;1;0;-2], '', 2x2",
    "Pad, 18, 2x3 [4;5] - [1], '', 2x12",
    "Tile, 13, 2x3 [2;4], '', 4x12",
    "Expand, 13, 3x1 [2;1;6], '', 2x3x6",
    "Gather, 13, 5x4x3 2x2, axis=1, 5x2x2x3",
    "GatherElements, 13, 5x4 2x4, '', 2x4",
    "GatherND, 13, 2x3x4 2x1, batch_dims=1, 2x4",
    "ReduceMean, 13, 2x3x4, axes=[1;2] keepdims=0, 2",
    "ReduceMean, 18, 2x3x4 [-1], '', 2x3x1",
    "ReduceSum, 13, 2x3, '', 1x1",
    "ReduceSum, 13, 2x3, noop_with_empty_axes=1, 2x3",
    "ArgMax, 13, 2x3x4, axis=1 keepdims=0, 2x4",
    "TopK, 11, 2x9 [4], '', 2x4",
    "TopK, 11, 2x9 1, '', 2x?",
    "Resize, 13, 1x3x8x8 - [1;1;2;2], '', 1x3x16x16",
    "Resize, 13, 1x3x8x8 - - [1;3;5;6], '', 1x3x5x6",
    "Resize, 18, 1x3x8x8 - - [5;6], axes=[2;3] keep_aspect_ratio_policy=not_larger, ?x?x?x?",
    "Upsample, 9, 1x3x8x8 [1;1;2;3], '', 1x3x16x24",
    "DepthToSpace, 13, 1x12x4x4, blocksize=2, 1x3x8x8",
    "SpaceToDepth, 13, 1x3x8x8, blocksize=2, 1x12x4x4",
    "GridSample, 16, 1x3x8x8 1x5x6x2, '', 1x3x5x6",
    "OneHot, 11, 2x3 [10] 2, '', 2x3x10",
    "Shape, 15, 2x3x4, start=-2, 2",
    "ConstantOfShape, 9, [2;3], '', 2x3",
    "Range, 11, [0] [10] [3], '', 4",
    "NonZero, 13, 2x3, '', 2x?",
    "NonMaxSuppression, 11, 1x6x4 1x1x6, '', ?x3",
    "LSTM, 14, 7x2x10 2x20x10, hidden_size=5 direction=bidirectional, 7x2x2x5",
    "GRU, 14, 2x7x10 1x15x10, hidden_size=5 layout=1, 2x7x1x5",
    "RoiAlign, 16, 1x8x20x20 6x4 6, output_height=7 output_width=5, 6x8x7x5",
    "QLinearConv, 10, 1x1x7x7 scalar scalar 1x1x1x1 scalar scalar scalar scalar, '', 1x1x7x7",
    "QLinearMatMul, 21, 2x4 scalar scalar 4x3 scalar scalar scalar scalar, '', 2x3",
    "Attention, 23, 2x4x5x8 2x2x6x8 2x2x6x10, '', 2x4x5x10",
    "Attention, 23, 2x5x32 2x6x16 2x6x20, q_num_heads=4 kv_num_heads=2, 2x5x40",
    "Unique, 11, 9, '', *",
    "Relu, 13, *, '', *",
    "MatMul, 13, * 4x5, '', *"
  })
  void shouldFollowTheOperatorWhenShapesAreKnown(
      String name, int opset, String inputs, String attributes, String expected) {
    Operator operator = operator(name, opset, inputs, attributes);

    assertEquals(expected, text(ShapeRules.outputs(operator).get(0)));
  }

  @ParameterizedTest
  @CsvSource({
    "Add, 2x3 4, '', 2x3 and 4 do not fit each other",
    "Conv, 1x3x2x2 8x3x5x5, '', a window of 5 does not fit into the 2 of dimension 2",
    "Conv, 1x3x9x9 8x3x5x5, strides=[0;1], strides: 0 is not from 1 to 2147483647",
    "Conv, 1x3x9x9 8x3x5x5, strides=[1], strides has 1 number instead of 2",
    "Conv, 1x3x9x9 8x3x5, '', a kernel of 8x3x5 does not fit 1x3x9x9",
    "MatMul, 2x3 4x5, '', 2x3 and 4x5 do not fit each other",
    "Reshape, 2x3 [4;-1], '', 2x3 cannot take the shape 4x?",
    "Reshape, 2x3 [7], '', 2x3 cannot take the shape 7",
    "Reshape, 2x3 [-1;-1], '', two dimensions are to be inferred",
    "Conv, 2x4x32x16 8x3x3x3, '', a kernel of 8x3x3x3 does not fit 2x4x32x16",
    "Conv, 1x4x9x9 8x3x3x3, group=2, a kernel of 8x3x3x3 in 2 groups does not fit 1x4x9x9",
    "Conv, 1x6x9x9 9x3x3x3, group=2, a kernel of 9x3x3x3 in 2 groups does not fit 1x6x9x9",
    "Conv, 1x3x9x9 8x3x3x3, kernel_shape=[5;5], kernel_shape 5x5 is not that of the kernel of 8x3x3x3",
    "ConvInteger, 1x4x9x9 8x3x3x3, '', a kernel of 8x3x3x3 does not fit 1x4x9x9",
    "ConvTranspose, 1x4x3x3 3x2x3x3, '', a kernel of 3x2x3x3 does not fit 1x4x3x3",
    "ConvTranspose, 1x3x3x3 3x2x3x3, group=2, a kernel of 3x2x3x3 in 2 groups does not fit 1x3x3x3",
    "Gemm, 4x8 5x8, '', 4x8 and 5x8 do not fit each other",
    "Gemm, 4x8 8x5 6, '', 6 does not fit into 4x5",
    "Gemm, 4x8 8x5 3x4x5, '', 3x4x5 does not fit into 4x5",
    "Einsum, 2x3x4 2x5x6, 'equation=bij,bjk->bik', 2x5x6 does not fit the 4 of index j",
    "Split, 8x8, axis=0 split=[1;99], parts of 1 and 99 do not make up dimension 0 of 8x8",
    "Split, 8x8 [4;-4], axis=1, split: -4 is not from 0 to 2147483647",
    "Split, 7x2, '', 7x2 has not 2 equal parts in dimension 0",
    "Gather, 5x4 [4;5], '', index 5 is not inside dimension 0 of 5x4",
    "GatherElements, 5x4 2x5, '', indices of 2x5 do not fit 5x4",
    "GatherElements, 5x4 3, '', indices of 3 do not fit 5x4",
    "GatherND, 2x3x4 3x1, batch_dims=1, 2x3x4 and 3x1 do not fit each other",
    "TopK, 2x9 [10], '', the first 10 are not in dimension 1 of 2x9",
    "GridSample, 1x3x8x8 2x5x6x2, '', 1x3x8x8 and 2x5x6x2 do not fit each other",
    "LSTM, 7x2x10 1x20x11, hidden_size=5, 7x2x10 and 1x20x11 do not fit each other",
    "BatchNormalization, 2x3x4 4 4 4 4, '', 2x3x4 and 4 do not fit each other",
    "InstanceNormalization, 2x3x4 3 4, '', 2x3x4 and 4 do not fit each other",
    "PRelu, 2x3x4 3x1x1x5, '', 2x3x4 and 3x1x1x5 do not fit each other",
    "Expand, 2x3 [4;3], '', 2x3 and 4x3 do not fit each other",
    "Transpose, 2x3, perm=[1;1], perm names a dimension of 2x3 twice",
    "Squeeze, 2x3 [0], '', dimension 0 of 2x3 is not 1",
    "Concat, 2x3 3x3, axis=1, 2x3 and 3x3 do not fit each other",
    "Transpose, 2x3, perm=[0;2], axis 2 is not one of 2 dimensions",
    "Slice, 9 [0] [5] [0] [0], '', a step is 0",
    "Pad, 2x3 [0;0;-3;0], '', -3 does not fit a dimension of 2",
    "Tile, 2x3 [1], '', 1 repeat for 2x3",
    "Expand, 2x1 [-4], '', a dimension of -4 is negative",
    "MaxPool, 1x1x4x4, '', there is no kernel_shape",
    "Tile, 1073741824 [1073741824], '', a shape of 1152921504606846976 is not of dimensions from 0"
        + " to 1099511627776"
  })
  void shouldSayWhatDoesNotFitWhenAModelCannotRun(
      String name, String inputs, String attributes, String message) {
    Operator operator = operator(name, 13, inputs, attributes);

    assertEquals(
        message,
        assertThrows(IllegalArgumentException.class, () -> ShapeRules.outputs(operator))
            .getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "Shape, 2x3x4, '', 2;3;4",
    "Shape, 2x3x4, start=1, 3;4",
    "Size, 2x3x4, '', 24",
    "Gather, [2;3;4] [-1], axis=0, 4",
    "Concat, [1;2] [3], axis=0, 1;2;3",
    "Slice, [5;6;7;8] [3] [0] [0] [-2], '', 8;6",
    "Unsqueeze, [7] [0], '', ",
    "Squeeze, [7] [0], '', 7",
    "Add, [1;2] [10], '', 11;12",
    "Sub, [1;2] [10], '', -9;-8",
    "Mul, [3] [4], '', 12",
    "Div, [-7] [2], '', -3",
    "Mod, [-7] [3], '', 2",
    "Equal, [1;-1] [-1], '', 0;1",
    "Where, [0;1] [5] [8;9], '', 8;5",
    "Cast, [0;3], to=9, 0;1",
    "ReduceProd, [2;3;4], '', 24",
    "ConstantOfShape, [3], '', 0;0;0",
    "Expand, [7] [3], '', 7;7;7",
    "Range, [1] [8] [3], '', 1;4;7",
    "Split, [5;6;7;8], '', 5;6"
  })
  void shouldComputeNumbersWhenShapesComeFromThem(
      String name, String inputs, String attributes, String expected) {
    Operator operator = operator(name, 13, inputs, attributes);

    double[] content = ContentRules.content(operator, ShapeRules.outputs(operator).get(0), 0);

    assertEquals(
        expected,
        content == null
            ? null
            : Arrays.stream(content)
                .mapToObj(number -> Long.toString((long) number))
                .collect(Collectors.joining(";")));
  }
}
