package io.prmalloc.tflite;

import io.prmalloc.model.Counted;
import io.prmalloc.tflite.TfliteSubgraph.TfliteOperator;
import java.io.Serial;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongBinaryOperator;
import java.util.stream.IntStream;

/**
 * What one operator makes of the shapes of its inputs, and of small whole numbers that are known
 * before a run, such as the shapes that operators compute.
 *
 * <p>Source: the shape rules of TensorFlow Lite's kernels.
 *
 * <p>Threading: one thread at a time.
 */
final class ShapeRules {

  /** The most elements of a tensor whose numbers are kept. */
  static final int MAX_VALUES = 32;

  /** An operator's rule is not known, or does not fit the shapes. The message says why. */
  static final class NoShapeException extends RuntimeException {

    @Serial private static final long serialVersionUID = 1L;

    NoShapeException(String why) {
      super(why);
    }
  }

  private static final int MAX_RANK = 16;

  private final TfliteOperator operator;
  // Of each input; null if it is absent.
  private final List<List<Integer>> shapes;
  // Of each input; null if they are not known.
  private final List<List<Long>> values;

  /**
   * @param shapes of each input; null for one that is absent
   * @param values the elements of each input, null where they are not known
   */
  ShapeRules(TfliteOperator operator, List<List<Integer>> shapes, List<List<Long>> values) {
    this.operator = operator;
    this.shapes = shapes;
    this.values = values;
  }

  /**
   * The shapes of the outputs.
   *
   * @throws NoShapeException if the rule is not known or does not fit
   */
  List<List<Integer>> outputs() {
    if (operator.kind() == null) {
      throw unknown();
    }
    return switch (operator.kind()) {
      case SPLIT -> split();
      case SPLIT_V -> splitV();
      case UNPACK ->
          Collections.nCopies(operator.outputs().size(), without(shape(0), axisOption(1)));
      case TOPK_V2 -> {
        List<Integer> in = atLeast(0, 1);
        List<Integer> top = with(in, in.size() - 1, value(1));
        if (value(1) > in.get(in.size() - 1)) {
          throw new NoShapeException(
              "the first " + value(1) + " are not in " + TfliteReader.describe(in));
        }
        yield List.of(top, top);
      }
      case LSTM -> flag(3) ? basicLstm() : List.of(lstm(atLeast(0, 2), 0, 0, 18));
      case BIDIRECTIONAL_SEQUENCE_RNN -> {
        List<Integer> in = shape(0, 3);
        int batchAxis = flag(0) ? 1 : 0;
        yield bothWays(recurrent(in, batchAxis, 1, 4), recurrent(in, batchAxis, 5, 8), flag(2));
      }
      case BIDIRECTIONAL_SEQUENCE_LSTM -> {
        List<Integer> in = shape(0, 3);
        int batchAxis = timeIsFirst(4) ? 1 : 0;
        yield bothWays(lstm(in, batchAxis, 0, 35), lstm(in, batchAxis, 17, 37), flag(3));
      }
      default -> List.of(output());
    };
  }

