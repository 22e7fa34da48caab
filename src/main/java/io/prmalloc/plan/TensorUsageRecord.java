package io.prmalloc.plan;

import java.util.Objects;

/**
 * How large one tensor is and which tasks use it: it is alive from {@code firstTask} to {@code
 * lastTask}, both included.
 *
 * <p>A task is one operator in execution order, or any other tick of a logical clock. A tensor of
 * size 0 is a tensor all the same: it gets an object or an offset.
 *
 * <p>Threading: immutable.
 *
 * @param sizeBytes its size in bytes, from 0
 * @param firstTask the task that makes it, from 0
 * @param lastTask the last task that uses it, at least {@code firstTask} and less than 2^63 − 1
 * @param constraints where it may lie, and when its bytes are not in use
 */
public record TensorUsageRecord(
    long sizeBytes, long firstTask, long lastTask, TensorConstraints constraints) {

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a number is out of its bounds, a gap is not within the
   *     life, what stays in use in it is not within the size, or the tensor's end at its fixed
   *     offset passes 2^63 − 1
   */
  public TensorUsageRecord {
    if (sizeBytes < 0) {
      throw new IllegalArgumentException("size " + sizeBytes + " is negative; the least is 0");
    }
    checkTasks(firstTask, lastTask);
    Objects.requireNonNull(constraints, "constraints");
    for (TensorConstraints.Gap gap : constraints.gaps()) {
      if (gap.firstTask() < firstTask || gap.lastTask() > lastTask) {
        throw new IllegalArgumentException(
            "the gap from task "
                + gap.firstTask()
                + " to "
                + gap.lastTask()
                + " is not within the life from "
                + firstTask
                + " to "
                + lastTask);
      }
      if (gap.toByte() > sizeBytes) {
        throw new IllegalArgumentException(
            "bytes ["
                + gap.fromByte()
                + ", "
                + gap.toByte()
                + ") of a gap are not within the size "
                + sizeBytes);
      }
    }
    if (constraints.offset().orElse(0) > Long.MAX_VALUE - sizeBytes) {
      throw new IllegalArgumentException(
          "offset "
              + constraints.offset().getAsLong()
              + " with "
              + sizeBytes
              + " bytes behind it passes 2^63 - 1");
    }
  }

  /**
   * A tensor that may lie anywhere and is in use for its whole life.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a number is out of its bounds
   */
  public TensorUsageRecord(long sizeBytes, long firstTask, long lastTask) {
    this(sizeBytes, firstTask, lastTask, TensorConstraints.NONE);
  }

  static void checkTasks(long firstTask, long lastTask) {
    if (firstTask < 0) {
      throw new IllegalArgumentException(
          "first task " + firstTask + " is negative; the least is 0");
    }
    if (lastTask < firstTask) {
      throw new IllegalArgumentException("first task " + firstTask + " is after last " + lastTask);
    }
    if (lastTask == Long.MAX_VALUE) {
      throw new IllegalArgumentException("last task " + lastTask + " is not less than 2^63 - 1");
    }
  }

  /** The same with other constraints. Threading: any thread. */
  public TensorUsageRecord with(TensorConstraints others) {
    return new TensorUsageRecord(sizeBytes, firstTask, lastTask, others);
  }

  /**
   * Whether both are alive in some task, and so cannot share memory, gaps apart.
   *
   * <p>Threading: any thread.
   */
  public boolean overlaps(TensorUsageRecord other) {
    return firstTask <= other.lastTask && other.firstTask <= lastTask;
  }
}
