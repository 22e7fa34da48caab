package io.prmalloc;

import io.prmalloc.internal.block.Requests;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * How one request is to be handled: what to do if the memory is not available at once, and whether
 * to log it.
 *
 * <p>Start from {@link #DEFAULT}, which is one attempt and no log, as for requests without
 * attributes:
 *
 * <pre>{@code
 * AllocationAttributes.DEFAULT.withTimeout(Duration.ofMillis(50)).logged("conv1/out", step)
 * }</pre>
 *
 * <p>Modelled on TensorFlow's {@code AllocationAttributes} and {@code AllocatorRetry}.
 *
 * <p>Threading: immutable.
 *
 * @param noRetryOnFailure one attempt, whatever the deadline and the retry function say: for
 *     scratch memory without which the caller can do
 * @param allocationWillBeLogged whether the allocation and its release are written to the log
 * @param label what the memory is for, in the log; empty for none
 * @param stepId number of the step it belongs to, in the log
 * @param deadlineNanos until when to wait for memory that others give back, as {@link
 *     System#nanoTime} counts; empty for not at all. One that has passed means one attempt
 * @param retry asked after every failed attempt, or null
 */
public record AllocationAttributes(
    boolean noRetryOnFailure,
    boolean allocationWillBeLogged,
    String label,
    long stepId,
    OptionalLong deadlineNanos,
    RetryFunction retry) {

  // After a failed attempt, in this order:
  //
  //   noRetryOnFailure, or the deadline has passed   give up
  //   the retry function says true                   try again at once
  //   there is a deadline                            wait a little, try again; at the deadline for
  //                                                  the last time
  //   else                                           give up

  /** Says whether an attempt that failed is worth another. */
  @FunctionalInterface
  public interface RetryFunction {
    /**
     * May make room first, by dropping a cache, say. What it throws goes to the caller.
     *
     * <p>Threading: the thread that asked for the memory; no lock of the allocator is held.
     *
     * @param failedAttempts how many attempts have failed so far, from 1
     * @param bytes the bytes asked for
     * @return true to try again at once; false to wait for the deadline, or give up if there is
     *     none
     */
    boolean tryAgain(int failedAttempts, long bytes);
  }

  /** One attempt, no log. */
  public static final AllocationAttributes DEFAULT =
      new AllocationAttributes(false, false, "", 0, OptionalLong.empty(), null);

  /**
   * Threading: any thread.
   *
   * @throws NullPointerException if {@code label} or {@code deadlineNanos} is null
   */
  public AllocationAttributes {
    Objects.requireNonNull(label, "label");
    Objects.requireNonNull(deadlineNanos, "deadlineNanos");
  }

  /** The same with one attempt only. Threading: any thread. */
  public AllocationAttributes withoutRetry() {
    return new AllocationAttributes(
        true, allocationWillBeLogged, label, stepId, deadlineNanos, retry);
  }

  /**
   * The same, logged.
   *
   * <p>Threading: any thread.
   *
   * @param newLabel what the memory is for
   * @param newStepId number of the step it belongs to
   * @throws NullPointerException if {@code newLabel} is null
   */
  public AllocationAttributes logged(String newLabel, long newStepId) {
    return new AllocationAttributes(
        noRetryOnFailure, true, newLabel, newStepId, deadlineNanos, retry);
  }

  /**
   * The same, waiting for memory until a moment.
   *
   * <p>Threading: any thread.
   *
   * @param nanoTime on the clock of {@link System#nanoTime}
   */
  public AllocationAttributes withDeadlineNanos(long nanoTime) {
    return new AllocationAttributes(
        noRetryOnFailure, allocationWillBeLogged, label, stepId, OptionalLong.of(nanoTime), retry);
  }

  /**
   * The same, waiting for memory for a time that begins now, and not with the request.
   *
   * <p>Threading: any thread.
   *
   * @param timeout how long; zero or less means one attempt, and more than a hundred years are
   *     taken for a hundred
   */
  public AllocationAttributes withTimeout(Duration timeout) {
    Duration wait = timeout.isNegative() ? Duration.ZERO : Requests.notNegative("timeout", timeout);
    return withDeadlineNanos(System.nanoTime() + wait.toNanos());
  }

  /** The same, with a function asked after every failed attempt, or null. Threading: any thread. */
  public AllocationAttributes withRetry(RetryFunction function) {
    return new AllocationAttributes(
        noRetryOnFailure, allocationWillBeLogged, label, stepId, deadlineNanos, function);
  }
}
