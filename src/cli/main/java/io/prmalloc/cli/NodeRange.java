package io.prmalloc.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Nodes from one to another, both included: {@code 0-3}.
 *
 * <p>Threading: immutable.
 *
 * @param first from 0
 * @param last from 0; whether it is one behind {@code first} is not looked at
 */
record NodeRange(int first, int last) {

  /** Reads what a user typed. Threading: any thread. */
  static final class Converter implements ITypeConverter<NodeRange> {

    private static final Pattern RANGE = Pattern.compile("([0-9]{1,9})-([0-9]{1,9})");

    Converter() {}

    @Override
    public NodeRange convert(String value) {
      Matcher range = RANGE.matcher(value);
      if (!range.matches()) {
        throw new TypeConversionException("`" + value + "` is not two nodes like 0-3");
      }
      return new NodeRange(Integer.parseInt(range.group(1)), Integer.parseInt(range.group(2)));
    }
  }
}
