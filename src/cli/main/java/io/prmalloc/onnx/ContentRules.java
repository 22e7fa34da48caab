package io.prmalloc.onnx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Evaluates the standard operators on the small tensors from which models compute shapes: the
 * operands of Reshape, Expand, Slice and the like. Scalars and lists only.
 *
 * <p>Threading: any thread.
 */
final class ContentRules {

  private ContentRules() {}

  /**
   * The elements of an operator's output.
   *
   * @param output its shape, which is known
   * @return null if they are not known
   */
  static double[] content(Operator op, Value output, int index) {
    if (!OnnxModel.isStandard(op.operation().domain())
        || output.rank() > 1
        || Value.elements(output.dims()) > Value.MAX_CONTENT) {
      return null;
    }
    if (op.name().equals("Shape")) {
      return op.input(0).isClosed() ? doubles(ShapeRules.shapePart(op, op.dims(0))) : null;
    }
    if (op.name().equals("Size")) {
      return op.input(0).isClosed() ? new double[] {Value.elements(op.dims(0))} : null;
    }
    if (op.name().equals("ConstantOfShape")) {
      return filled(op, output);
    }
    List<double[]> inputs = new ArrayList<>();
    for (int i = 0; i < op.inputs().size(); i++) {
      double[] input = op.input(i).content();
      if (input == null
          ? op.has(i) || !op.name().equals("Slice")
          : op.input(i).rank() > 1 && !keepsOrder(op)) {
        return null;
      }
      inputs.add(input);
    }
    return inputs.isEmpty() || inputs.get(0) == null ? null : of(op, output, index, inputs);
  }

  private static boolean keepsOrder(Operator op) {
    return List.of("Identity", "Reshape", "Flatten", "Squeeze", "Cast").contains(op.name());
  }

  private static double[] of(Operator op, Value output, int index, List<double[]> inputs) {
    double[] first = inputs.get(0);
    boolean whole = output.type() != null && output.type().isWhole();
    return switch (op.name()) {
      case "Identity", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Transpose" -> first;
      case "Cast", "CastLike" ->
          output.type() == OnnxType.BOOL
              ? each(first, a -> a == 0 ? 0 : 1)
              : each(first, whole ? ContentRules::truncate : a -> a);
      case "Neg" -> each(first, a -> -a);
      case "Abs" -> each(first, Math::abs);
      case "Floor" -> each(first, Math::floor);
      case "Ceil" -> each(first, Math::ceil);
      case "Sqrt" -> each(first, Math::sqrt);
      case "Not" -> each(first, a -> a == 0 ? 1 : 0);
      case "Add", "Sum" -> combined(inputs, Double::sum);
      case "Sub" -> combined(inputs, (a, b) -> a - b);
      case "Mul" -> combined(inputs, (a, b) -> a * b);
      case "Div" -> combined(inputs, whole ? (a, b) -> truncate(a / b) : (a, b) -> a / b);
      case "Mod" ->
          combined(
              inputs,
              op.whole("fmod", 0) != 0 ? (a, b) -> a % b : (a, b) -> a - b * Math.floor(a / b));
      case "Min" -> combined(inputs, Math::min);
      case "Max" -> combined(inputs, Math::max);
      case "Equal" -> combined(inputs, (a, b) -> a == b ? 1 : 0);
      case "Less" -> combined(inputs, (a, b) -> a < b ? 1 : 0);
      case "LessOrEqual" -> combined(inputs, (a, b) -> a <= b ? 1 : 0);
      case "Greater" -> combined(inputs, (a, b) -> a > b ? 1 : 0);
      case "GreaterOrEqual" -> combined(inputs, (a, b) -> a >= b ? 1 : 0);
      case "And" -> combined(inputs, (a, b) -> a != 0 && b != 0 ? 1 : 0);
      case "Or" -> combined(inputs, (a, b) -> a != 0 || b != 0 ? 1 : 0);
      case "Where" -> where(inputs);
      case "Concat" -> inputs.stream().flatMapToDouble(Arrays::stream).toArray();
      case "Gather" -> gather(first, op.content(1), output);
      case "Slice" -> slice(op, first);
      case "Split" -> split(op, first, output, index);
      case "Expand", "Tile" ->
          first.length == 0 ? null : repeated(first, (int) Value.elements(output.dims()));
      case "ReduceProd" -> reduced(first, output, (a, b) -> a * b);
      case "ReduceSum" -> reduced(first, output, Double::sum);
      case "ReduceMax" -> reduced(first, output, Math::max);
      case "ReduceMin" -> reduced(first, output, Math::min);
      case "Range" -> range(inputs, output);
      default -> null;
    };
  }

