package io.prmalloc.onnx;

import static io.prmalloc.onnx.Value.OPEN;

import io.prmalloc.model.Counted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongBinaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Infers the shapes of the standard operators' outputs, after ONNX's specification of operators
 * (versions of its operator set up to 26). If an operator has no rule, or its output's shape
 * depends on computed values, the shape is unknown.
 *
 * <p>Threading: any thread.
 */
final class ShapeRules {

  // Opset in which an operator changed its form.
  private static final int BROADCASTING = 7;
  private static final int UNEVEN_PARTS = 18;

  private ShapeRules() {}

  /**
   * Type and shape of an operator's outputs, one for each that it has in the model.
   *
   * @throws IllegalArgumentException if the inputs do not fit each other or the operator
   */
  static List<Value> outputs(Operator op) {
    List<Value> outputs = new ArrayList<>();
    if (OnnxModel.isStandard(op.operation().domain())) {
      outputs.addAll(rule(op));
    }
    while (outputs.size() < op.outputCount()) {
      outputs.add(Value.UNKNOWN);
    }
    return outputs.subList(0, op.outputCount());
  }

  private static List<Value> rule(Operator op) {
    return switch (op.name()) {
      case "Abs",
          "Acos",
          "Acosh",
          "Asin",
          "Asinh",
          "Atan",
          "Atanh",
          "BitwiseNot",
          "Ceil",
          "Celu",
          "Clip",
          "Cos",
          "Cosh",
          "CumProd",
          "CumSum",
          "Elu",
          "Erf",
          "Exp",
          "Floor",
          "Gelu",
          "GroupNormalization",
          "HardSigmoid",
          "HardSwish",
          "Hardmax",
          "Identity",
          "LRN",
          "LeakyRelu",
          "Log",
          "LogSoftmax",
          "LpNormalization",
          "MeanVarianceNormalization",
          "Mish",
          "Neg",
          "Not",
          "RMSNormalization",
          "Reciprocal",
          "Relu",
          "ReverseSequence",
          "RotaryEmbedding",
          "Round",
          "Scatter",
          "ScatterElements",
          "ScatterND",
          "Selu",
          "Shrink",
          "Sigmoid",
          "Sign",
          "Sin",
          "Sinh",
          "Softmax",
          "Softplus",
          "Softsign",
          "Sqrt",
          "Swish",
          "Tan",
          "Tanh",
          "TensorScatter",
          "ThresholdedRelu",
          "Trilu" ->
          List.of(same(op, op.type(0)));
      case "IsInf", "IsNaN" -> List.of(same(op, OnnxType.BOOL));
      case "Cast", "Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike" ->
          List.of(same(op, named(op, op.name().equals("Cast") ? "to" : "dtype", op.type(0))));
      case "CastLike" -> List.of(same(op, op.type(1)));
      case "QuantizeLinear" ->
          List.of(same(op, op.has(2) ? op.type(2) : named(op, "output_dtype", OnnxType.UINT8)));
      case "DequantizeLinear" -> List.of(same(op, named(op, "output_dtype", op.type(1))));
      case "DynamicQuantizeLinear" ->
          List.of(same(op, OnnxType.UINT8), Value.of(OnnxType.FLOAT), Value.of(OnnxType.UINT8));
      case "Dropout" ->
          List.of(same(op, op.type(0)), same(op, op.opset() < 10 ? op.type(0) : OnnxType.BOOL));
      case "InstanceNormalization" -> {
        checkChannels(op, 2);
        yield List.of(same(op, op.type(0)));
      }
      case "PRelu" -> {
        if (op.opset() >= BROADCASTING) {
          broadcast(op.dims(0), op.dims(1));
        }
        yield List.of(same(op, op.type(0)));
      }
      case "BatchNormalization" -> {
        if (op.whole("spatial", 1) != 0) {
          checkChannels(op, 4);
        }
        Value channels = new Value(op.type(3), op.dims(3), null);
        yield List.of(same(op, op.type(0)), channels, channels, channels, channels);
      }
      case "LayerNormalization" -> layerNormalization(op);
      case "Add",
          "Sub",
          "Mul",
          "Div",
          "Pow",
          "Mod",
          "BitShift",
          "BitwiseAnd",
          "BitwiseOr",
          "BitwiseXor",
          "Max",
          "Min",
          "Mean",
          "Sum" ->
          List.of(broadcast(op, op.type(0)));
      case "And", "Or", "Xor", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual" ->
          List.of(broadcast(op, OnnxType.BOOL));
      case "Where" -> List.of(broadcast(op, op.type(1)));
      case "Conv" -> List.of(conv(op, op.dims(1), op.type(0)));
      case "DeformConv" -> List.of(conv(op, op.dims(1), op.type(0)));
      case "ConvInteger" -> List.of(conv(op, op.dims(1), OnnxType.INT32));
      case "QLinearConv" -> List.of(conv(op, op.dims(3), op.type(7)));
      case "ConvTranspose" -> List.of(convTranspose(op));
      case "MaxPool", "AveragePool", "LpPool" -> pool(op);
      case "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool" -> List.of(globalPool(op));
      case "MaxRoiPool", "RoiAlign" -> List.of(regions(op));
      case "Gemm" -> List.of(gemm(op));
      case "MatMul" -> List.of(matMul(op.dims(0), op.dims(1), op.type(0)));
      case "MatMulInteger" -> List.of(matMul(op.dims(0), op.dims(1), OnnxType.INT32));
      case "QLinearMatMul" -> List.of(matMul(op.dims(0), op.dims(3), op.type(7)));
      case "Attention" -> List.of(attention(op));
      case "Einsum" -> List.of(einsum(op));
      case "Reshape" -> List.of(reshape(op));
      case "Flatten" -> List.of(flatten(op));
      case "Squeeze" -> List.of(squeeze(op));
      case "Unsqueeze" -> List.of(unsqueeze(op));
      case "Transpose" -> List.of(transpose(op));
      case "Concat" -> List.of(concat(op));
      case "Split" -> split(op);
      case "Slice" -> List.of(slice(op));
      case "Pad" -> List.of(pad(op));
      case "Tile" -> List.of(tile(op));
      case "Expand" -> List.of(expand(op));
      case "Gather" -> List.of(gather(op));
      case "GatherElements" -> List.of(gatherElements(op));
      case "GatherND" -> List.of(gatherNd(op));
      case "ReduceL1",
          "ReduceL2",
          "ReduceLogSum",
          "ReduceLogSumExp",
          "ReduceMax",
          "ReduceMean",
          "ReduceMin",
          "ReduceProd",
          "ReduceSum",
          "ReduceSumSquare" ->
          List.of(reduce(op));
      case "ArgMax", "ArgMin" -> List.of(argMax(op));
      case "TopK" -> topK(op);
      case "Resize", "Upsample" -> List.of(resize(op));
      case "DepthToSpace", "SpaceToDepth" -> List.of(blocks(op));
      case "GridSample" -> List.of(gridSample(op));
      case "OneHot" -> List.of(oneHot(op));
      case "Shape" -> List.of(shape(op));
      case "Size" -> List.of(Value.of(OnnxType.INT64));
      case "OptionalHasElement" -> List.of(Value.of(OnnxType.BOOL));
      case "Constant" -> List.of(constant(op));
      case "ConstantOfShape" -> List.of(constantOfShape(op));
      case "RandomNormal", "RandomUniform" ->
          List.of(new Value(named(op, "dtype", OnnxType.FLOAT), op.wholes("shape"), null));
      case "Range" -> List.of(range(op));
      case "NonZero" ->
          List.of(
              op.dims(0) == null
                  ? new Value(OnnxType.INT64, null, null)
                  : Value.of(OnnxType.INT64, op.dims(0).length, OPEN));
      case "NonMaxSuppression" -> List.of(Value.of(OnnxType.INT64, OPEN, 3));
      case "LSTM", "GRU", "RNN" -> recurrent(op);
      default -> List.of();
    };
  }

