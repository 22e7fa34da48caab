package io.prmalloc.internal.planner;

import java.util.Map;
import java.util.TreeMap;

/**
 * The tensors of one object, whose lives are disjoint.
 *
 * <p>Threading: not safe.
 */
final class Schedule {

  private final TreeMap<Long, Long> lastByFirst = new TreeMap<>();

  /** Whether no tensor is alive between two tasks, or ticks, both included. O(log n). */
  boolean isFree(long firstTask, long lastTask) {
    // Lives are disjoint, so the one that begins last before our end is the one that ends last.
    Map.Entry<Long, Long> before = lastByFirst.floorEntry(lastTask);
    return before == null || before.getValue() < firstTask;
  }

  /** Adds a life that is free. O(log n). */
  void add(long firstTask, long lastTask) {
    lastByFirst.put(firstTask, lastTask);
  }
}
