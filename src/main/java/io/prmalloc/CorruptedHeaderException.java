package io.prmalloc;

import java.io.Serial;

/**
 * Thrown when the header in front of a raw address was overwritten: by a write before the start of
 * the allocation, past the end of a neighbour, or after the address was given back. The message
 * names the field and its value; the block is not used again.
 */
public final class CorruptedHeaderException extends IllegalStateException {

  @Serial private static final long serialVersionUID = 1L;

  /** Threading: any thread. */
  public CorruptedHeaderException(String message) {
    super(message);
  }
}
