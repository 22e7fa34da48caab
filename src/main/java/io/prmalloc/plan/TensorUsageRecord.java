package io.prmalloc.plan;

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
 */
public record TensorUsageRecord(long sizeBytes, long firstTask, long lastTask) {

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a number is out of its bounds
   */
  public TensorUsageRecord {
    if (sizeBytes < 0) {
      throw new IllegalArgumentException("size " + sizeBytes + " is negative; the least is 0");
    }
    checkTasks(firstTask, lastTask);
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

  /**
   * Whether both are alive in some task, and so cannot share memory.
   *
   * <p>Threading: any thread.
   */
  public boolean overlaps(TensorUsageRecord other) {
    return firstTask <= other.lastTask && other.firstTask <= lastTask;
  }
}
