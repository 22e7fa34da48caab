package io.prmalloc.internal.poolplan;

import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;

/**
 * Plans of lifetime policies with other size classes than the reference's, for the same steps.
 *
 * <p>Threading: stateless.
 */
final class SizeClassPlans {

  // Finer classes waste less at the end of a block, geometric ones let more sizes share a block.
  // Both are packed as the reference's are.
  //
  // The pool finds a class by a subtraction and a shift, so geometric classes are made of classes
  // of 4 KiB: a block has the size of the last one in a group, and the others have no blocks but
  // may use those, before all that the group may use.

  /** The step between finer classes. */
  static final int FINER_BYTES = 2 * 1024;

  private static final int INTERVAL_BYTES = 4 * 1024;

  /** How many geometric classes there are from a size to twice that size. */
  private static final int CLASSES_PER_DOUBLING = 8;

  private SizeClassPlans() {}

  /** Classes so many bytes apart: a power of two from 64 bytes to 32 KiB. */
  static LifetimePlan linear(LifetimePlan made, int intervalBytes) {
    return LifetimePlan.of(
        pack(made, intervalBytes, bytes -> bytes), made.steps(), made.concurrentSteps());
  }

  /** Eight classes from a power of two to the next, rounded up to 4 KiB. */
  static LifetimePlan geometric(LifetimePlan made) {
    LifetimePolicy policy = pack(made, INTERVAL_BYTES, SizeClassPlans::geometricBytes);
    LifetimePlan groups = LifetimePlan.of(policy, made.steps(), made.concurrentSteps());
    Map<Integer, BinPlan> bins = new TreeMap<>();
    groups.bins().forEach(bin -> bins.put(bin.index(), bin));
    for (List<AllocStats> step : made.steps()) {
      for (AllocStats life : step) {
        int own = index(life.sizeBytes());
        BinPlan group = bins.get(index(geometricBytes(life.sizeBytes())));
        if (own != group.index()) {
          bins.computeIfAbsent(own, index -> member(index, group));
        }
      }
    }
    return new LifetimePlan(
        INTERVAL_BYTES,
        groups.totalBytes(),
        List.copyOf(bins.values()),
        made.steps(),
        made.concurrentSteps());
  }

  private static BinPlan member(int index, BinPlan group) {
    List<Integer> targets = new ArrayList<>();
    if (group.blocks() > 0) {
      targets.add(group.index());
    }
    targets.addAll(group.virtualTargets());
    return new BinPlan(
        index, LifetimePolicy.chunkBytes(index, INTERVAL_BYTES), group.alignment(), 0, targets);
  }

  private static LifetimePolicy pack(
      LifetimePlan made, int intervalBytes, LongUnaryOperator rounding) {
    LifetimePolicy policy = new LifetimePolicy(intervalBytes);
    for (List<AllocStats> step : made.steps()) {
      for (AllocStats life : step) {
        policy.add(
            new AllocStats(
                life.beginTick(),
                life.endTick(),
                rounding.applyAsLong(life.sizeBytes()),
                life.alignment()));
      }
      policy.bestFit();
    }
    return policy;
  }

  private static int index(long bytes) {
    return LifetimePolicy.index(bytes, INTERVAL_BYTES);
  }

  /** Bytes of the geometric class of a size: eight classes from a power of two to the next. */
  static long geometricBytes(long bytes) {
    long power = Long.highestOneBit(Math.max(1, bytes - 1));
    long step = Math.max(INTERVAL_BYTES, power / CLASSES_PER_DOUBLING);
    return (bytes + step - 1) / step * step;
  }
}
