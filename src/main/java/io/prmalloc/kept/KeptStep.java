package io.prmalloc.kept;

import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The plan of one structure of steps: the same requests in the same order, of any sizes up to
 * those.
 *
 * <p>Threading: immutable.
 */
public final class KeptStep {

  private final Object key;
  private final boolean implicit;
  private final long[] sizesBytes;
  private final int[] ends;
  private final long[] offsets;

  /**
   * Threading: any thread.
   *
   * @param key what the user says of these steps; null, a string, a long or an integer can be kept
   * @param implicit whether it serves what a thread asks of the pool while it has such a step open;
   *     else what is asked of the step itself
   * @param sizesBytes the most bytes of each request, in order, from 1; copied
   * @param ends how many requests had been made when each was released, its own among them; copied
   * @param offsets where each lies in the arena; copied
   * @throws PlanFormatException if these are no plan; the message says why
   */
  public KeptStep(Object key, boolean implicit, long[] sizesBytes, int[] ends, long[] offsets) {
    this.key = key;
    this.implicit = implicit;
    this.sizesBytes = sizesBytes.clone();
    this.ends = ends.clone();
    this.offsets = offsets.clone();
    PlanCheck.check(this);
  }

  /** What the user says of these steps, or null. Threading: any thread. */
  public Object key() {
    return key;
  }

  /**
   * Whether it serves what a thread asks of the pool while it has such a step open. Threading: any
   * thread.
   */
  public boolean isImplicit() {
    return implicit;
  }

  /** Whether the key can be written to a file. Threading: any thread. */
  public boolean canBeKept() {
    return key == null || key instanceof String || key instanceof Long || key instanceof Integer;
  }

  /** How many requests there are. Threading: any thread. */
  public int requests() {
    return sizesBytes.length;
  }

  /** The most bytes of each request, a new array. Threading: any thread. */
  public long[] sizesBytes() {
    return sizesBytes.clone();
  }

  /** How many requests had been made when each was released, a new array. Threading: any thread. */
  public int[] ends() {
    return ends.clone();
  }

  /** Where each request lies, a new array. Threading: any thread. */
  public long[] offsets() {
    return offsets.clone();
  }

  /** The requests as planners see them: a task is a request. Threading: any thread. */
  public List<TensorUsageRecord> records() {
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int request = 0; request < sizesBytes.length; request++) {
      records.add(new TensorUsageRecord(sizesBytes[request], request, ends[request] - 1));
    }
    return records;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeptStep that
        && Objects.equals(key, that.key)
        && implicit == that.implicit
        && Arrays.equals(sizesBytes, that.sizesBytes)
        && Arrays.equals(ends, that.ends)
        && Arrays.equals(offsets, that.offsets);
  }

  @Override
  public int hashCode() {
    return Objects.hash(
        key,
        implicit,
        Arrays.hashCode(sizesBytes),
        Arrays.hashCode(ends),
        Arrays.hashCode(offsets));
  }

  @Override
  public String toString() {
    return "KeptStep[key "
        + key
        + (implicit ? ", implicit, " : ", ")
        + sizesBytes.length
        + " requests]";
  }
}
