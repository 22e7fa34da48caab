package io.prmalloc.plan;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Checks whether a plan is valid for given records, and says why if it is not.
 *
 * <p>Threading: any thread.
 */
public final class PlanValidator {

  // Knows records and plans and nothing of how plans are made: it shares no code with a strategy,
  // so that one mistake cannot hide in both. Two walks over time do: for offsets the tensors that
  // are alive lie disjoint in a map by offset, so a new one need be compared with its two
  // neighbours only; for objects the tensors of one object, by first task, with the one before. n
  // log n both.

  private static final Comparator<TensorUsageRecord> BY_FIRST =
      Comparator.comparingLong(TensorUsageRecord::firstTask);

  private PlanValidator() {}

  /**
   * The first fault of a plan by offsets: a tensor too many or too few, another size than in the
   * records, an offset that is negative or not aligned, an end behind the total, two tensors that
   * are alive in the same task and share a byte.
   *
   * <p>Threading: any thread.
   *
   * @return what is wrong, in words; empty if the plan is valid
   */
  public static Optional<String> fault(List<TensorUsageRecord> records, OffsetsAssignment plan) {
    if (plan.tensorCount() != records.size()) {
      return wrongCount(plan.tensorCount(), records.size());
    }
    for (int tensor = 0; tensor < records.size(); tensor++) {
      Optional<String> fault = faultOfTensor(tensor, records.get(tensor), plan);
      if (fault.isPresent()) {
        return fault;
      }
    }
    return overlapInArena(records, plan);
  }

  private static Optional<String> wrongCount(int planned, int given) {
    return Optional.of("the plan is for " + planned + " tensors, but there are " + given);
  }

  private static Optional<String> faultOfTensor(
      int tensor, TensorUsageRecord record, OffsetsAssignment plan) {
    long offset = plan.offset(tensor);
    if (plan.sizeBytes(tensor) != record.sizeBytes()) {
      return Optional.of(
          "tensor "
              + tensor
              + " has "
              + record.sizeBytes()
              + " bytes, but "
              + plan.sizeBytes(tensor)
              + " in the plan");
    }
    if (offset < 0 || offset % plan.alignment() != 0) {
      return Optional.of(
          "tensor " + tensor + " lies at " + offset + ", no multiple of " + plan.alignment());
    }
    if (offset > plan.totalBytes() - record.sizeBytes()) {
      return Optional.of(
          "tensor "
              + tensor
              + " at "
              + offset
              + " with "
              + record.sizeBytes()
              + " bytes ends behind the total "
              + plan.totalBytes());
    }
    return Optional.empty();
  }

  private static Optional<String> overlapInArena(
      List<TensorUsageRecord> records, OffsetsAssignment plan) {
    int[] births = sortedTensors(records, BY_FIRST);
    int[] deaths = sortedTensors(records, Comparator.comparingLong(TensorUsageRecord::lastTask));
    TreeMap<Long, Integer> live = new TreeMap<>();
    int dead = 0;
    for (int tensor : births) {
      TensorUsageRecord record = records.get(tensor);
      while (records.get(deaths[dead]).lastTask() < record.firstTask()) {
        live.remove(plan.offset(deaths[dead]), deaths[dead]);
        dead++;
      }
      if (record.sizeBytes() == 0) {
        continue;
      }
      long offset = plan.offset(tensor);
      Map.Entry<Long, Integer> below = live.floorEntry(offset);
      if (below != null && below.getKey() + records.get(below.getValue()).sizeBytes() > offset) {
        return shared(below.getValue(), tensor, record.firstTask(), "bytes from offset " + offset);
      }
      Map.Entry<Long, Integer> above = live.higherEntry(offset);
      if (above != null && offset + record.sizeBytes() > above.getKey()) {
        return shared(
            above.getValue(), tensor, record.firstTask(), "bytes from offset " + above.getKey());
      }
      live.put(offset, tensor);
    }
    return Optional.empty();
  }

  private static Optional<String> shared(int one, int other, long task, String what) {
    return Optional.of(
        "tensors "
            + one
            + " and "
            + other
            + " are both alive in task "
            + task
            + " and share "
            + what);
  }

  private static int[] sortedTensors(
      List<TensorUsageRecord> records, Comparator<TensorUsageRecord> order) {
    return IntStream.range(0, records.size())
        .boxed()
        .sorted(Comparator.comparing(records::get, order))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /**
   * The first fault of a plan by objects: a tensor too many or too few, a tensor larger than its
   * object, two tensors of one object that are alive in the same task.
   *
   * <p>Threading: any thread.
   *
   * @return what is wrong, in words; empty if the plan is valid
   */
  public static Optional<String> fault(List<TensorUsageRecord> records, ObjectsAssignment plan) {
    if (plan.tensorCount() != records.size()) {
      return wrongCount(plan.tensorCount(), records.size());
    }
    for (int tensor = 0; tensor < records.size(); tensor++) {
      int object = plan.objectId(tensor);
      if (records.get(tensor).sizeBytes() > plan.objectSizeBytes(object)) {
        return tooSmall(
            tensor, records.get(tensor).sizeBytes(), object, plan.objectSizeBytes(object));
      }
    }
    return overlapInObject(records, plan.objectIds(), plan.objectCount());
  }

  /**
   * The first fault of a plan by shaped objects, as {@link #fault(List, ObjectsAssignment)}: an
   * object must cover each of its tensors in every dimension.
   *
   * <p>Threading: any thread.
   *
   * @return what is wrong, in words; empty if the plan is valid
   */
  public static Optional<String> faultOfShapes(
      List<ShapedUsageRecord> records, ShapedObjectsAssignment plan) {
    if (plan.tensorCount() != records.size()) {
      return wrongCount(plan.tensorCount(), records.size());
    }
    for (int tensor = 0; tensor < records.size(); tensor++) {
      int object = plan.objectId(tensor);
      if (!plan.objectShapes().get(object).covers(records.get(tensor).shape())) {
        return tooSmall(
            tensor, records.get(tensor).shape(), object, plan.objectShapes().get(object));
      }
    }
    return overlapInObject(
        records.stream().map(ShapedUsageRecord::flat).toList(),
        plan.objectIds(),
        plan.objectShapes().size());
  }

  private static Optional<String> tooSmall(
      int tensor, Object tensorSize, int object, Object objectSize) {
    return Optional.of(
        "tensor "
            + tensor
            + " of size "
            + tensorSize
            + " is in object "
            + object
            + " of size "
            + objectSize);
  }

  private static Optional<String> overlapInObject(
      List<TensorUsageRecord> records, int[] objectIds, int objectCount) {
    // Of the tensors seen so far in each object, the one that ends last; −1 if there is none.
    List<Integer> latest = new ArrayList<>(Collections.nCopies(objectCount, -1));
    for (int tensor : sortedTensors(records, BY_FIRST)) {
      int object = objectIds[tensor];
      int before = latest.get(object);
      if (before >= 0 && records.get(before).lastTask() >= records.get(tensor).firstTask()) {
        return shared(before, tensor, records.get(tensor).firstTask(), "object " + object);
      }
      latest.set(object, tensor);
    }
    return Optional.empty();
  }
}
