package io.prmalloc.tensor.wire;

import java.io.Serial;

/**
 * A message is no tensor, or one that is refused. The message of this exception names the field,
 * its value and the bound.
 *
 * <p>Threading: immutable.
 */
public final class TensorFormatException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  TensorFormatException(String message) {
    super(message);
  }

  TensorFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
