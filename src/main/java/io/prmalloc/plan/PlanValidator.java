package io.prmalloc.plan;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;
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
   * records, an offset that is negative or not aligned, as the plan or the tensor has it, or
   * another than the tensor's fixed one, an end behind the total, two tensors that use a byte in
   * the same task. Hints are no obligation.
   *
   * <p>Threading: any thread.
   *
   * @return what is wrong, in words; empty if the plan is valid
   */
  public static Optional<String> fault(List<TensorUsageRecord> records, OffsetsAssignment plan) {
    return fault(records, plan, String::valueOf);
  }

  /**
   * As {@link #fault(List, OffsetsAssignment)}, with other names.
   *
   * <p>Threading: any thread.
   *
   * @param names what to call a tensor, by its place in the list
   * @return what is wrong, in words; empty if the plan is valid
   */
  public static Optional<String> fault(
      List<TensorUsageRecord> records, OffsetsAssignment plan, IntFunction<String> names) {
    if (plan.tensorCount() != records.size()) {
      return wrongCount(plan.tensorCount(), records.size());
    }
    for (int tensor = 0; tensor < records.size(); tensor++) {
      Optional<String> fault = faultOfTensor(tensor, records.get(tensor), plan);
      if (fault.isPresent()) {
        return Optional.of("tensor " + names.apply(tensor) + " " + fault.get());
      }
    }
    return overlapInArena(records, plan, names);
  }

  private static Optional<String> wrongCount(int planned, int given) {
    return Optional.of("the plan is for " + planned + " tensors, but there are " + given);
  }

  private static Optional<String> faultOfTensor(
      int tensor, TensorUsageRecord record, OffsetsAssignment plan) {
    long offset = plan.offset(tensor);
    if (plan.sizeBytes(tensor) != record.sizeBytes()) {
      return Optional.of(
          "has " + record.sizeBytes() + " bytes, but " + plan.sizeBytes(tensor) + " in the plan");
    }
    for (long alignment : new long[] {plan.alignment(), record.constraints().alignment()}) {
      if (offset < 0 || offset % alignment != 0) {
        return Optional.of("lies at " + offset + ", no multiple of " + alignment);
      }
    }
    if (record.constraints().offset().orElse(offset) != offset) {
      return Optional.of(
          "lies at "
              + offset
              + ", but its fixed offset is "
              + record.constraints().offset().getAsLong());
    }
    if (offset > plan.totalBytes() - record.sizeBytes()) {
      return Optional.of(
          "at "
              + offset
              + " with "
              + record.sizeBytes()
              + " bytes ends behind the total "
              + plan.totalBytes());
    }
    return Optional.empty();
  }

  /** Bytes of a tensor that are in use, from a task to a task. */
  private record Use(int tensor, long firstTask, long lastTask, long begin, long end) {}

  /** The life of a tensor, and where it lies: cut at each end of a gap, empty uses left out. */
  private static void addUses(int tensor, TensorUsageRecord record, long offset, List<Use> uses) {
    long full = offset + record.sizeBytes();
    long task = record.firstTask();
    for (TensorConstraints.Gap gap : record.constraints().gaps()) {
      addUse(new Use(tensor, task, gap.firstTask() - 1, offset, full), uses);
      addUse(
          new Use(
              tensor,
              gap.firstTask(),
              gap.lastTask(),
              offset + gap.fromByte(),
              offset + gap.toByte()),
          uses);
      task = gap.lastTask() + 1;
    }
    addUse(new Use(tensor, task, record.lastTask(), offset, full), uses);
  }

  private static void addUse(Use use, List<Use> uses) {
    if (use.firstTask <= use.lastTask && use.begin < use.end) {
      uses.add(use);
    }
  }

  private static Optional<String> overlapInArena(
      List<TensorUsageRecord> records, OffsetsAssignment plan, IntFunction<String> names) {
    List<Use> births = new ArrayList<>();
    for (int tensor = 0; tensor < records.size(); tensor++) {
      addUses(tensor, records.get(tensor), plan.offset(tensor), births);
    }
    births.sort(Comparator.comparingLong(Use::firstTask));
    List<Use> deaths = new ArrayList<>(births);
    deaths.sort(Comparator.comparingLong(Use::lastTask));
    TreeMap<Long, Use> live = new TreeMap<>();
    int dead = 0;
    for (Use use : births) {
      while (deaths.get(dead).lastTask < use.firstTask) {
        live.remove(deaths.get(dead).begin, deaths.get(dead));
        dead++;
      }
      Map.Entry<Long, Use> below = live.floorEntry(use.begin);
      if (below != null && below.getValue().end > use.begin) {
        return sharedBytes(below.getValue(), use, use.begin, names);
      }
      Map.Entry<Long, Use> above = live.higherEntry(use.begin);
      if (above != null && use.end > above.getKey()) {
        return sharedBytes(above.getValue(), use, above.getKey(), names);
      }
      live.put(use.begin, use);
    }
    return Optional.empty();
  }

  private static Optional<String> sharedBytes(
      Use one, Use other, long offset, IntFunction<String> names) {
    return Optional.of(
        "tensors "
            + names.apply(one.tensor)
            + " and "
            + names.apply(other.tensor)
            + " are both alive in task "
            + other.firstTask
            + " and share bytes from offset "
            + offset);
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
