package io.prmalloc.jmh;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.trace.Trace;

/**
 * What a thread does in one step: the events of a trace.
 *
 * <p>Threading: immutable.
 */
final class Step {

  /** What is touched of each tensor; smaller ones are made so large. */
  static final int TOUCHED_BYTES = Long.BYTES;

  private final int[] events;
  private final long[] sizesBytes;

  private Step(int[] events, long[] sizesBytes) {
    this.events = events;
    this.sizesBytes = sizesBytes;
  }

  static Step of(Trace trace) {
    long[] sizesBytes = trace.sizesBytes();
    for (int tensor = 0; tensor < sizesBytes.length; tensor++) {
      sizesBytes[tensor] = Math.max(TOUCHED_BYTES, sizesBytes[tensor]);
    }
    return new Step(trace.events(), sizesBytes);
  }

  /** One tensor after the other that comes and goes. */
  static Step ofPairs(long... sizesBytes) {
    Trace.Builder pairs = Trace.builder("pairs");
    for (long bytes : sizesBytes) {
      pairs.allocate("it", bytes).release("it");
    }
    return of(pairs.build());
  }

  /** So many tensors of one size that all come before the first goes. */
  static Step ofBurst(int tensors, long bytes) {
    Trace.Builder burst = Trace.builder("burst");
    for (int tensor = 0; tensor < tensors; tensor++) {
      burst.allocate("tensor " + tensor, bytes);
    }
    return of(burst.build());
  }

  int tensors() {
    return sizesBytes.length;
  }

  /** Something to do with a tensor. Threading: one thread. */
  @FunctionalInterface
  interface Event {
    void of(int tensor, long bytes);
  }

  /** Tells of the events in their order. */
  void forEach(Event allocated, Event released) {
    for (int event : events) {
      int tensor = event >= 0 ? event : ~event;
      (event >= 0 ? allocated : released).of(tensor, sizesBytes[tensor]);
    }
  }

  /**
   * Runs the step as a server does, in a scope of its own.
   *
   * @param value something else for each step
   * @return the sum of what was read: for each tensor, {@code value} and its number
   */
  long run(Strategy strategy, Lane lane, long value) {
    try (ScopedMemoryCollector scope = strategy.openStep()) {
      return replay(lane, scope, value);
    }
  }

  /** Runs the events alone, in a scope that is open; null for none. */
  long replay(Lane lane, ScopedMemoryCollector scope, long value) {
    lane.begin(scope);
    long sum = 0;
    for (int event : events) {
      if (event >= 0) {
        sum += lane.allocate(event, sizesBytes[event], value + event);
      } else {
        lane.release(~event);
      }
    }
    return sum;
  }
}
