package io.prmalloc.jmh.rival;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.trace.Trace;
import java.util.SplittableRandom;

/**
 * What a thread does in one step: the events of a trace.
 *
 * <p>Threading: immutable, but for a {@link #copy}, which is one thread's.
 */
public final class Step {

  /** What is touched of each tensor; smaller ones are made so large. */
  static final int TOUCHED_BYTES = Long.BYTES;

  private static final int MOST_ALIVE = 64;
  private static final int LEAST_BUFFER_BYTES = 1 << 10;
  private static final int BUFFER_DOUBLINGS = 10;
  private static final long SEED = 20_26;

  private final int[] events;
  private final long[] sizesBytes;

  private Step(int[] events, long[] sizesBytes) {
    this.events = events;
    this.sizesBytes = sizesBytes;
  }

  public static Step of(Trace trace) {
    long[] sizesBytes = trace.sizesBytes();
    for (int tensor = 0; tensor < sizesBytes.length; tensor++) {
      sizesBytes[tensor] = Math.max(TOUCHED_BYTES, sizesBytes[tensor]);
    }
    return new Step(trace.events(), sizesBytes);
  }

  /** One tensor after the other that comes and goes. */
  public static Step ofPairs(long... sizesBytes) {
    Trace.Builder pairs = Trace.builder("pairs");
    for (long bytes : sizesBytes) {
      pairs.allocate("it", bytes).release("it");
    }
    return of(pairs.build());
  }

  /** So many tensors of one size that all come before the first goes. */
  public static Step ofBurst(int tensors, long bytes) {
    Trace.Builder burst = Trace.builder("burst");
    for (int tensor = 0; tensor < tensors; tensor++) {
      burst.allocate("tensor " + tensor, bytes);
    }
    return of(burst.build());
  }

  /**
   * Buffers as a network server has them: of 1 KiB to 1 MiB, each doubling equally often, at most
   * 64 alive, and any of those goes when another comes.
   *
   * @param buffers how many
   */
  public static Step ofBuffers(int buffers) {
    SplittableRandom random = new SplittableRandom(SEED);
    Trace.Builder trace = Trace.builder("buffers");
    int[] alive = new int[MOST_ALIVE];
    for (int buffer = 0; buffer < buffers; buffer++) {
      int slot = buffer < MOST_ALIVE ? buffer : random.nextInt(MOST_ALIVE);
      if (buffer >= MOST_ALIVE) {
        trace.release("buffer " + alive[slot]);
      }
      alive[slot] = buffer;
      double doublings = random.nextDouble() * BUFFER_DOUBLINGS;
      trace.allocate("buffer " + buffer, (long) (LEAST_BUFFER_BYTES * Math.pow(2, doublings)));
    }
    for (int slot = 0; slot < Math.min(buffers, MOST_ALIVE); slot++) {
      trace.release("buffer " + alive[slot]);
    }
    return of(trace.build());
  }

  /** A copy for one thread, of the sizes that {@link #scale} last gave it. */
  public Step copy() {
    return new Step(events, sizesBytes.clone());
  }

  /**
   * Gives a copy the sizes of its original times a factor.
   *
   * @param original what this is a copy of
   * @param factor from 0 to 1
   */
  public void scale(Step original, double factor) {
    for (int tensor = 0; tensor < sizesBytes.length; tensor++) {
      sizesBytes[tensor] = Math.max(TOUCHED_BYTES, (long) (original.sizesBytes[tensor] * factor));
    }
  }

  public int tensors() {
    return sizesBytes.length;
  }

  /** Something to do with a tensor. Threading: one thread. */
  @FunctionalInterface
  public interface Event {
    public void of(int tensor, long bytes);
  }

  /** Tells of the events in their order. */
  public void forEach(Event allocated, Event released) {
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
  public long run(Strategy strategy, Lane lane, long value) {
    try (ScopedMemoryCollector scope = strategy.openStep()) {
      return replay(lane, scope, value);
    }
  }

  /** Runs the events alone, in a scope that is open; null for none. */
  public long replay(Lane lane, ScopedMemoryCollector scope, long value) {
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
