package io.prmalloc.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * The option that sets shapes which a model leaves open: {@code --shape NAME=1x16000}.
 *
 * <p>Threading: one thread.
 */
final class ShapeArguments {

  /**
   * A name and a shape.
   *
   * <p>Threading: immutable.
   *
   * @param name what the shape is of; may hold {@code =}
   * @param dimensions at least one, each from 1 to 2^31 − 1
   */
  record NamedShape(String name, List<Integer> dimensions) {

    NamedShape {
      dimensions = List.copyOf(dimensions);
    }
  }

  /** Reads what a user typed. Threading: any thread. */
  static final class Converter implements ITypeConverter<NamedShape> {

    private static final Pattern SHAPE = Pattern.compile("(.+)=([0-9]+(?:x[0-9]+)*)");

    Converter() {}

    @Override
    public NamedShape convert(String value) {
      Matcher shape = SHAPE.matcher(value);
      if (!shape.matches()) {
        throw new TypeConversionException("`" + value + "` is not a name and a shape like x=1x3");
      }
      List<Integer> dimensions = new ArrayList<>();
      for (String digits : shape.group(2).split("x", -1)) {
        dimensions.add(dimension(digits, value));
      }
      return new NamedShape(shape.group(1), dimensions);
    }

    private static int dimension(String digits, String value) {
      try {
        int dimension = Integer.parseInt(digits);
        if (dimension > 0) {
          return dimension;
        }
      } catch (NumberFormatException tooLarge) {
        // Told below.
      }
      throw new TypeConversionException(
          "`" + value + "`: dimension " + digits + " is not from 1 to " + Integer.MAX_VALUE);
    }
  }

  @Option(
      names = "--shape",
      paramLabel = "NAME=AxB",
      converter = Converter.class,
      description =
          "The shape of a model's input, carried through the model; may be given several times. NAME"
              + " is the input's name or its number, or in an ONNX model the name of a dimension.")
  private List<NamedShape> shapes = List.of();

  ShapeArguments() {}

  /** What the user typed; empty or with a blank in front. */
  String text() {
    return shapes.stream()
        .map(
            shape ->
                shape.dimensions().stream()
                    .map(String::valueOf)
                    .collect(Collectors.joining("x", " --shape " + shape.name() + "=", "")))
        .collect(Collectors.joining());
  }

  /**
   * The shapes by name, in the order given; empty if there are none.
   *
   * @throws IllegalArgumentException if a name comes twice
   */
  Map<String, List<Integer>> byName() {
    Map<String, List<Integer>> byName = new LinkedHashMap<>();
    for (NamedShape shape : shapes) {
      if (byName.put(shape.name(), shape.dimensions()) != null) {
        throw new IllegalArgumentException("--shape " + shape.name() + " is given twice");
      }
    }
    return byName;
  }
}