  /** A type that an attribute names by its number. */
  private static OnnxType named(Operator op, String attribute, OnnxType otherwise) {
    long number = op.whole(attribute, 0);
    if (number == 0) {
      return otherwise;
    }
    OnnxType type = OnnxType.ofNumber(number);
    if (type == null) {
      throw new IllegalArgumentException(
          attribute + " " + number + " is no type of elements that is known");
    }
    return type;
  }

  private static Value same(Operator op, OnnxType type) {
    return new Value(type, op.dims(0), null);
  }

  private static Value unknown(OnnxType type) {
    return new Value(type, null, null);
  }

  /**
   * Checks that the inputs from the second to the one at {@code last} have a number for each
   * channel, the second dimension of the first input.
   */
  private static void checkChannels(Operator op, int last) {
    long[] in = op.dims(0);
    for (int i = 1; in != null && in.length > 1 && i <= last; i++) {
      long[] each = op.dims(i);
      if (each != null) {
        fit(1, each.length, in, each);
        fit(in[1], each[0], in, each);
      }
    }
  }

  private static List<Value> layerNormalization(Operator op) {
    Value result = same(op, op.type(0));
    if (op.dims(0) == null) {
      return List.of(result);
    }
    long[] means = op.dims(0).clone();
    Arrays.fill(means, op.axis("axis", -1, means.length), means.length, 1);
    Value mean = new Value(named(op, "stash_type", OnnxType.FLOAT), means, null);
    return List.of(result, mean, mean);
  }

  private static Value broadcast(Operator op, OnnxType type) {
    if (op.opset() < BROADCASTING) {
      return same(op, type);
    }
    long[] dims = {};
    for (int i = 0; i < op.inputs().size(); i++) {
      dims = broadcast(dims, op.dims(i));
    }
    return new Value(type, dims, null);
  }

  /** Shapes aligned at their last dimensions, where 1 takes any size. */
  static long[] broadcast(long[] one, long[] other) {
    if (one == null || other == null) {
      return null;
    }
    long[] longer = one.length >= other.length ? one : other;
    long[] shorter = longer == one ? other : one;
    long[] dims = longer.clone();
    int ahead = longer.length - shorter.length;
    for (int i = 0; i < shorter.length; i++) {
      long a = longer[ahead + i];
      long b = shorter[i];
      if (a == 1 || (a == OPEN && b > 1)) {
        dims[ahead + i] = b;
      } else if (a != b && b != 1 && a != OPEN && b != OPEN) {
        throw new IllegalArgumentException(
            Value.describe(one) + " and " + Value.describe(other) + " do not fit each other");
      }
    }
    return dims;
  }

  private static void needRank(long[] dims, int least, String what) {
    if (dims.length < least) {
      throw new IllegalArgumentException(
          what
              + " of "
              + Value.describe(dims)
              + " has fewer than "
              + Counted.of(least, "dimension"));
    }
  }

  private static Value conv(Operator op, long[] kernel, OnnxType type) {
    long[] in = op.dims(0);
    if (in == null || kernel == null) {
      return unknown(type);
    }
    needRank(in, 3, "an input");
    long[] sizes = kernelSizes(op, in, kernel);
    long group = op.whole("group", 1);
    bound("group", group, 1);
    if (kernel[1] != OPEN) {
      checkKernel(group, in, kernel, in[1], checked(kernel[1], group, Math::multiplyExact));
    }
    if (kernel[0] != OPEN && kernel[0] % group != 0) {
      throw noKernel(group, in, kernel);
    }
    long[] dims = windows(op, in, sizes);
    dims[1] = kernel[0];
    return new Value(type, dims, null);
  }

