package io.prmalloc.jmh;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.OptionalDouble;

/**
 * Measures how long a cache line takes from one processor to another at this time: no allocator can
 * hand memory to another thread faster.
 *
 * <p>Threading: one thread, which it needs and one more.
 */
final class CacheLine {

  // Two threads write one line in turn, each when it sees what the other wrote: there and back are
  // two journeys. A virtual machine's processors may be moved about by its host, so the number is
  // one of the moment, and neighbours may interrupt some of the rounds; the median is of those that
  // they left alone.

  private static final int ROUND_TRIPS = 1_000;

  /** The first half is for the compiler. */
  private static final int ROUNDS = 100;

  /** Of an array's elements, one that shares no line with its length. */
  private static final int HERE = 32;

  private static final long OVER = -1;

  private static final int MOST_LOOKS = 10_000;

  private static final VarHandle LINE = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] line = new long[3 * HERE];

  private CacheLine() {}

  /** Nanoseconds of one journey; empty where there is one processor only. */
  static OptionalDouble journeyNanos() {
    return Runtime.getRuntime().availableProcessors() < 2
        ? OptionalDouble.empty()
        : OptionalDouble.of(new CacheLine().measure());
  }

  private double measure() {
    Thread other = new Thread(this::answer, "cache-line");
    other.setDaemon(true);
    other.start();
    double[] journeys = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < ROUND_TRIPS; i++) {
        ask();
      }
      journeys[round] = (System.nanoTime() - start) / (2.0 * ROUND_TRIPS);
    }
    LINE.setRelease(line, HERE, OVER);
    Arrays.sort(journeys, ROUNDS / 2, ROUNDS);
    return journeys[ROUNDS * 3 / 4];
  }

  /** Writes an odd number and waits for the next even one. */
  private void ask() {
    long asked = line[HERE] + 1;
    LINE.setRelease(line, HERE, asked);
    awaitOtherThan(asked);
  }

  private void answer() {
    for (long seen = awaitOtherThan(0); seen != OVER; seen = awaitOtherThan(seen + 1)) {
      LINE.setRelease(line, HERE, seen + 1);
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // a hint, on which nothing depends but time
  private long awaitOtherThan(long value) {
    long seen = value;
    for (int looks = 0; seen == value; looks++) {
      // No pause between looks: it would be measured. A wait that long is for a thread without a
      // processor.
      if (looks > MOST_LOOKS) {
        Thread.yield();
      }
      seen = (long) LINE.getAcquire(line, HERE);
    }
    return seen;
  }
}