  private static double[] doubles(long... numbers) {
    return Arrays.stream(numbers).asDoubleStream().toArray();
  }

  private static double truncate(double number) {
    return number < 0 ? Math.ceil(number) : Math.floor(number);
  }

  /** A value of one element, in every place. */
  private static double[] filled(Operator op, Value output) {
    double[] value = {0};
    if (op.has("value") && op.attribute("value").constant() != null) {
      value = op.attribute("value").constant().value().content();
    }
    return value == null || value.length != 1
        ? null
        : repeated(value, (int) Value.elements(output.dims()));
  }

  private static double[] each(double[] numbers, DoubleUnaryOperator operation) {
    return Arrays.stream(numbers).map(operation).toArray();
  }

  private static double[] repeated(double[] numbers, int count) {
    return IntStream.range(0, count).mapToDouble(i -> numbers[i % numbers.length]).toArray();
  }

  /** Scalars and lists of one element go with lists of any length. */
  private static double[] combined(List<double[]> inputs, DoubleBinaryOperator operation) {
    double[] all = inputs.get(0);
    for (double[] next : inputs.subList(1, inputs.size())) {
      double[] before = all;
      if (next == null || before.length == 0 || next.length == 0) {
        return null;
      }
      all =
          IntStream.range(0, before.length == 1 ? next.length : before.length)
              .mapToDouble(
                  i -> operation.applyAsDouble(before[i % before.length], next[i % next.length]))
              .toArray();
    }
    return all;
  }

  private static double[] where(List<double[]> inputs) {
    int count = inputs.stream().mapToInt(input -> input.length).max().orElse(0);
    if (inputs.size() != 3 || inputs.stream().anyMatch(input -> input.length == 0)) {
      return null;
    }
    return IntStream.range(0, count)
        .mapToDouble(
            i -> {
              double[] chosen = inputs.get(inputs.get(0)[i % inputs.get(0).length] != 0 ? 1 : 2);
              return chosen[i % chosen.length];
            })
        .toArray();
  }

  private static double[] gather(double[] from, long[] indices, Value output) {
    if (Value.elements(output.dims()) != indices.length) {
      return null;
    }
    return Arrays.stream(indices).mapToDouble(i -> from[Operator.axis(i, from.length)]).toArray();
  }

  private static double[] slice(Operator op, double[] from) {
    List<ShapeRules.Cut> cuts = ShapeRules.cuts(op);
    double[] numbers = from;
    for (ShapeRules.Cut cut : cuts) {
      double[] before = numbers;
      numbers =
          IntStream.range(0, (int) cut.count())
              .mapToDouble(i -> before[(int) (cut.from() + i * cut.step())])
              .toArray();
    }
    return cuts.size() > 1 ? null : numbers;
  }

  private static double[] split(Operator op, double[] from, Value output, int index) {
    long[] parts = op.list("split", 1);
    long size = Value.elements(output.dims());
    long start = 0;
    for (int i = 0; i < index; i++) {
      start += parts == null ? (from.length + op.outputCount() - 1) / op.outputCount() : parts[i];
    }
    return start < 0 || start + size > from.length
        ? null
        : Arrays.copyOfRange(from, (int) start, (int) (start + size));
  }

  private static double[] reduced(double[] numbers, Value output, DoubleBinaryOperator operation) {
    // An axis of a list can only be that of all its elements; without one nothing is reduced.
    return Value.elements(output.dims()) == 1 && numbers.length > 0
        ? new double[] {DoubleStream.of(numbers).reduce(operation).orElseThrow()}
        : null;
  }

  private static double[] range(List<double[]> inputs, Value output) {
    double start = inputs.get(0)[0];
    double step = inputs.get(2)[0];
    return IntStream.range(0, (int) Value.elements(output.dims()))
        .mapToDouble(i -> start + i * step)
        .toArray();
  }
}
