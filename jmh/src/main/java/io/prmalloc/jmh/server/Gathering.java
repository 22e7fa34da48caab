package io.prmalloc.jmh.server;

/**
 * How a server gathers the body of a request.
 *
 * <p>Threading: immutable.
 */
public enum Gathering {
  /** What was read stays where it is: a composite of all reads, by {@code HttpObjectAggregator}. */
  COMPOSITE,
  /** Each read is copied into one buffer of the body's size, allocated with the head. */
  SIZED,
  /** Each read is copied into one buffer that begins with the size of a read, and grows. */
  GROWN
}
