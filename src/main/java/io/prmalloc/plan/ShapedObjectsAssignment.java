package io.prmalloc.plan;

import io.prmalloc.internal.planner.index.Sums;
import java.util.Arrays;
import java.util.List;

/**
 * An {@link ObjectsAssignment} whose objects have shapes.
 *
 * <p>Threading: immutable.
 */
public final class ShapedObjectsAssignment {

  private final int[] objectIds;
  private final List<TensorShape> objectShapes;
  private final long totalElements;

  private ShapedObjectsAssignment(
      int[] objectIds, List<TensorShape> objectShapes, long totalElements) {
    this.objectIds = objectIds;
    this.objectShapes = objectShapes;
    this.totalElements = totalElements;
  }

  /**
   * Threading: any thread.
   *
   * @param objectIds the object of every tensor, from 0; copied
   * @param objectShapes the shape of every object; copied
   * @throws IllegalArgumentException if an id names no object, or the objects together have more
   *     than 2^63 − 1 elements
   */
  public static ShapedObjectsAssignment of(int[] objectIds, List<TensorShape> objectShapes) {
    ObjectsAssignment.checkIds(objectIds, objectShapes.size());
    long[] elements = objectShapes.stream().mapToLong(TensorShape::elementCount).toArray();
    return new ShapedObjectsAssignment(
        objectIds.clone(), List.copyOf(objectShapes), Sums.total("object", elements));
  }

  /** How many tensors have an object. Threading: any thread. */
  public int tensorCount() {
    return objectIds.length;
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

  /** The objects of all tensors, a new array. Threading: any thread. */
  public int[] objectIds() {
    return objectIds.clone();
  }

  /** The shape of every object, by id. Threading: any thread. */
  public List<TensorShape> objectShapes() {
    return objectShapes;
  }

  /** The elements of all objects together. Threading: any thread. */
  public long totalElements() {
    return totalElements;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ShapedObjectsAssignment that
        && Arrays.equals(objectIds, that.objectIds)
        && objectShapes.equals(that.objectShapes);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(objectIds) + objectShapes.hashCode();
  }

  @Override
  public String toString() {
    return "ShapedObjectsAssignment["
        + tensorCount()
        + " tensors, "
        + objectShapes.size()
        + " objects, "
        + totalElements
        + " elements]";
  }
}
