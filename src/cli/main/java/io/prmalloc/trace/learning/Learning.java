package io.prmalloc.trace.learning;

import io.prmalloc.Allocator;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Feeds equal steps of a trace to the three lifetime policies of the reference, on paper: nothing
 * is allocated.
 *
 * <p>The clock is logical: event <i>k</i> of step <i>s</i> is tick <i>s</i> × events + <i>k</i>.
 * Requests the planner never sees (at most {@link LifetimePolicy#SMALL_BYTES}) are left out; to the
 * others the header is added. Lives are handed on in the order of their ends, as a running
 * allocator would, and each policy packs after each step.
 *
 * <p>Threading: immutable; the policies belong to the caller.
 *
 * @param trace the step, always the same
 * @param steps how many steps were fed
 * @param headerBytes added to each size
 * @param policies what the policies have learnt, in their order
 * @param best the policy with the smallest total, the first of equals
 */
public record Learning(
    Trace trace, int steps, int headerBytes, List<LifetimePolicy> policies, LifetimePolicy best) {

  /** The largest header in bytes: 1 GiB, the largest alignment there is. */
  public static final int MAX_HEADER_BYTES = 1 << 30;

  /**
   * Feeds the steps.
   *
   * <p>Threading: any thread.
   *
   * @param trace one step
   * @param steps how many equal steps, from 1
   * @param headerBytes what an allocation needs beside the bytes asked for, from 0 to {@link
   *     #MAX_HEADER_BYTES}
   * @throws IllegalArgumentException if a number is out of its bounds
   */
  public static Learning of(Trace trace, int steps, int headerBytes) {
    return of(trace, steps, headerBytes, step -> {});
  }

  /**
   * The same, watched.
   *
   * <p>Threading: any thread.
   *
   * @param progress is told before each step how many are done
   * @throws IllegalArgumentException if a number is out of its bounds
   */
  public static Learning of(Trace trace, int steps, int headerBytes, IntConsumer progress) {
    if (steps < 1) {
      throw new IllegalArgumentException("steps " + steps + " is out of bounds; the least is 1");
    }
    if (headerBytes < 0 || headerBytes > MAX_HEADER_BYTES) {
      throw new IllegalArgumentException(
          "header " + headerBytes + " is not from 0 to " + MAX_HEADER_BYTES);
    }
    List<LifetimePolicy> policies = new ArrayList<>(LifetimePolicy.referencePolicies());
    long[] beginTicks = new long[trace.tensorCount()];
    for (int step = 0; step < steps; step++) {
      progress.accept(step);
      long firstTick = (long) step * trace.eventCount();
      for (int i = 0; i < trace.eventCount(); i++) {
        int event = trace.event(i);
        if (event >= 0) {
          beginTicks[event] = firstTick + i;
        } else if (trace.sizeBytes(~event) > LifetimePolicy.SMALL_BYTES) {
          AllocStats life =
              new AllocStats(
                  beginTicks[~event],
                  firstTick + i,
                  trace.sizeBytes(~event) + headerBytes,
                  Allocator.DEFAULT_ALIGNMENT);
          policies.forEach(policy -> policy.add(life));
        }
      }
      policies.forEach(LifetimePolicy::bestFit);
    }
    return new Learning(trace, steps, headerBytes, policies, LifetimePolicy.best(policies));
  }
}
