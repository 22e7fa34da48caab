package io.prmalloc.cli;

import io.prmalloc.trace.replay.ReplayAllocator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads a {@link ReplayAllocator} from a command line.
 *
 * <p>Threading: stateless.
 */
final class AllocatorName implements ITypeConverter<ReplayAllocator> {

  @Override
  public ReplayAllocator convert(String word) {
    try {
      return ReplayAllocator.ofLabel(word);
    } catch (IllegalArgumentException refused) {
      throw new TypeConversionException(refused.getMessage());
    }
  }
}
