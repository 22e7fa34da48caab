package io.prmalloc.plan;

import java.util.Objects;

/**
 * A {@link TensorUsageRecord} whose size is a shape.
 *
 * <p>Threading: immutable.
 *
 * @param shape its size
 * @param firstTask the task that makes it, from 0
 * @param lastTask the last task that uses it, at least {@code firstTask} and less than 2^63 − 1
 */
public record ShapedUsageRecord(TensorShape shape, long firstTask, long lastTask) {

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a task is out of its bounds
   */
  public ShapedUsageRecord {
    Objects.requireNonNull(shape, "shape");
    TensorUsageRecord.checkTasks(firstTask, lastTask);
  }

  /** The same life with the number of elements as its size. Threading: any thread. */
  public TensorUsageRecord flat() {
    return new TensorUsageRecord(shape.elementCount(), firstTask, lastTask);
  }
}