  /** The sizes of a window: those of the kernel, which the attribute only repeats. */
  private static long[] kernelSizes(Operator op, long[] in, long[] kernel) {
    if (kernel.length != in.length) {
      throw noKernel(1, in, kernel);
    }
    long[] sizes = Arrays.copyOfRange(kernel, 2, kernel.length);
    if (op.wholes("kernel_shape") != null) {
      long[] stated = op.wholes("kernel_shape", sizes.length, 1);
      for (int i = 0; i < sizes.length; i++) {
        if (sizes[i] != OPEN && sizes[i] != stated[i]) {
          throw new IllegalArgumentException(
              "kernel_shape "
                  + Value.describe(stated)
                  + " is not that of the kernel of "
                  + Value.describe(kernel));
        }
      }
      return stated;
    }
    return sizes;
  }

  private static void checkKernel(
      long group, long[] in, long[] kernel, long channels, long ofKernel) {
    if (channels != OPEN && ofKernel != OPEN && channels != ofKernel) {
      throw noKernel(group, in, kernel);
    }
  }

  private static IllegalArgumentException noKernel(long group, long[] in, long[] kernel) {
    return new IllegalArgumentException(
        "a kernel of "
            + Value.describe(kernel)
            + (group == 1 ? "" : " in " + group + " groups")
            + " does not fit "
            + Value.describe(in));
  }

  /** How often a window fits into each dimension but the first two. */
  private static long[] windows(Operator op, long[] in, long[] sizes) {
    int rank = in.length - 2;
    long[] strides = op.wholes("strides", rank, 1);
    long[] dilations = op.wholes("dilations", rank, 1);
    long[] pads = op.wholes("pads", 2 * rank, 0);
    String autoPad = op.text("auto_pad", "NOTSET");
    boolean ceil = op.whole("ceil_mode", 0) != 0;
    long[] dims = in.clone();
    for (int i = 0; i < rank; i++) {
      bound("strides", strides[i], 1);
      bound("dilations", dilations[i], 1);
      bound("pads", pads[i], 0);
      bound("pads", pads[rank + i], 0);
      if (in[2 + i] == OPEN || sizes[i] == OPEN) {
        dims[2 + i] = OPEN;
        continue;
      }
      bound("kernel_shape", sizes[i], 0);
      if (autoPad.startsWith("SAME")) {
        dims[2 + i] = ceilDiv(in[2 + i], strides[i]);
        continue;
      }
      long begin = autoPad.equals("VALID") ? 0 : pads[i];
      long padded = in[2 + i] + (autoPad.equals("VALID") ? 0 : pads[i] + pads[rank + i]);
      long room = padded - dilations[i] * (sizes[i] - 1) - 1;
      if (room < 0) {
        throw new IllegalArgumentException(
            "a window of "
                + sizes[i]
                + " does not fit into the "
                + padded
                + " of dimension "
                + (2 + i));
      }
      dims[2 + i] = 1 + (ceil ? ceilDiv(room, strides[i]) : room / strides[i]);
      // A window that begins behind the input counts for nothing.
      if (ceil && (dims[2 + i] - 1) * strides[i] >= in[2 + i] + begin) {
        dims[2 + i]--;
      }
    }
    return dims;
  }

  private static long ceilDiv(long number, long by) {
    return -Math.floorDiv(-number, by);
  }