  private List<Integer> output() {
    return switch (operator.kind()) {
      case ABS,
          CAST,
          CEIL,
          COMPLEX_ABS,
          COS,
          CUMSUM,
          DENSIFY,
          DEQUANTIZE,
          DYNAMIC_UPDATE_SLICE,
          ELU,
          EXP,
          FAKE_QUANT,
          FLOOR,
          GELU,
          HARD_SWISH,
          IMAG,
          L2_NORMALIZATION,
          LEAKY_RELU,
          LOCAL_RESPONSE_NORMALIZATION,
          LOG,
          LOGICAL_NOT,
          LOGISTIC,
          LOG_SOFTMAX,
          MATRIX_SET_DIAG,
          NEG,
          QUANTIZE,
          REAL,
          RELU,
          RELU6,
          RELU_0_TO_1,
          RELU_N1_TO_1,
          REVERSE_SEQUENCE,
          REVERSE_V2,
          ROUND,
          RSQRT,
          SIGN,
          SIN,
          SOFTMAX,
          SQRT,
          SQUARE,
          TANH,
          ZEROS_LIKE ->
          shape(0);
      case ADD,
          ATAN2,
          BITWISE_XOR,
          DIV,
          EQUAL,
          FLOOR_DIV,
          FLOOR_MOD,
          GREATER,
          GREATER_EQUAL,
          LESS,
          LESS_EQUAL,
          LOGICAL_AND,
          LOGICAL_OR,
          MAXIMUM,
          MINIMUM,
          MUL,
          NOT_EQUAL,
          POW,
          PRELU,
          RIGHT_SHIFT,
          SQUARED_DIFFERENCE,
          SUB ->
          broadcast(shape(0), shape(1));
      case ADD_N -> equal(0);
      case SELECT -> equal(1);
      case SELECT_V2 -> broadcast(broadcast(shape(0), shape(1)), shape(2));
      case CONV_2D -> {
        // A filter for fewer channels than the input has is for groups of them.
        int each = Math.max(1, shape(1, 4).get(3));
        int groups = Math.max(1, shape(0, 4).get(3) / each);
        boolean grouped = shape(0, 4).get(3) == groups * each && shape(1).get(0) % groups == 0;
        checkFilter(0, 3, 3, grouped);
        yield slide(2, 1, shape(1, 4).get(0), 4);
      }
      case DEPTHWISE_CONV_2D -> {
        checkFilter(0, 3, 3, shape(1, 4).get(3) % Math.max(1, shape(0, 4).get(3)) == 0);
        yield slide(2, 1, shape(1, 4).get(3), 5);
      }
      case CONV_3D -> {
        checkFilter(0, 4, 3, false);
        yield slide(3, 0, shape(1, 5).get(4), 5);
      }
      case AVERAGE_POOL_2D, L2_POOL_2D, MAX_POOL_2D -> pool();
      case TRANSPOSE_CONV -> {
        checkFilter(2, 3, 3, false);
        yield dimensions(0);
      }
      case CONV_3D_TRANSPOSE -> {
        checkFilter(2, 4, 4, false);
        yield dimensions(0);
      }
      case FULLY_CONNECTED -> fullyConnected();
      case RNN -> recurrent(shape(0, 2), 0, 1, 4);
      case UNIDIRECTIONAL_SEQUENCE_RNN -> recurrent(shape(0, 3), flag(0) ? 1 : 0, 1, 4);
      case UNIDIRECTIONAL_SEQUENCE_LSTM -> lstm(shape(0, 3), flag(3) ? 1 : 0, 0, 18);
      case SVDF -> svdf();
      case BATCH_MATMUL -> batchMatmul();
      case RESHAPE -> reshape();
      case CONCATENATION -> concatenation();
      case SLICE -> slice();
      case STRIDED_SLICE -> StridedSlice.of(this).shape();
      case PAD, PADV2, MIRROR_PAD -> pad(0, 1);
      case TRANSPOSE -> transpose();
      case MEAN, SUM, REDUCE_ALL, REDUCE_ANY, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD -> reduce();
      case ARG_MAX, ARG_MIN -> without(shape(0), axis(value(1), shape(0).size()));
      case SQUEEZE -> squeeze();
      case EXPAND_DIMS -> {
        List<Integer> wider = new ArrayList<>(shape(0));
        wider.add(axis(value(1), wider.size() + 1), 1);
        yield wider;
      }
      case RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR -> {
        List<Integer> image = shape(0, 4);
        yield List.of(
            image.get(0), size(values(1, 2).get(0)), size(values(1, 2).get(1)), image.get(3));
      }
      case GATHER -> gather();
      case GATHER_ND -> gatherNd();
      case EMBEDDING_LOOKUP -> join(shape(0), shape(1).subList(1, atLeast(1, 1).size()));
      case PACK -> {
        List<Integer> packed = new ArrayList<>(equal(0));
        packed.add(axis(option(1, 0), packed.size() + 1), shapes.size());
        yield packed;
      }
      case SHAPE -> List.of(shape(0).size());
      case RANK -> List.of();
      case TILE -> tile();
      case FILL -> dimensions(0);
      case BROADCAST_TO -> {
        List<Integer> wanted = dimensions(1);
        if (!broadcast(shape(0), wanted).equals(wanted)) {
          throw new NoShapeException(
              TfliteReader.describe(shape(0))
                  + " cannot be broadcast to "
                  + TfliteReader.describe(wanted));
        }
        yield wanted;
      }
      case SCATTER_ND -> dimensions(2);
      case SPARSE_TO_DENSE -> dimensions(1);
      case MATRIX_DIAG -> {
        List<Integer> diagonal = atLeast(0, 1);
        yield join(diagonal, diagonal.subList(diagonal.size() - 1, diagonal.size()));
      }
      case RANGE -> List.of(range(value(0), value(1), value(2)));
      case ONE_HOT -> {
        List<Integer> hot = new ArrayList<>(shape(0));
        hot.add(axis(option(0, 0), hot.size() + 1), size(value(1)));
        yield hot;
      }
      case DEPTH_TO_SPACE -> {
        List<Integer> in = shape(0, 4);
        int block = size(option(0, 0));
        yield List.of(
            in.get(0),
            size((long) in.get(1) * block),
            size((long) in.get(2) * block),
            divide(in.get(3), (long) block * block));
      }
      case SPACE_TO_DEPTH -> {
        List<Integer> in = shape(0, 4);
        int block = size(option(0, 0));
        yield List.of(
            in.get(0),
            divide(in.get(1), block),
            divide(in.get(2), block),
            size((long) in.get(3) * block * block));
      }
      case SPACE_TO_BATCH_ND -> spaceToBatch();
      case BATCH_TO_SPACE_ND -> batchToSpace();
      case WHERE, UNIQUE, NON_MAX_SUPPRESSION_V4, NON_MAX_SUPPRESSION_V5 ->
          throw new NoShapeException("its shape depends on the data");
      default -> throw unknown();
    };
  }

