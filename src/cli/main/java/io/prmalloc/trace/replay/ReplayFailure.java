package io.prmalloc.trace.replay;

import java.io.Serial;

/**
 * An allocator did not do what it should: it refused memory, or a tensor does not hold what was
 * written to it. The message is complete by itself.
 *
 * <p>Threading: immutable.
 */
public final class ReplayFailure extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  public ReplayFailure(String message) {
    super(message);
  }

  public ReplayFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