  /** Products of two such numbers do not overflow. */
  private static void bound(String attribute, long number, long least) {
    if (number < least || number > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          attribute + ": " + number + " is not from " + least + " to " + Integer.MAX_VALUE);
    }
  }

  private static Value convTranspose(Operator op) {
    long[] in = op.dims(0);
    long[] kernel = op.dims(1);
    if (in == null || kernel == null) {
      return unknown(op.type(0));
    }
    needRank(in, 3, "an input");
    long[] sizes = kernelSizes(op, in, kernel);
    int rank = in.length - 2;
    long[] strides = op.wholes("strides", rank, 1);
    long[] dilations = op.wholes("dilations", rank, 1);
    long[] pads = op.wholes("pads", 2 * rank, 0);
    long[] further = op.wholes("output_padding", rank, 0);
    long[] given = op.wholes("output_shape");
    boolean same = op.text("auto_pad", "NOTSET").startsWith("SAME");
    if (given != null && given.length < rank) {
      throw new IllegalArgumentException("output_shape has fewer than " + rank + " numbers");
    }
    long[] dims = in.clone();
    long group = op.whole("group", 1);
    bound("group", group, 1);
    checkKernel(group, in, kernel, in[1], kernel[0]);
    if (kernel[0] != OPEN && kernel[0] % group != 0) {
      throw noKernel(group, in, kernel);
    }
    dims[1] = kernel[1] == OPEN ? OPEN : checked(kernel[1], group, Math::multiplyExact);
    for (int i = 0; i < rank; i++) {
      long size = sizes[i];
      bound("strides", strides[i], 1);
      bound("dilations", dilations[i], 1);
      bound("pads", pads[i], 0);
      bound("pads", pads[rank + i], 0);
      bound("output_padding", further[i], 0);
      if (given != null) {
        dims[2 + i] = given[given.length - rank + i];
      } else if (in[2 + i] == OPEN || size == OPEN) {
        dims[2 + i] = OPEN;
      } else if (same) {
        bound("the input", in[2 + i], 0);
        dims[2 + i] = in[2 + i] * strides[i];
      } else {
        bound("kernel_shape", size, 0);
        bound("the input", in[2 + i], 0);
        dims[2 + i] =
            strides[i] * (in[2 + i] - 1)
                + further[i]
                + (size - 1) * dilations[i]
                + 1
                - pads[i]
                - pads[rank + i];
      }
      bound("the output", dims[2 + i] == OPEN ? 0 : dims[2 + i], 0);
    }
    return new Value(op.type(0), dims, null);
  }

  private static List<Value> pool(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return List.of(unknown(op.type(0)), unknown(OnnxType.INT64));
    }
    needRank(in, 3, "an input");
    long[] sizes = op.wholes("kernel_shape");
    if (sizes == null) {
      throw new IllegalArgumentException("there is no kernel_shape");
    }
    long[] dims = windows(op, in, op.wholes("kernel_shape", in.length - 2, 1));
    return List.of(new Value(op.type(0), dims, null), new Value(OnnxType.INT64, dims, null));
  }

  private static Value globalPool(Operator op) {
    if (op.dims(0) == null) {
      return unknown(op.type(0));
    }
    long[] dims = op.dims(0).clone();
    needRank(dims, 2, "an input");
    Arrays.fill(dims, 2, dims.length, 1);
    return new Value(op.type(0), dims, null);
  }

  private static Value regions(Operator op) {
    long[] in = op.dims(0);
    long[] regions = op.dims(1);
    if (in == null || regions == null) {
      return unknown(op.type(0));
    }
    needRank(in, 2, "an input");
    needRank(regions, 1, "the list of regions");
    long[] size =
        op.name().equals("RoiAlign")
            ? new long[] {op.whole("output_height", 1), op.whole("output_width", 1)}
            : op.wholes("pooled_shape", 2, 1);
    return Value.of(op.type(0), regions[0], in[1], size[0], size[1]);
  }

  private static Value gemm(Operator op) {
    long[] a = op.dims(0);
    long[] b = op.dims(1);
    if (a == null || b == null) {
      return unknown(op.type(0));
    }
    if (a.length != 2 || b.length != 2) {
      throw new IllegalArgumentException(
          Value.describe(a) + " and " + Value.describe(b) + " are not two matrices");
    }
    boolean flipA = op.whole("transA", 0) != 0;
    boolean flipB = op.whole("transB", 0) != 0;
    fit(a[flipA ? 0 : 1], b[flipB ? 1 : 0], a, b);
    Value product = Value.of(op.type(0), a[flipA ? 1 : 0], b[flipB ? 0 : 1]);
    if (op.opset() >= BROADCASTING && op.has(2)) {
      checkTaken(op.dims(2), product.dims());
    }
    return product;
  }

  private static void fit(long one, long other, long[] a, long[] b) {
    if (one != other && one != OPEN && other != OPEN) {
      throw new IllegalArgumentException(
          Value.describe(a) + " and " + Value.describe(b) + " do not fit each other");
    }
  }

  /** Checks that one shape can be broadcast to another, which does not grow by it. */
  private static void checkTaken(long[] small, long[] large) {
    if (small == null || large == null) {
      return;
    }
    boolean taken = small.length <= large.length;
    for (int i = 0; taken && i < small.length; i++) {
      long a = small[i];
      long b = large[large.length - small.length + i];
      taken = a == b || a == 1 || a == OPEN || b == OPEN;
    }
    if (!taken) {
      throw new IllegalArgumentException(
          Value.describe(small) + " does not fit into " + Value.describe(large));
    }
  }

  private static Value matMul(long[] a, long[] b, OnnxType type) {
    if (a == null || b == null) {
      return unknown(type);
    }
    needRank(a, 1, "a matrix");
    needRank(b, 1, "a matrix");
    fit(a[a.length - 1], b[Math.max(0, b.length - 2)], a, b);
    long[] rows = Arrays.copyOf(a, Math.max(0, a.length - 2));
    long[] columns = Arrays.copyOf(b, Math.max(0, b.length - 2));
    LongStream dims = Arrays.stream(broadcast(rows, columns));
    if (a.length > 1) {
      dims = LongStream.concat(dims, LongStream.of(a[a.length - 2]));
    }
    if (b.length > 1) {
      dims = LongStream.concat(dims, LongStream.of(b[b.length - 1]));
    }
    return new Value(type, dims.toArray(), null);
  }

  /** Queries, keys and values, by heads (4 dimensions) or with the heads side by side (3). */
  private static Value attention(Operator op) {
    long[] queries = op.dims(0);
    long[] values = op.dims(2);
    if (queries == null || values == null) {
      return unknown(op.type(0));
    }
    needRank(queries, 3, "the queries");
    needRank(values, queries.length, "the values");
    long[] dims = queries.clone();
    long width = values[values.length - 1];
    if (queries.length == 3 && width != OPEN) {
      long valueHeads = op.whole("kv_num_heads", 1);
      bound("kv_num_heads", valueHeads, 1);
      width = checked(width / valueHeads, op.whole("q_num_heads", 1), Math::multiplyExact);
    }
    dims[dims.length - 1] = width;
    return new Value(op.type(0), dims, null);
  }

  /** Sums over indices named by letters; what has an ellipsis is left unknown. */
  private static Value einsum(Operator op) {
    String equation = op.text("equation", "").replace(" ", "");
    String[] sides = equation.split("->", -1);
    String[] terms = sides[0].split(",", -1);
    if (equation.contains(".") || terms.length != op.inputs().size()) {
      return unknown(op.type(0));
    }
    Map<Character, Long> sizes = new HashMap<>();
    for (int i = 0; i < terms.length; i++) {
      long[] dims = op.dims(i);
      if (dims == null) {
        return unknown(op.type(0));
      }
      if (dims.length != terms[i].length()) {
        throw new IllegalArgumentException(
            Value.describe(dims)
                + " does not fit the "
                + terms[i].length()
                + " letters of its term");
      }
      for (int k = 0; k < dims.length; k++) {
        long size = dims[k];
        char letter = terms[i].charAt(k);
        long before = sizes.getOrDefault(letter, size);
        if (size != before && Math.min(size, before) > 1) {
          throw new IllegalArgumentException(
              Value.describe(dims) + " does not fit the " + before + " of index " + letter);
        }
        sizes.put(letter, Math.max(size, before));
      }
    }
    String result =
        sides.length > 1
            ? sides[1]
            : sides[0]
                .chars()
                .filter(
                    letter ->
                        letter != ',' && sides[0].indexOf(letter) == sides[0].lastIndexOf(letter))
                .sorted()
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    long[] dims =
        result.chars().mapToLong(letter -> sizes.getOrDefault((char) letter, OPEN)).toArray();
    return new Value(op.type(0), dims, null);
  }

  private static Value reshape(Operator op) {
    long[] in = op.dims(0);
    long[] wanted = op.list("shape", 1);
    if (wanted == null) {
      long[] count = op.dims(1);
      return count == null || count.length != 1 || count[0] == OPEN
          ? unknown(op.type(0))
          : new Value(op.type(0), open(count[0]), null);
    }
    boolean zeroIsZero = op.whole("allowzero", 0) != 0;
    long[] dims = wanted.clone();
    int inferred = -1;
    for (int i = 0; i < dims.length; i++) {
      if (wanted[i] == 0 && !zeroIsZero) {
        if (in != null && i >= in.length) {
          throw new IllegalArgumentException(
              "dimension " + i + " is to be that of " + Value.describe(in) + ", which has none");
        }
        dims[i] = in == null ? OPEN : in[i];
      } else if (wanted[i] == -1) {
        if (inferred >= 0) {
          throw new IllegalArgumentException("two dimensions are to be inferred");
        }
        inferred = i;
      }
    }
    Value result = new Value(op.type(0), dims, null);
    boolean known = op.input(0).isClosed();
    for (int i = 0; i < dims.length; i++) {
      known &= i == inferred || dims[i] != OPEN;
    }
    if (!known) {
      return result;
    }
    long elements = Value.elements(in);
    long others = Value.elements(dims);
    if (inferred >= 0 ? others == 0 || elements % others != 0 : elements != others) {
      throw new IllegalArgumentException(
          Value.describe(in) + " cannot take the shape " + Value.describe(dims));
    }
    if (inferred < 0) {
      return result;
    }
    dims[inferred] = elements / others;
    return new Value(op.type(0), dims, null);
  }

  private static long[] open(long rank) {
    if (rank < 0 || rank > Value.MAX_CONTENT) {
      throw new IllegalArgumentException(
          "a shape of " + rank + " dimensions is not from 0 to " + Value.MAX_CONTENT);
    }
    long[] dims = new long[(int) rank];
    Arrays.fill(dims, OPEN);
    return dims;
  }

  private static Value flatten(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return Value.of(op.type(0), OPEN, OPEN);
    }
    long axis = op.whole("axis", 1);
    int at = axis == in.length ? in.length : Operator.axis(axis, Math.max(1, in.length));
    return Value.of(
        op.type(0),
        product(Arrays.copyOf(in, at)),
        product(Arrays.copyOfRange(in, Math.min(at, in.length), in.length)));
  }

  private static long product(long... dims) {
    return Arrays.stream(dims).anyMatch(dim -> dim == OPEN) ? OPEN : Value.elements(dims);
  }

  /** Which of so many dimensions are meant. */
  private static boolean[] marked(long[] axes, int rank) {
    boolean[] marked = new boolean[rank];
    for (long axis : axes) {
      marked[Operator.axis(axis, rank)] = true;
    }
    return marked;
  }

  private static Value squeeze(Operator op) {
    long[] in = op.dims(0);
    long[] axes = op.list("axes", 1);
    if (in == null || (axes == null && (op.has(1) || product(in) == OPEN))) {
      return unknown(op.type(0));
    }
    boolean[] gone = axes == null ? new boolean[in.length] : marked(axes, in.length);
    long[] dims =
        IntStream.range(0, in.length)
            .filter(i -> axes == null ? in[i] != 1 : !gone[i])
            .mapToLong(i -> in[i])
            .toArray();
    for (int i = 0; i < in.length; i++) {
      if (gone[i] && in[i] != 1 && in[i] != OPEN) {
        throw new IllegalArgumentException(
            "dimension " + i + " of " + Value.describe(in) + " is not 1");
      }
    }
    return new Value(op.type(0), dims, null);
  }

  private static Value unsqueeze(Operator op) {
    long[] in = op.dims(0);
    long[] axes = op.list("axes", 1);
    if (in == null || axes == null) {
      return unknown(op.type(0));
    }
    long[] dims = new long[in.length + axes.length];
    boolean[] added = marked(axes, dims.length);
    int from = 0;
    for (int i = 0; i < dims.length; i++) {
      if (!added[i] && from == in.length) {
        throw new IllegalArgumentException("axes name a dimension twice");
      }
      dims[i] = added[i] ? 1 : in[from++];
    }
    return new Value(op.type(0), dims, null);
  }

  private static Value transpose(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return unknown(op.type(0));
    }
    long[] order = op.wholes("perm");
    if (order == null) {
      order = LongStream.range(0, in.length).map(i -> in.length - 1 - i).toArray();
    }
    if (order.length != in.length) {
      throw new IllegalArgumentException(
          "perm has " + Counted.of(order.length, "number") + " for " + Value.describe(in));
    }
    if (Arrays.stream(order).map(i -> Operator.axis(i, in.length)).distinct().count()
        != in.length) {
      throw new IllegalArgumentException(
          "perm names a dimension of " + Value.describe(in) + " twice");
    }
    return new Value(
        op.type(0), Arrays.stream(order).map(i -> in[Operator.axis(i, in.length)]).toArray(), null);
  }

  private static Value concat(Operator op) {
    long[] dims = null;
    int axis = 0;
    for (int i = 0; i < op.inputs().size(); i++) {
      long[] next = op.dims(i);
      if (next == null) {
        return unknown(op.type(0));
      }
      if (dims == null) {
        dims = next.clone();
        axis = op.axis("axis", 1, dims.length);
        continue;
      }
      if (next.length != dims.length) {
        throw new IllegalArgumentException(
            Value.describe(dims) + " and " + Value.describe(next) + " do not fit each other");
      }
      for (int k = 0; k < dims.length; k++) {
        if (k == axis) {
          dims[k] = dims[k] == OPEN || next[k] == OPEN ? OPEN : dims[k] + next[k];
        } else {
          fit(dims[k], next[k], dims, next);
          dims[k] = Math.max(dims[k], next[k]);
        }
      }
    }
    return new Value(op.type(0), dims, null);
  }

  private static List<Value> split(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return Collections.nCopies(op.outputCount(), unknown(op.type(0)));
    }
    int axis = op.axis("axis", 0, in.length);
    long[] parts = op.list("split", 1);
    int count = op.outputCount();
    if (parts != null && parts.length != count) {
      throw new IllegalArgumentException(
          Counted.of(parts.length, "part") + " for " + Counted.of(count, "output"));
    }
    if (parts != null) {
      checkParts(in, axis, parts);
    } else if (op.opset() < UNEVEN_PARTS
        && !op.has(1)
        && in[axis] != OPEN
        && in[axis] % Math.max(1, count) != 0) {
      throw new IllegalArgumentException(
          Value.describe(in) + " has not " + count + " equal parts in dimension " + axis);
    }
    List<Value> outputs = new ArrayList<>();
    long each = in[axis] == OPEN || count == 0 ? OPEN : ceilDiv(in[axis], count);
    for (int i = 0; i < count; i++) {
      long[] dims = in.clone();
      if (parts != null) {
        dims[axis] = parts[i];
      } else if (op.has(1) || each == OPEN) {
        dims[axis] = OPEN;
      } else {
        // The last part is smaller where they cannot be equal.
        dims[axis] = Math.max(0, Math.min(each, in[axis] - i * each));
      }
      outputs.add(new Value(op.type(0), dims, null));
    }
    return outputs;
  }

  private static void checkParts(long[] in, int axis, long... parts) {
    long sum = 0;
    for (long part : parts) {
      bound("split", part, 0);
      sum += part;
    }
    if (in[axis] != OPEN && sum != in[axis]) {
      throw new IllegalArgumentException(
          "parts of "
              + Arrays.stream(parts).mapToObj(Long::toString).collect(Collectors.joining(" and "))
              + " do not make up dimension "
              + axis
              + " of "
              + Value.describe(in));
    }
  }

  /** A slice of one dimension: from where to where by which step. */
  record Cut(int axis, long from, long step, long count) {}

  /** The cuts of a Slice, or null if they are not known; a count is open where the dimension is. */
  static List<Cut> cuts(Operator op) {
    long[] in = op.dims(0);
    long[] starts = op.list("starts", 1);
    long[] ends = op.list("ends", 2);
    long[] axes = op.list("axes", 3);
    long[] steps = op.content(4);
    if (in == null
        || starts == null
        || ends == null
        || (axes == null && op.has(3))
        || (steps == null && op.has(4))) {
      return null;
    }
    if (ends.length != starts.length
        || (axes != null && axes.length != starts.length)
        || (steps != null && steps.length != starts.length)) {
      throw new IllegalArgumentException("starts, ends, axes and steps differ in length");
    }
    List<Cut> cuts = new ArrayList<>();
    for (int i = 0; i < starts.length; i++) {
      int axis = Operator.axis(axes == null ? i : axes[i], in.length);
      long step = steps == null ? 1 : steps[i];
      if (step == 0) {
        throw new IllegalArgumentException("a step is 0");
      }
      long size = in[axis];
      if (size == OPEN) {
        cuts.add(new Cut(axis, 0, step, OPEN));
        continue;
      }
      long from =
          clamp(starts[i] < 0 ? starts[i] + size : starts[i], 0, step > 0 ? size : size - 1);
      long to = clamp(ends[i] < 0 ? ends[i] + size : ends[i], step > 0 ? 0 : -1, size);
      long way = size == 0 ? 0 : step > 0 ? to - from : from - to;
      // The largest negative step has no opposite.
      long stride = step == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(step);
      cuts.add(new Cut(axis, from, step, way <= 0 ? 0 : 1 + (way - 1) / stride));
    }
    return cuts;
  }

  private static long clamp(long number, long least, long most) {
    return Math.max(least, Math.min(number, most));
  }

  private static Value slice(Operator op) {
    List<Cut> cuts = cuts(op);
    if (cuts == null) {
      return op.dims(0) == null
          ? unknown(op.type(0))
          : new Value(op.type(0), open(op.dims(0).length), null);
    }
    long[] dims = op.dims(0).clone();
    cuts.forEach(cut -> dims[cut.axis()] = cut.count());
    return new Value(op.type(0), dims, null);
  }

  private static Value pad(Operator op) {
    long[] in = op.dims(0);
    long[] pads = op.has("paddings") ? op.wholes("paddings") : op.list("pads", 1);
    long[] axes = op.content(3);
    if (in == null) {
      return unknown(op.type(0));
    }
    if (pads == null || (axes == null && op.has(3))) {
      return new Value(op.type(0), open(in.length), null);
    }
    int count = axes == null ? in.length : axes.length;
    if (pads.length != 2 * count) {
      throw new IllegalArgumentException(
          "pads has " + Counted.of(pads.length, "number") + " instead of " + 2 * count);
    }
    long[] dims = in.clone();
    for (int i = 0; i < count; i++) {
      int axis = axes == null ? i : Operator.axis(axes[i], in.length);
      for (long pad : new long[] {pads[i], pads[count + i]}) {
        if (dims[axis] != OPEN) {
          dims[axis] = checked(dims[axis], pad, Math::addExact);
        }
      }
    }
    return new Value(op.type(0), dims, null);
  }

  /**
   * What is computed of a dimension.
   *
   * @throws IllegalArgumentException if it is negative or overflows
   */
  private static long checked(long dim, long by, LongBinaryOperator operation) {
    long result;
    try {
      result = operation.applyAsLong(dim, by);
    } catch (ArithmeticException overflow) {
      result = -1;
    }
    if (result < 0) {
      throw new IllegalArgumentException(by + " does not fit a dimension of " + dim);
    }
    return result;
  }

  private static Value tile(Operator op) {
    long[] in = op.dims(0);
    long[] repeats = op.content(1);
    if (in == null || op.opset() < 6) {
      return unknown(op.type(0));
    }
    if (repeats == null) {
      return new Value(op.type(0), open(in.length), null);
    }
    if (repeats.length != in.length) {
      throw new IllegalArgumentException(
          Counted.of(repeats.length, "repeat") + " for " + Value.describe(in));
    }
    long[] dims = in.clone();
    for (int i = 0; i < dims.length; i++) {
      dims[i] = dims[i] == OPEN ? OPEN : checked(dims[i], repeats[i], Math::multiplyExact);
    }
    return new Value(op.type(0), dims, null);
  }

  private static Value expand(Operator op) {
    long[] wanted = op.content(1);
    if (wanted == null) {
      return unknown(op.type(0));
    }
    for (long dim : wanted) {
      if (dim < 0) {
        throw new IllegalArgumentException("a dimension of " + dim + " is negative");
      }
    }
    return new Value(op.type(0), broadcast(op.dims(0), wanted), null);
  }

  private static long[] replaced(long[] dims, int from, int to, long... by) {
    return LongStream.concat(
            LongStream.concat(Arrays.stream(dims, 0, from), Arrays.stream(by)),
            Arrays.stream(dims, to, dims.length))
        .toArray();
  }

  private static Value gather(Operator op) {
    long[] in = op.dims(0);
    long[] indices = op.dims(1);
    if (in == null || indices == null) {
      return unknown(op.type(0));
    }
    int axis = op.axis("axis", 0, in.length);
    long[] content = op.content(1);
    for (long index : content == null || in[axis] == OPEN ? new long[0] : content) {
      if (index < -in[axis] || index >= in[axis]) {
        throw new IllegalArgumentException(
            "index " + index + " is not inside dimension " + axis + " of " + Value.describe(in));
      }
    }
    return new Value(op.type(0), replaced(in, axis, axis + 1, indices), null);
  }

  private static Value gatherElements(Operator op) {
    long[] in = op.dims(0);
    long[] indices = op.dims(1);
    if (in != null && indices != null) {
      int axis = op.axis("axis", 0, in.length);
      boolean inside = indices.length == in.length;
      for (int i = 0; inside && i < in.length; i++) {
        inside = i == axis || in[i] == OPEN || indices[i] <= in[i];
      }
      if (!inside) {
        throw new IllegalArgumentException(
            "indices of " + Value.describe(indices) + " do not fit " + Value.describe(in));
      }
    }
    return new Value(op.type(0), indices, null);
  }

  private static Value gatherNd(Operator op) {
    long[] in = op.dims(0);
    long[] indices = op.dims(1);
    if (in == null || indices == null) {
      return unknown(op.type(0));
    }
    needRank(indices, 1, "the indices");
    long depth = indices[indices.length - 1];
    long common = op.whole("batch_dims", 0);
    if (depth == OPEN) {
      return unknown(op.type(0));
    }
    if (common < 0 || common > in.length || depth > in.length - common) {
      throw new IllegalArgumentException(
          "indices of " + Value.describe(indices) + " reach deeper than " + Value.describe(in));
    }
    for (int i = 0; i < Math.min(common, indices.length - 1); i++) {
      fit(in[i], indices[i], in, indices);
    }
    return new Value(
        op.type(0),
        replaced(in, 0, (int) (common + depth), Arrays.copyOf(indices, indices.length - 1)),
        null);
  }

  private static Value reduce(Operator op) {
    long[] in = op.dims(0);
    long[] axes = op.list("axes", 1);
    boolean keep = op.whole("keepdims", 1) != 0;
    if (in == null) {
      return unknown(op.type(0));
    }
    if (axes == null && op.has(1)) {
      return keep ? new Value(op.type(0), open(in.length), null) : unknown(op.type(0));
    }
    if (axes == null || axes.length == 0) {
      if (op.whole("noop_with_empty_axes", 0) != 0) {
        return same(op, op.type(0));
      }
      axes = LongStream.range(0, in.length).toArray();
    }
    return new Value(op.type(0), reduced(in, marked(axes, in.length), keep), null);
  }

  private static long[] reduced(long[] in, boolean[] gone, boolean keep) {
    return IntStream.range(0, in.length)
        .filter(i -> keep || !gone[i])
        .mapToLong(i -> gone[i] ? 1 : in[i])
        .toArray();
  }

  private static Value argMax(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return unknown(OnnxType.INT64);
    }
    boolean[] gone = marked(new long[] {op.whole("axis", 0)}, in.length);
    return new Value(OnnxType.INT64, reduced(in, gone, op.whole("keepdims", 1) != 0), null);
  }

  private static List<Value> topK(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return List.of(unknown(op.type(0)), unknown(OnnxType.INT64));
    }
    long[] dims = in.clone();
    long[] k = op.has("k") ? new long[] {op.whole("k", 0)} : op.content(1);
    int axis = op.axis("axis", -1, in.length);
    dims[axis] = k == null || k.length != 1 ? OPEN : Math.max(0, k[0]);
    if (in[axis] != OPEN && dims[axis] > in[axis]) {
      throw new IllegalArgumentException(
          "the first "
              + dims[axis]
              + " are not in dimension "
              + axis
              + " of "
              + Value.describe(in));
    }
    return List.of(new Value(op.type(0), dims, null), new Value(OnnxType.INT64, dims, null));
  }

  private static Value resize(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return unknown(op.type(0));
    }
    boolean early = op.name().equals("Upsample") || op.opset() < 11;
    double[] scales = op.input(early ? 1 : 2).content();
    if (op.has("scales")) {
      scales = op.attribute("scales").floats().stream().mapToDouble(Float::doubleValue).toArray();
    }
    long[] sizes = early ? null : op.content(3);
    long[] axes = op.wholes("axes");
    int count = axes == null ? in.length : axes.length;
    boolean bySizes = sizes != null && sizes.length > 0;
    boolean byScales = scales != null && scales.length > 0;
    long[] dims = in.clone();
    if (!op.text("keep_aspect_ratio_policy", "stretch").equals("stretch")
        || (!bySizes && !byScales)) {
      return new Value(op.type(0), open(in.length), null);
    }
    int given = bySizes ? sizes.length : scales.length;
    if (given != count) {
      throw new IllegalArgumentException(given + " scales or sizes are given for " + count);
    }
    for (int i = 0; i < count; i++) {
      int axis = axes == null ? i : Operator.axis(axes[i], in.length);
      if (bySizes) {
        dims[axis] = sizes[i];
      } else if (in[axis] != OPEN) {
        if (!(scales[i] >= 0)) {
          throw new IllegalArgumentException("scale " + scales[i] + " is negative or no number");
        }
        // In the precision of the file: 0.1f of 10 is 1.
        dims[axis] = (long) Math.floor((float) in[axis] * (float) scales[i]);
      }
    }
    return new Value(op.type(0), dims, null);
  }

  private static Value blocks(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return unknown(op.type(0));
    }
    long size = op.whole("blocksize", 1);
    if (in.length != 4) {
      throw new IllegalArgumentException(Value.describe(in) + " has not 4 dimensions");
    }
    if (size < 1 || size > 1 << 20) {
      throw new IllegalArgumentException("blocksize " + size + " is not from 1 to " + (1 << 20));
    }
    boolean toSpace = op.name().equals("DepthToSpace");
    long[] dims = in.clone();
    for (int i = 1; i < 4; i++) {
      long by = i == 1 ? size * size : size;
      if (in[i] != OPEN && toSpace == (i == 1) && in[i] % by != 0) {
        throw new IllegalArgumentException(
            "dimension " + i + " of " + Value.describe(in) + " is no multiple of " + by);
      }
      if (in[i] != OPEN) {
        dims[i] = toSpace == (i == 1) ? in[i] / by : checked(in[i], by, Math::multiplyExact);
      }
    }
    return new Value(op.type(0), dims, null);
  }

  private static Value gridSample(Operator op) {
    long[] in = op.dims(0);
    long[] grid = op.dims(1);
    if (in == null || grid == null) {
      return unknown(op.type(0));
    }
    needRank(in, 3, "an input");
    needRank(grid, 3, "the grid");
    fit(in.length, grid.length, in, grid);
    fit(in[0], grid[0], in, grid);
    fit(in.length - 2, grid[grid.length - 1], in, grid);
    return new Value(op.type(0), replaced(Arrays.copyOf(grid, grid.length - 1), 1, 1, in[1]), null);
  }

  private static Value oneHot(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return unknown(op.type(2));
    }
    long[] depth = op.content(1);
    int axis = op.axis("axis", -1, in.length + 1);
    long size = depth == null || depth.length != 1 ? OPEN : Math.max(0, depth[0]);
    return new Value(op.type(2), replaced(in, axis, axis, size), null);
  }

  private static Value shape(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return Value.of(OnnxType.INT64, OPEN);
    }
    long[] part = shapePart(op, in);
    return Value.of(OnnxType.INT64, part.length);
  }

  /** The dimensions that a Shape gives. */
  static long[] shapePart(Operator op, long[] in) {
    long start = op.whole("start", 0);
    long end = op.whole("end", in.length);
    int from = (int) clamp(start < 0 ? start + in.length : start, 0, in.length);
    int to = (int) clamp(end < 0 ? end + in.length : end, from, in.length);
    return Arrays.copyOfRange(in, from, to);
  }

  private static Value constant(Operator op) {
    for (String name : List.of("value", "sparse_value")) {
      if (op.has(name) && op.attribute(name).constant() != null) {
        return op.attribute(name).constant().value();
      }
    }
    if (op.has("value_int")) {
      return new Value(OnnxType.INT64, new long[0], new double[] {op.whole("value_int", 0)});
    }
    if (op.has("value_ints")) {
      double[] content = Arrays.stream(op.wholes("value_ints")).asDoubleStream().toArray();
      return new Value(OnnxType.INT64, new long[] {content.length}, content);
    }
    boolean one = op.has("value_float");
    if (one || op.has("value_floats")) {
      double[] content =
          op.attribute(one ? "value_float" : "value_floats").floats().stream()
              .mapToDouble(Float::doubleValue)
              .toArray();
      return new Value(OnnxType.FLOAT, one ? new long[0] : new long[] {content.length}, content);
    }
    if (op.has("value_string") || op.has("value_strings")) {
      return unknown(OnnxType.STRING);
    }
    throw new IllegalArgumentException("has no value");
  }

  private static Value constantOfShape(Operator op) {
    boolean given = op.has("value") && op.attribute("value").constant() != null;
    OnnxType type = given ? op.attribute("value").constant().value().type() : OnnxType.FLOAT;
    long[] wanted = op.content(0);
    if (wanted == null) {
      return unknown(type);
    }
    for (long dim : wanted) {
      if (dim < 0) {
        throw new IllegalArgumentException("a dimension of " + dim + " is negative");
      }
    }
    return new Value(type, wanted, null);
  }

  private static Value range(Operator op) {
    double[] bounds = new double[3];
    for (int i = 0; i < bounds.length; i++) {
      double[] content = op.input(i).content();
      if (content == null || content.length != 1) {
        return Value.of(op.type(0), OPEN);
      }
      bounds[i] = content[0];
    }
    return Value.of(op.type(0), Math.max(0, (long) Math.ceil((bounds[1] - bounds[0]) / bounds[2])));
  }

  private static List<Value> recurrent(Operator op) {
    long[] in = op.dims(0);
    if (in == null) {
      return List.of();
    }
    if (in.length != 3) {
      throw new IllegalArgumentException(Value.describe(in) + " has not 3 dimensions");
    }
    long[] weights = op.dims(1);
    if (weights != null) {
      fit(3, weights.length, in, weights);
      fit(in[2], weights[2], in, weights);
    }
    long ways = op.text("direction", "forward").equals("bidirectional") ? 2 : 1;
    long size = op.whole("hidden_size", OPEN);
    boolean batchFirst = op.whole("layout", 0) != 0;
    OnnxType type = op.type(0);
    Value last = batchFirst ? Value.of(type, in[0], ways, size) : Value.of(type, ways, in[1], size);
    Value all =
        batchFirst
            ? Value.of(type, in[0], in[1], ways, size)
            : Value.of(type, in[0], ways, in[1], size);
    return List.of(all, last, last);
  }
}