  private static NoShapeException unknown() {
    return new NoShapeException("the operator's rule is not known");
  }

  // ---- what rules ask for

  private List<Integer> shape(int input) {
    if (input >= shapes.size() || shapes.get(input) == null) {
      throw new NoShapeException("input " + input + " is absent");
    }
    return shapes.get(input);
  }

  private List<Integer> shape(int input, int rank) {
    List<Integer> shape = shape(input);
    if (shape.size() != rank) {
      throw new NoShapeException(
          "input "
              + input
              + " has "
              + Counted.of(shape.size(), "dimension")
              + " instead of "
              + rank);
    }
    return shape;
  }

  private List<Integer> atLeast(int input, int rank) {
    List<Integer> shape = shape(input);
    if (shape.size() < rank) {
      throw new NoShapeException(
          "input "
              + input
              + " has "
              + Counted.of(shape.size(), "dimension")
              + "; the least is "
              + rank);
    }
    return shape;
  }

  /** The shape that all inputs from one on have. */
  private List<Integer> equal(int first) {
    List<Integer> shape = shape(first);
    for (int i = first + 1; i < shapes.size(); i++) {
      if (!shape(i).equals(shape)) {
        throw new NoShapeException(
            TfliteReader.describe(shape(i)) + " and " + TfliteReader.describe(shape) + " differ");
      }
    }
    return shape;
  }

  private List<Long> values(int input) {
    shape(input);
    if (values.get(input) == null) {
      throw new NoShapeException("it depends on the values of input " + input);
    }
    return values.get(input);
  }

  private List<Long> values(int input, int count) {
    List<Long> known = values(input);
    if (known.size() != count) {
      throw new NoShapeException(
          "input "
              + input
              + " has "
              + Counted.of(known.size(), "element")
              + " instead of "
              + count);
    }
    return known;
  }

  private long value(int input) {
    return values(input, 1).get(0);
  }

  private int option(int field, int absent) {
    return operator.options() == null ? absent : operator.options().intValue(field, absent, "");
  }

  private boolean flag(int field) {
    return operator.options() != null && operator.options().byteValue(field, "") != 0;
  }

  /** An option that is on where the file does not say it. */
  private boolean timeIsFirst(int field) {
    return operator.options() == null || operator.options().byteValue(field, 1, "") != 0;
  }

  private static int size(long size) {
    if (size < 0 || size > Integer.MAX_VALUE) {
      throw new NoShapeException(
          "a dimension would be " + size + ", which is not from 0 to " + Integer.MAX_VALUE);
    }
    return (int) size;
  }

  private static int divide(long size, long divisor) {
    if (divisor <= 0 || size % divisor != 0) {
      throw new NoShapeException("dimension " + size + " is no multiple of " + divisor);
    }
    return size(size / divisor);
  }

