package io.prmalloc.plan;

import io.prmalloc.internal.planner.index.Sums;
import java.util.Arrays;
import java.util.List;

/**
 * A plan by which tensors share whole objects: an object for every tensor, a size for every object.
 *
 * <p>This type holds a planner's answer; {@link PlanValidator} checks whether it is valid for given
 * records.
 *
 * <p>Threading: immutable.
 */
public final class ObjectsAssignment {

  private final int[] objectIds;
  private final long[] objectSizesBytes;
  private final long totalBytes;

  private ObjectsAssignment(int[] objectIds, long[] objectSizesBytes, long totalBytes) {
    this.objectIds = objectIds;
    this.objectSizesBytes = objectSizesBytes;
    this.totalBytes = totalBytes;
  }

  /**
   * Threading: any thread.
   *
   * @param objectIds the object of every tensor, from 0; copied
   * @param objectSizesBytes the size of every object in bytes, from 0; copied
   * @throws IllegalArgumentException if an id names no object, a size is negative, or the sizes
   *     together pass 2^63 − 1
   */
  public static ObjectsAssignment of(int[] objectIds, long[] objectSizesBytes) {
    checkIds(objectIds, objectSizesBytes.length);
    return new ObjectsAssignment(
        objectIds.clone(), objectSizesBytes.clone(), Sums.total("object", objectSizesBytes));
  }

  static void checkIds(int[] objectIds, int objectCount) {
    for (int tensor = 0; tensor < objectIds.length; tensor++) {
      if (objectIds[tensor] < 0 || objectIds[tensor] >= objectCount) {
        throw new IllegalArgumentException(
            "tensor "
                + tensor
                + " is in object "
                + objectIds[tensor]
                + ", but there are "
                + objectCount);
      }
    }
  }

  /** How many tensors have an object. Threading: any thread. */
  public int tensorCount() {
    return objectIds.length;
  }

  /** How many objects there are. Threading: any thread. */
  public int objectCount() {
    return objectSizesBytes.length;
  }

  /**
   * The object of a tensor.
   *
   * <p>Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   */
  public int objectId(int tensor) {
    return objectIds[tensor];
  }

  /**
   * Size of an object in bytes.
   *
   * <p>Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such object
   */
  public long objectSizeBytes(int object) {
    return objectSizesBytes[object];
  }

  /** The objects of all tensors, a new array. Threading: any thread. */
  public int[] objectIds() {
    return objectIds.clone();
  }

  /** The sizes of all objects in bytes, a new array. Threading: any thread. */
  public long[] objectSizesBytes() {
    return objectSizesBytes.clone();
  }

  /** The sizes of all objects together. Threading: any thread. */
  public long totalBytes() {
    return totalBytes;
  }

  /**
   * Lays the objects end to end, in the order of their ids: each tensor lies at the start of its
   * object.
   *
   * <p>Threading: any thread.
   *
   * @param records the records this was made for
   * @param alignment what every object's offset is a multiple of, a power of two from 1 to 2^30
   * @throws IllegalArgumentException if there are more or fewer records than tensors, the alignment
   *     is out of its bounds, or the total passes 2^63 − 1
   */
  public OffsetsAssignment toOffsets(List<TensorUsageRecord> records, long alignment) {
    long[] starts = new long[objectSizesBytes.length];
    long end = 0;
    for (int object = 0; object < starts.length; object++) {
      starts[object] = Sums.align(end, alignment);
      end = Sums.add(starts[object], objectSizesBytes[object]);
    }
    long[] offsets = new long[objectIds.length];
    for (int tensor = 0; tensor < offsets.length; tensor++) {
      offsets[tensor] = starts[objectIds[tensor]];
    }
    return OffsetsAssignment.of(records, offsets, alignment, end);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ObjectsAssignment that
        && Arrays.equals(objectIds, that.objectIds)
        && Arrays.equals(objectSizesBytes, that.objectSizesBytes);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(objectIds) + Arrays.hashCode(objectSizesBytes);
  }

  @Override
  public String toString() {
    return "ObjectsAssignment["
        + tensorCount()
        + " tensors, "
        + objectCount()
        + " objects, "
        + totalBytes
        + " bytes]";
  }
}
