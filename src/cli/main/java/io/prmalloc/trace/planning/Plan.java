package io.prmalloc.trace.planning;

import io.prmalloc.plan.ObjectsAssignment;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.ShapedObjectsAssignment;
import io.prmalloc.trace.TensorLifetimes;
import java.util.Optional;

/**
 * The answer of a strategy.
 *
 * <p>Threading: immutable.
 */
public sealed interface Plan {

  /** Bytes of the plan; elements where sizes are shapes. Threading: any thread. */
  long total();

  /** What is wrong with the plan; empty if it is valid. Threading: any thread. */
  Optional<String> fault(TensorLifetimes tensors);

  /**
   * The plan as offsets, objects laid end to end; empty where sizes are shapes, or offsets would
   * pass 2^63 - 1.
   *
   * <p>Threading: any thread.
   *
   * @param alignment what offsets are multiples of, if they are not yet there
   */
  Optional<OffsetsAssignment> toOffsets(TensorLifetimes tensors, long alignment);

  /**
   * Objects with sizes in bytes.
   *
   * <p>Threading: immutable.
   *
   * @param assignment the objects
   */
  record Objects(ObjectsAssignment assignment) implements Plan {

    @Override
    public long total() {
      return assignment.totalBytes();
    }

    @Override
    public Optional<String> fault(TensorLifetimes tensors) {
      return PlanValidator.fault(tensors.records(), assignment);
    }

    @Override
    public Optional<OffsetsAssignment> toOffsets(TensorLifetimes tensors, long alignment) {
      try {
        return Optional.of(assignment.toOffsets(tensors.records(), alignment));
      } catch (IllegalArgumentException tooLarge) {
        return Optional.empty();
      }
    }
  }

  /**
   * Objects with shapes.
   *
   * <p>Threading: immutable.
   *
   * @param assignment the objects
   */
  record ShapedObjects(ShapedObjectsAssignment assignment) implements Plan {

    @Override
    public long total() {
      return assignment.totalElements();
    }

    @Override
    public Optional<String> fault(TensorLifetimes tensors) {
      return PlanValidator.faultOfShapes(tensors.shapedRecords().orElseThrow(), assignment);
    }

    @Override
    public Optional<OffsetsAssignment> toOffsets(TensorLifetimes tensors, long alignment) {
      return Optional.empty();
    }
  }

  /**
   * Offsets.
   *
   * <p>Threading: immutable.
   *
   * @param assignment the offsets
   * @param optimal whether the strategy knows that no plan is smaller; empty if it does not look
   */
  record Offsets(OffsetsAssignment assignment, Optional<Boolean> optimal) implements Plan {

    @Override
    public long total() {
      return assignment.totalBytes();
    }

    @Override
    public Optional<String> fault(TensorLifetimes tensors) {
      return PlanValidator.fault(tensors.records(), assignment, tensors::shownId);
    }

    @Override
    public Optional<OffsetsAssignment> toOffsets(TensorLifetimes tensors, long alignment) {
      return Optional.of(assignment);
    }
  }
}