  private static int axis(long axis, int rank) {
    long positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank) {
      throw new NoShapeException("axis " + axis + " is none of " + Counted.of(rank, "dimension"));
    }
    return (int) positive;
  }

  /** The axis in an option, of the first input. */
  private int axisOption(int field) {
    return axis((long) option(field, 0), shape(0).size());
  }

  private List<Integer> dimensions(int input) {
    List<Long> sizes = values(input);
    if (sizes.size() > MAX_RANK) {
      throw new NoShapeException("its shape would have " + sizes.size() + " dimensions");
    }
    return sizes.stream().map(ShapeRules::size).toList();
  }

  private static List<Integer> with(List<Integer> shape, int axis, long size) {
    List<Integer> changed = new ArrayList<>(shape);
    changed.set(axis(axis, shape.size()), size(size));
    return changed;
  }

  private static List<Integer> without(List<Integer> shape, int axis) {
    List<Integer> changed = new ArrayList<>(shape);
    changed.remove(axis);
    return changed;
  }

  private static List<Integer> join(List<Integer> left, List<Integer> right) {
    List<Integer> joined = new ArrayList<>(left);
    joined.addAll(right);
    return joined;
  }

  private static long elements(List<Integer> shape) {
    long elements = 1;
    for (int dimension : shape) {
      elements = dimension == 0 ? 0 : elements * dimension;
      if (elements > Integer.MAX_VALUE * 256L) {
        throw new NoShapeException(TfliteReader.describe(shape) + " is too large");
      }
    }
    return elements;
  }

  // ---- the rules

  private static List<Integer> broadcast(List<Integer> left, List<Integer> right) {
    int rank = Math.max(left.size(), right.size());
    List<Integer> shape = new ArrayList<>(rank);
    for (int i = 0; i < rank; i++) {
      int l = i < rank - left.size() ? 1 : left.get(i - rank + left.size());
      int r = i < rank - right.size() ? 1 : right.get(i - rank + right.size());
      if (l != r && l != 1 && r != 1) {
        throw new NoShapeException(
            TfliteReader.describe(left)
                + " and "
                + TfliteReader.describe(right)
                + " cannot be broadcast");
      }
      shape.add(l == 1 ? r : l);
    }
    return shape;
  }

  /**
   * A convolution. Its options are the padding, then the stride along each axis, in 2-D w before h,
   * in 3-D d, w, h.
   *
   * @param axes how many dimensions the filter slides along; they are behind the batch
   * @param filterAxis the first of them in the filter's shape
   * @param channels of the output
   * @param dilations the field of the first dilation; the axes are in the order of the strides
   */
  private List<Integer> slide(int axes, int filterAxis, int channels, int dilations) {
    List<Integer> in = shape(0, axes + 2);
    List<Integer> shape = new ArrayList<>(List.of(in.get(0)));
    for (int i = 0; i < axes; i++) {
      // The fields have the width before the height.
      int field = axes == 3 && i == 0 ? 0 : axes - 1 - i + (axes == 3 ? 1 : 0);
      shape.add(
          windows(
              in.get(1 + i),
              shape(1).get(filterAxis + i),
              option(1 + field, 0),
              option(dilations + field, 1),
              !flag(0)));
    }
    shape.add(channels);
    return shape;
  }

  /**
   * Checks that a filter, input 1, is for the channels of an image.
   *
   * @param image which input
   * @param channels its last dimension
   * @param filterChannels that dimension of the filter
   * @param orElse whether it fits although they differ
   */
  private void checkFilter(int image, int channels, int filterChannels, boolean orElse) {
    List<Integer> in = shape(image, channels + 1);
    List<Integer> filter = shape(1, channels + 1);
    if (!orElse && !in.get(channels).equals(filter.get(filterChannels))) {
      throw new NoShapeException(
          "a filter of "
              + TfliteReader.describe(filter)
              + " does not fit "
              + TfliteReader.describe(in));
    }
  }

  private List<Integer> pool() {
    List<Integer> in = shape(0, 4);
    boolean same = !flag(0);
    return List.of(
        in.get(0),
        windows(in.get(1), option(4, 0), option(2, 0), 1, same),
        windows(in.get(2), option(3, 0), option(1, 0), 1, same),
        in.get(3));
  }

  private static int windows(long in, long filter, long stride, long dilation, boolean same) {
    if (stride <= 0 || filter <= 0 || dilation <= 0) {
      throw new NoShapeException(
          "window " + filter + ", stride " + stride + " and dilation " + dilation + " must be > 0");
    }
    long window = (filter - 1) * dilation + 1;
    if (!same && in < window) {
      throw new NoShapeException("a window of " + window + " does not fit into " + in);
    }
    return size(same ? (in + stride - 1) / stride : (in - window) / stride + 1);
  }

  private List<Integer> fullyConnected() {
    List<Integer> in = atLeast(0, 1);
    List<Integer> weights = shape(1, 2);
    if (flag(2)) {
      checkEnd(in, weights.get(1));
      return with(in, in.size() - 1, weights.get(0));
    }
    return List.of(divide(elements(in), weights.get(1)), weights.get(0));
  }

  // Recurrent operators keep a state from run to run in variables, whose shapes are those of the
  // file: engines resize inputs only, and refuse a state for another batch.

  private void checkState(int input, long elements) {
    if (elements(shape(input)) != elements) {
      throw new NoShapeException(
          "its state, input "
              + input
              + ", has "
              + Counted.of(elements(shape(input)), "element")
              + " instead of "
              + elements);
    }
  }

  /**
   * A recurrent layer.
   *
   * @param weights the input with its weights, a row for each unit
   * @param state the input with its state
   */
  private List<Integer> recurrent(List<Integer> in, int batchAxis, int weights, int state) {
    int units = shape(weights, 2).get(0);
    checkEnd(in, shape(weights, 2).get(1));
    checkState(state, (long) in.get(batchAxis) * units);
    return with(in, in.size() - 1, units);
  }

  /**
   * A long short-term memory.
   *
   * @param weights how far behind the input, at 0, the weights of this direction are
   * @param states the input with the state of the output; that of the cells is behind it
   */
  private List<Integer> lstm(List<Integer> in, int batchAxis, int weights, int states) {
    List<Integer> cells = shape(weights + 4, 2);
    int outputs = shape(weights + 8, 2).get(1);
    checkEnd(in, cells.get(1));
    checkState(states, (long) in.get(batchAxis) * outputs);
    checkState(states + 1, (long) in.get(batchAxis) * cells.get(0));
    return with(in, in.size() - 1, outputs);
  }

  /** The long short-term memory whose state is an input like others, with its temporaries. */
  private List<List<Integer>> basicLstm() {
    List<Integer> in = shape(0, 2);
    List<Integer> activation = shape(1, 2);
    if (!in.get(0).equals(activation.get(0))) {
      throw new NoShapeException(
          TfliteReader.describe(in)
              + " and "
              + TfliteReader.describe(activation)
              + " are not of one batch");
    }
    return List.of(
        activation,
        activation,
        with(in, 1, (long) in.get(1) + activation.get(1)),
        with(in, 1, 4L * activation.get(1)));
  }

  private List<List<Integer>> bothWays(
      List<Integer> forward, List<Integer> backward, boolean areMerged) {
    int last = forward.size() - 1;
    return areMerged
        ? List.of(with(forward, last, (long) forward.get(last) + backward.get(last)))
        : List.of(forward, backward);
  }

  private List<Integer> svdf() {
    List<Integer> in = shape(0, 2);
    List<Integer> features = shape(1, 2);
    checkEnd(in, features.get(1));
    checkState(4, (long) in.get(0) * shape(2, 2).get(1) * features.get(0));
    return List.of(in.get(0), divide(features.get(0), option(0, 0)));
  }

  private static void checkEnd(List<Integer> in, int size) {
    if (in.get(in.size() - 1) != size) {
      throw new NoShapeException(TfliteReader.describe(in) + " does not end in " + size);
    }
  }

  private List<Integer> batchMatmul() {
    List<Integer> left = atLeast(0, 2);
    List<Integer> right = atLeast(1, 2);
    int l = left.size();
    int r = right.size();
    boolean leftTurned = flag(0);
    boolean rightTurned = flag(1);
    int inner = left.get(leftTurned ? l - 2 : l - 1);
    if (inner != right.get(rightTurned ? r - 1 : r - 2)) {
      throw new NoShapeException(
          TfliteReader.describe(left)
              + " and "
              + TfliteReader.describe(right)
              + " cannot be multiplied");
    }
    return join(
        broadcast(left.subList(0, l - 2), right.subList(0, r - 2)),
        List.of(left.get(leftTurned ? l - 1 : l - 2), right.get(rightTurned ? r - 2 : r - 1)));
  }

  private List<Integer> reshape() {
    List<Long> wanted =
        shapes.size() > 1 && shapes.get(1) != null
            ? values(1)
            : operator.options() == null
                ? List.of()
                : IntStream.of(operator.options().ints(0, "newShape"))
                    .mapToObj(Long::valueOf)
                    .toList();
    if (wanted.size() > MAX_RANK) {
      throw new NoShapeException("its shape would have " + wanted.size() + " dimensions");
    }
    long elements = elements(shape(0));
    List<Integer> stated = wanted.stream().map(d -> d == -1 ? 1 : size(d)).toList();
    long open = wanted.stream().filter(d -> d == -1).count();
    long known = elements(stated);
    if (open > 1 || (open == 0 && known != elements)) {
      throw new NoShapeException(elements + " elements do not fit " + wanted);
    }
    return open == 0
        ? stated
        : with(stated, wanted.indexOf(-1L), known == 0 ? 0 : divide(elements, known));
  }

  private List<Integer> concatenation() {
    List<Integer> first = shape(0);
    int axis = axisOption(0);
    long sum = 0;
    for (int i = 0; i < shapes.size(); i++) {
      List<Integer> part = shape(i, first.size());
      sum += part.get(axis);
      if (!without(part, axis).equals(without(first, axis))) {
        throw new NoShapeException(
            TfliteReader.describe(part) + " and " + TfliteReader.describe(first) + " differ");
      }
    }
    return with(first, axis, sum);
  }

  private List<Integer> slice() {
    List<Integer> in = shape(0);
    List<Integer> shape = new ArrayList<>();
    for (int i = 0; i < in.size(); i++) {
      long begin = values(1, in.size()).get(i);
      long length = values(2, in.size()).get(i);
      length = length == -1 ? in.get(i) - begin : length;
      if (begin < 0 || length < 0 || begin + length > in.get(i)) {
        throw new NoShapeException(length + " from " + begin + " on are not inside " + in.get(i));
      }
      shape.add(size(length));
    }
    return shape;
  }

  private List<List<Integer>> split() {
    List<Integer> in = shape(1);
    int axis = axis(value(0), in.size());
    int parts = operator.outputs().size();
    return Collections.nCopies(parts, with(in, axis, divide(in.get(axis), Math.max(1, parts))));
  }

  private List<List<Integer>> splitV() {
    List<Integer> in = shape(0);
    List<Long> sizes = values(1, operator.outputs().size());
    int axis = axis(value(2), in.size());
    long known = sizes.stream().filter(size -> size != -1).mapToLong(ShapeRules::size).sum();
    long open = sizes.stream().filter(size -> size == -1).count();
    if (open > 1 || known > in.get(axis) || (open == 0 && known != in.get(axis))) {
      throw new NoShapeException(in.get(axis) + " cannot be split into " + sizes);
    }
    return sizes.stream()
        .map(size -> with(in, axis, size == -1 ? in.get(axis) - known : size))
        .toList();
  }

  /** Adds padding: of the dimensions from one on, two numbers each. */
  private List<Integer> pad(int first, int input) {
    List<Integer> in = shape(0);
    List<Long> padding = values(input);
    if (padding.size() % 2 != 0 || first + padding.size() / 2 > in.size()) {
      throw new NoShapeException(
          padding.size() + " numbers of padding do not fit " + in.size() + " dimensions");
    }
    List<Integer> shape = new ArrayList<>(in);
    for (int i = 0; i < padding.size() / 2; i++) {
      shape.set(
          first + i,
          size((long) in.get(first + i) + size(padding.get(2 * i)) + size(padding.get(2 * i + 1))));
    }
    return shape;
  }

  private List<Integer> transpose() {
    List<Integer> in = shape(0);
    List<Integer> order = values(1, in.size()).stream().map(axis -> axis(axis, in.size())).toList();
    if (order.stream().distinct().count() != in.size()) {
      throw new NoShapeException(order + " is no order of " + in.size() + " dimensions");
    }
    return order.stream().map(in::get).toList();
  }

  private List<Integer> reduce() {
    List<Integer> in = shape(0);
    List<Integer> axes = values(1).stream().map(axis -> axis(axis, in.size())).toList();
    boolean keep = flag(0);
    return IntStream.range(0, in.size())
        .filter(i -> keep || !axes.contains(i))
        .mapToObj(i -> axes.contains(i) ? Integer.valueOf(1) : in.get(i))
        .toList();
  }

  private List<Integer> squeeze() {
    List<Integer> in = shape(0);
    int[] named =
        operator.options() == null ? new int[0] : operator.options().ints(0, "squeezeDims");
    List<Integer> axes = IntStream.of(named).mapToObj(axis -> axis(axis, in.size())).toList();
    for (int axis : axes) {
      if (in.get(axis) != 1) {
        throw new NoShapeException("dimension " + axis + " is " + in.get(axis) + " instead of 1");
      }
    }
    return IntStream.range(0, in.size())
        .filter(i -> axes.isEmpty() ? in.get(i) != 1 : !axes.contains(i))
        .mapToObj(in::get)
        .toList();
  }

  private List<Integer> gather() {
    List<Integer> in = atLeast(0, 1);
    List<Integer> indices = shape(1);
    int axis = axisOption(0);
    int batches = option(1, 0);
    batches = batches < 0 ? batches + indices.size() : batches;
    if (batches < 0 || batches > Math.min(axis, indices.size())) {
      throw new NoShapeException("batchDims " + option(1, 0) + " does not fit axis " + axis);
    }
    if (!in.subList(0, batches).equals(indices.subList(0, batches))) {
      throw new NoShapeException(
          "indices of "
              + TfliteReader.describe(indices)
              + " do not fit "
              + TfliteReader.describe(in));
    }
    return join(
        in.subList(0, axis),
        join(indices.subList(batches, indices.size()), in.subList(axis + 1, in.size())));
  }

  private List<Integer> gatherNd() {
    List<Integer> in = shape(0);
    List<Integer> indices = atLeast(1, 1);
    int last = indices.size() - 1;
    if (indices.get(last) > in.size()) {
      throw new NoShapeException(
          "indices of " + indices.get(last) + " numbers do not fit " + in.size() + " dimensions");
    }
    return join(indices.subList(0, last), in.subList(indices.get(last), in.size()));
  }

  private List<Integer> tile() {
    List<Integer> in = shape(0);
    List<Long> times = values(1, in.size());
    return IntStream.range(0, in.size())
        .mapToObj(i -> size((long) in.get(i) * size(times.get(i))))
        .toList();
  }

  private static int range(long start, long limit, long delta) {
    if (delta == 0 || (limit != start && (limit > start) != (delta > 0))) {
      throw new NoShapeException("no range goes from " + start + " to " + limit + " by " + delta);
    }
    return size((Math.abs(limit - start) + Math.abs(delta) - 1) / Math.abs(delta));
  }

  private List<Integer> spaceToBatch() {
    List<Long> blocks = values(1);
    List<Integer> shape = new ArrayList<>(pad(1, 2));
    long batch = atLeast(0, 1 + blocks.size()).get(0);
    for (int i = 0; i < blocks.size(); i++) {
      shape.set(1 + i, divide(shape.get(1 + i), blocks.get(i)));
      batch = size(batch * size(blocks.get(i)));
    }
    return with(shape, 0, batch);
  }

  private List<Integer> batchToSpace() {
    List<Long> blocks = values(1);
    List<Long> crops = values(2, 2 * blocks.size());
    List<Integer> shape = new ArrayList<>(atLeast(0, 1 + blocks.size()));
    int batch = shape.get(0);
    for (int i = 0; i < blocks.size(); i++) {
      batch = divide(batch, blocks.get(i));
      long grown = (long) shape.get(1 + i) * size(blocks.get(i));
      shape.set(1 + i, size(grown - size(crops.get(2 * i)) - size(crops.get(2 * i + 1))));
    }
    return with(shape, 0, batch);
  }

  /** What STRIDED_SLICE picks: of each dimension of the input a begin, a step and a count. */
  private record StridedSlice(List<Integer> shape, long begin, long step, int count) {

    static StridedSlice of(ShapeRules rules) {
      List<Integer> in = rules.shape(0);
      List<Long> begins = rules.values(1);
      List<Long> ends = rules.values(2, begins.size());
      List<Long> steps = rules.values(3, begins.size());
      int beginMask = rules.option(0, 0);
      int endMask = rules.option(1, 0);
      int ellipsis = rules.option(2, 0);
      int newAxes = rules.option(3, 0);
      int shrunk = rules.option(4, 0);
      boolean isOffset = rules.flag(5);
      int named = begins.size();
      if (named > 31 || Integer.bitCount(ellipsis) > 1) {
        throw new NoShapeException("its masks are not for " + named + " numbers");
      }
      int used = named - Integer.bitCount(newAxes & ~ellipsis & ((1 << named) - 1));
      used -= ellipsis != 0 && ellipsis < 1 << named ? 1 : 0;
      if (used > in.size()) {
        throw new NoShapeException(named + " numbers do not fit " + in.size() + " dimensions");
      }
      List<Integer> shape = new ArrayList<>();
      int axis = 0;
      long begin = 0;
      long step = 1;
      int count = 0;
      for (int i = 0; i < named; i++) {
        int bit = 1 << i;
        if ((ellipsis & bit) != 0) {
          for (int k = in.size() - used; k > 0; k--) {
            shape.add(in.get(axis++));
          }
          continue;
        }
        if ((newAxes & bit) != 0) {
          shape.add(1);
          continue;
        }
        long size = in.get(axis++);
        step = steps.get(i);
        if (step == 0) {
          throw new NoShapeException("a stride is 0");
        }
        long last = step > 0 ? size : size - 1;
        long first = step > 0 ? 0 : -1;
        begin = begins.get(i);
        begin = begin < 0 ? begin + size : begin;
        if ((shrunk & bit) != 0) {
          begin = (beginMask & bit) != 0 ? 0 : begin;
          if (begin < 0 || begin >= size) {
            throw new NoShapeException("index " + begins.get(i) + " is not inside " + size);
          }
          count = 1;
          continue;
        }
        long end = isOffset ? begin + ends.get(i) : ends.get(i);
        end = end < 0 && !isOffset ? end + size : end;
        begin = (beginMask & bit) != 0 ? (step > 0 ? 0 : size - 1) : clamp(begin, first, last);
        end = (endMask & bit) != 0 ? (step > 0 ? size : -1) : clamp(end, first, last);
        long distance = step > 0 ? end - begin : begin - end;
        long stride = Math.abs(step);
        count = size(distance <= 0 ? 0 : (distance + stride - 1) / stride);
        shape.add(count);
      }
      shape.addAll(in.subList(axis, in.size()));
      return new StridedSlice(shape, begin, step, count);
    }

    private static long clamp(long value, long least, long most) {
      return Math.max(least, Math.min(most, value));
    }
  }

  // ---- small numbers that are known before a run

  /**
   * The elements of each output, null where they are not known.
   *
   * @param shapesOfOutputs what {@link #outputs} says, or the file
   */
  List<List<Long>> outputValues(List<List<Integer>> shapesOfOutputs) {
    List<List<Long>> found = new ArrayList<>(Collections.nCopies(shapesOfOutputs.size(), null));
    if (operator.kind() == null || shapesOfOutputs.isEmpty()) {
      return found;
    }
    try {
      if (operator.kind() == BuiltinOperator.UNPACK && shape(0).size() == 1) {
        for (int i = 0; i < found.size(); i++) {
          found.set(i, List.of(values(0, found.size()).get(i)));
        }
      } else {
        List<Long> first = firstOutputValues(shapesOfOutputs.get(0));
        boolean fits = first != null && first.size() == elements(shapesOfOutputs.get(0));
        found.set(0, fits && first.size() <= MAX_VALUES ? first : null);
      }
    } catch (NoShapeException notKnown) {
      // The shapes that need these numbers say so.
      return found;
    }
    return found;
  }

  private List<Long> firstOutputValues(List<Integer> shape) {
    return switch (operator.kind()) {
      case SHAPE -> shape(0).stream().map(Long::valueOf).toList();
      case RANK -> List.of((long) shape(0).size());
      case RESHAPE, SQUEEZE, EXPAND_DIMS, CAST -> values(0);
      case NEG -> values(0).stream().map(v -> -v).toList();
      case ABS -> values(0).stream().map(Math::abs).toList();
      case ADD -> each(Long::sum);
      case SUB -> each((a, b) -> a - b);
      case MUL -> each((a, b) -> a * b);
      case MAXIMUM -> each(Math::max);
      case MINIMUM -> each(Math::min);
      case DIV -> each((a, b) -> a / nonZero(b));
      case FLOOR_DIV -> each((a, b) -> Math.floorDiv(a, nonZero(b)));
      case FLOOR_MOD -> each((a, b) -> Math.floorMod(a, nonZero(b)));
      case PACK, CONCATENATION -> {
        // Along the first axis elements follow one another.
        if (shape(0).size() > 1) {
          yield null;
        }
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < shapes.size() && all.size() <= MAX_VALUES; i++) {
          all.addAll(values(i));
        }
        yield axis(option(operator.kind() == BuiltinOperator.PACK ? 1 : 0, 0), shape.size()) == 0
            ? all
            : null;
      }
      case STRIDED_SLICE -> {
        shape(0, 1);
        StridedSlice slice = StridedSlice.of(this);
        yield IntStream.range(0, slice.count)
            .mapToObj(i -> values(0).get((int) (slice.begin + i * slice.step)))
            .toList();
      }
      case SLICE -> {
        shape(0, 1);
        int begin = size(value(1));
        yield values(0).subList(begin, begin + slice().get(0));
      }
      case GATHER -> {
        List<Long> of = values(0, shape(0, 1).get(0));
        yield values(1).stream().map(i -> of.get(axis(i, of.size()))).toList();
      }
      case REDUCE_PROD -> List.of(all((a, b) -> a * b, 1));
      case SUM -> List.of(all(Long::sum, 0));
      case REDUCE_MAX -> List.of(all(Math::max, Long.MIN_VALUE));
      case REDUCE_MIN -> List.of(all(Math::min, Long.MAX_VALUE));
      case FILL ->
          elements(shape) > MAX_VALUES
              ? null
              : Collections.nCopies((int) elements(shape), value(1));
      case RANGE ->
          elements(shape) > MAX_VALUES
              ? null
              : IntStream.range(0, (int) elements(shape))
                  .mapToObj(i -> value(0) + i * value(2))
                  .toList();
      default -> null;
    };
  }

  private static long nonZero(long divisor) {
    if (divisor == 0) {
      throw new NoShapeException("a number is divided by 0");
    }
    return divisor;
  }

  private List<Long> each(LongBinaryOperator made) {
    List<Long> left = values(0);
    List<Long> right = values(1);
    if (left.size() != right.size() && left.size() != 1 && right.size() != 1) {
      throw new NoShapeException("the numbers of both inputs do not go together");
    }
    int count = Math.min(left.size(), right.size()) == 0 ? 0 : Math.max(left.size(), right.size());
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                made.applyAsLong(
                    left.get(left.size() == 1 ? 0 : i), right.get(right.size() == 1 ? 0 : i)))
        .toList();
  }

  private long all(LongBinaryOperator made, long start) {
    shape(0, 1);
    return values(0).stream().mapToLong(Long::longValue).reduce(start, made);
  }
}
