package io.prmalloc.example.model;

import io.prmalloc.example.Refusal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The shapes that an input may have: {@code x=1x3x128..640/32x128..640/32}.
 *
 * <p>Threading: immutable.
 *
 * @param input by which the model knows it
 * @param dimensions outermost first, at least one
 */
public record ShapeRange(String input, List<Dimension> dimensions) {

  /**
   * The sizes of one dimension: {@code least}, {@code least + step} and so on.
   *
   * @param least from 1
   * @param most from {@code least}; a size itself
   * @param step from 1
   */
  public record Dimension(long least, long most, long step) {

    /**
     * @throws IllegalArgumentException if a number is out of its bounds
     */
    public Dimension {
      if (least < 1) {
        throw new IllegalArgumentException("size " + least + " is under 1");
      }
      if (most < least) {
        throw new IllegalArgumentException("largest size " + most + " is under " + least);
      }
      if (step < 1) {
        throw new IllegalArgumentException("step " + step + " is under 1");
      }
      if ((most - least) % step != 0) {
        throw new IllegalArgumentException(
            "largest size " + most + " is not " + least + " and a multiple of step " + step);
      }
    }

    boolean isFixed() {
      return least == most;
    }

    /** Why a size is none of these, or null. */
    private String unfit(long size) {
      if (size < least) {
        return "under " + least;
      }
      if (size > most) {
        return "over " + most;
      }
      return (size - least) % step == 0 ? null : "not " + least + " and a multiple of " + step;
    }

    @Override
    public String toString() {
      return isFixed() ? Long.toString(least) : least + ".." + most + "/" + step;
    }
  }

  private static final Pattern SIZES =
      Pattern.compile("(\\d{1,9})(?:\\.\\.(\\d{1,9})(?:/(\\d{1,9}))?)?");

  /** Copies the list. */
  public ShapeRange {
    dimensions = List.copyOf(dimensions);
  }

  /** For the command line. */
  static final class Converter implements ITypeConverter<ShapeRange> {
    @Override
    public ShapeRange convert(String text) {
      try {
        return parse(text);
      } catch (IllegalArgumentException wrong) {
        throw new TypeConversionException(wrong.getMessage());
      }
    }
  }

  /**
   * Reads what {@link #toString} writes; a step of 1 may be left out.
   *
   * @throws IllegalArgumentException if it is none; the message says which dimension is wrong
   */
  public static ShapeRange parse(String text) {
    // Names of inputs have all kinds of characters, sizes have not.
    int equals = text.lastIndexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException("`" + text + "` is not INPUT=SIZExSIZE..LARGEST/STEP");
    }
    String input = text.substring(0, equals);
    List<Dimension> dimensions = new ArrayList<>();
    for (String sizes : text.substring(equals + 1).split("x", -1)) {
      String what = "input " + input + ": dimension " + dimensions.size() + " `" + sizes + "`";
      Matcher matcher = SIZES.matcher(sizes);
      if (!matcher.matches()) {
        throw new IllegalArgumentException(what + " is not SIZE, SIZE..LARGEST or with /STEP");
      }
      try {
        dimensions.add(dimension(matcher));
      } catch (IllegalArgumentException wrong) {
        throw new IllegalArgumentException(what + ": " + wrong.getMessage(), wrong);
      }
    }
    return new ShapeRange(input, dimensions);
  }

  private static Dimension dimension(Matcher sizes) {
    long least = Long.parseLong(sizes.group(1));
    long most = sizes.group(2) == null ? least : Long.parseLong(sizes.group(2));
    long step = sizes.group(3) == null ? 1 : Long.parseLong(sizes.group(3));
    return new Dimension(least, most, step);
  }

  /**
   * Looks whether a shape is one of these. One with another number of dimensions is left to the
   * model, which says the same.
   *
   * @throws Refusal if it is not; names the dimension, its size and the bound
   */
  public void check(List<Long> shape) throws Refusal {
    for (int i = 0; i < dimensions.size() && shape.size() == dimensions.size(); i++) {
      String unfit = dimensions.get(i).unfit(shape.get(i));
      if (unfit != null) {
        throw Refusal.badRequest(
            "input "
                + input
                + ": shape "
                + shape
                + " has "
                + shape.get(i)
                + " in dimension "
                + i
                + ", which is "
                + unfit);
      }
    }
  }

  /** One of the shapes, all as likely. */
  public long[] random(SplittableRandom random) {
    return dimensions.stream()
        .mapToLong(
            sizes ->
                sizes.least
                    + sizes.step * random.nextLong((sizes.most - sizes.least) / sizes.step + 1))
        .toArray();
  }

  /**
   * Bytes of the largest shape in floats.
   *
   * @throws IllegalArgumentException if they cannot be counted
   */
  public long largestBytes() {
    try {
      return bytes(dimensions.stream().mapToLong(Dimension::most).toArray());
    } catch (ArithmeticException tooLarge) {
      throw new IllegalArgumentException(
          "input " + this + " has more bytes than can be counted", tooLarge);
    }
  }

  /** Bytes of a shape in floats. */
  public static long bytes(long[] shape) {
    return Arrays.stream(shape).reduce(Float.BYTES, Math::multiplyExact);
  }

  @Override
  public String toString() {
    return input
        + "="
        + dimensions.stream().map(Dimension::toString).collect(Collectors.joining("x"));
  }
}
