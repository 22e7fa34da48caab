package io.prmalloc.pool;

import java.time.Duration;
import java.util.List;

/**
 * An allocation that was not given back for too long.
 *
 * <p>Threading: immutable.
 *
 * @param sizeBytes how much was asked for
 * @param alignment what was asked for
 * @param thread the name of the thread that took it
 * @param step number of the step it was taken in, counted since detection began; −1 if in none
 * @param age how long it had been allocated
 * @param reason why it is taken for leaked
 * @param stack where it was taken, the caller of the pool first
 */
public record Leak(
    long sizeBytes,
    long alignment,
    String thread,
    long step,
    Duration age,
    Reason reason,
    List<StackTraceElement> stack) {

  /** Why memory is taken for leaked. */
  public enum Reason {
    /** Its step has ended, and so many others since. */
    STEP_ENDED,
    /** It is too old. */
    OLD,
    /** The pool was to be closed. */
    POOL_CLOSED
  }

  /** Copies the stack. */
  public Leak {
    stack = List.copyOf(stack);
  }

  /** The allocation and its stack, as people read it: several lines. Threading: any thread. */
  public String describe() {
    StringBuilder text = new StringBuilder(256);
    text.append(sizeBytes).append(" bytes, alignment ").append(alignment);
    text.append(", taken by thread ").append(thread).append(' ').append(age.toMillis());
    text.append(" ms ago").append(step < 0 ? "" : " in step " + step);
    text.append(", are leaked: ").append(describe(reason)).append("; taken at");
    for (StackTraceElement place : stack) {
      text.append(System.lineSeparator()).append("\tat ").append(place);
    }
    return text.toString();
  }

  private static String describe(Reason reason) {
    return switch (reason) {
      case STEP_ENDED -> "the step has ended long ago";
      case OLD -> "too old";
      case POOL_CLOSED -> "the pool is to be closed";
    };
  }
}
