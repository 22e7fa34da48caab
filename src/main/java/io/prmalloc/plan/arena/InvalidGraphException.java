package io.prmalloc.plan.arena;

import java.io.Serial;

/**
 * Thrown where lists do not form a graph: an index that no tensor has, a tensor produced twice, one
 * that is read and never produced. The message starts with the place.
 *
 * <p>Threading: immutable.
 */
public final class InvalidGraphException extends IllegalArgumentException {

  @Serial private static final long serialVersionUID = 1L;

  private final String place;
  private final String what;

  InvalidGraphException(String place, String what) {
    super(place + ": " + what);
    this.place = place;
    this.what = what;
  }

  /**
   * Where it is wrong, as one would write it in a program: {@code nodes[3].inputs[1]}, {@code
   * tensors[2].bytes}.
   *
   * <p>Threading: any thread.
   */
  public String place() {
    return place;
  }

  /** What is wrong there: the message without the place. Threading: any thread. */
  public String what() {
    return what;
  }
}
