package io.prmalloc;

import java.io.Serial;

/**
 * Thrown when the header in front of a raw address does not hold what was written there: somebody
 * wrote before the start, or past the end of a neighbour, or there after giving it back. The
 * message says which field holds what; the block stays out of circulation.
 */
public final class CorruptedHeaderException extends IllegalStateException {

  @Serial private static final long serialVersionUID = 1L;

  /** Threading: any thread. */
  public CorruptedHeaderException(String message) {
    super(message);
  }
}
