package io.prmalloc.cli;

import io.prmalloc.Isolation;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads {@link Isolation} from a command line.
 *
 * <p>Threading: stateless.
 */
final class IsolationWords implements ITypeConverter<Isolation> {

  @Override
  public Isolation convert(String words) {
    try {
      return Isolation.parse(words);
    } catch (IllegalArgumentException refused) {
      throw new TypeConversionException(refused.getMessage());
    }
  }
}
