package io.prmalloc.pool;

import io.prmalloc.internal.block.Requests;
import java.time.Duration;
import java.util.Locale;

/**
 * The settings of leak detection: which allocations are watched, and when one counts as leaked.
 * Start from {@link #OFF}, {@link #SIMPLE} or {@link #PARANOID}.
 *
 * <p>A handle of the pool is no object that the collector could find unreachable, and a raw address
 * is none at all. So a leak is memory that is allocated for too long: until so many steps have
 * ended after the one in which it was allocated, until a certain age, or until the pool is to be
 * closed. Memory that is meant to live long is allocated outside of steps, and then only its age
 * counts, if at all.
 *
 * <p>Threading: immutable.
 *
 * @param interval of so many allocations of a thread, one is watched; 0 for none, 1 for all
 * @param steps so many steps must have ended after an allocation's own step has, from 1
 * @param age how long an allocation may live, in a step or not, from 0; null for any time, and more
 *     than a hundred years are taken for a hundred
 */
public record LeakDetection(int interval, int steps, Duration age) {

  /** The default number of steps that end until memory left by an ended step counts as leaked. */
  public static final int DEFAULT_STEPS = 1000;

  /** By default one of so many allocations is watched. */
  public static final int DEFAULT_INTERVAL = 128;

  /** Nothing is watched, and nothing is paid. */
  public static final LeakDetection OFF = new LeakDetection(0, DEFAULT_STEPS, null);

  /** One allocation of 128. */
  public static final LeakDetection SIMPLE =
      new LeakDetection(DEFAULT_INTERVAL, DEFAULT_STEPS, null);

  /** All allocations, each with its stack: some microseconds each. */
  public static final LeakDetection PARANOID = new LeakDetection(1, DEFAULT_STEPS, null);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException if a value is out of its bounds
   */
  public LeakDetection {
    if (interval < 0) {
      throw new IllegalArgumentException("interval " + interval + " is negative; the least is 0");
    }
    if (steps < 1) {
      throw new IllegalArgumentException("steps " + steps + " is less than 1");
    }
    if (age != null) {
      age = Requests.notNegative("age", age);
    }
  }

  /** The same with another {@link #interval}. Threading: any thread. */
  public LeakDetection withInterval(int value) {
    return new LeakDetection(value, steps, age);
  }

  /** The same with other {@link #steps}. Threading: any thread. */
  public LeakDetection withSteps(int value) {
    return new LeakDetection(interval, value, age);
  }

  /** The same with another {@link #age}. Threading: any thread. */
  public LeakDetection withAge(Duration value) {
    return new LeakDetection(interval, steps, value);
  }

  /**
   * The value of the system property {@code prmalloc.leakDetection}; {@link #OFF} if it is not set.
   */
  static LeakDetection fromProperty() {
    String value = System.getProperty("prmalloc.leakDetection", "off");
    return switch (value.strip().toLowerCase(Locale.ROOT)) {
      case "off" -> OFF;
      case "simple" -> SIMPLE;
      case "paranoid" -> PARANOID;
      default ->
          throw new IllegalArgumentException(
              "system property prmalloc.leakDetection is '"
                  + value
                  + "', not off, simple or paranoid");
    };
  }
}
