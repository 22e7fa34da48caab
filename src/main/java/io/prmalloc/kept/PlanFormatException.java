package io.prmalloc.kept;

import java.nio.file.Path;

/**
 * Thrown where a file does not hold a plan, or not one that may be used.
 *
 * <p>Threading: as any exception.
 */
public final class PlanFormatException extends RuntimeException {

  private static final long serialVersionUID = 1;

  PlanFormatException(String message) {
    super(message);
  }

  PlanFormatException(Path file, PlanFormatException cause) {
    super(file + ": " + cause.getMessage(), cause);
  }
}
