package io.prmalloc.pool;

import io.prmalloc.internal.jfr.FlightEvents;
import java.util.regex.Pattern;

/**
 * Initializes all classes that requests need when a pool is built, so that no request does.
 *
 * <p>Threading: any thread.
 */
final class EarlyInitialization {

  // A class whose static initializer fails is of no use to the process any more: every later use
  // throws NoClassDefFoundError. It may fail in any request, for it allocates, and the heap may be
  // exhausted for a moment then. When a pool is built, the error is seen at once and by the right
  // one. FirstUseTest knows what is missing here. Classes without a static initializer cannot fail
  // for good, and the native calls are made only when they are needed.

  private static final String ROOT = "io.prmalloc.";

  /** Not as literals, because most are visible in their packages only. */
  private static final String[] NAMES = {
    "OutOfNativeMemoryException$1",
    "OutOfNativeMemoryException$Limit",
    "internal.arena.Arena",
    "internal.arena.BinTable",
    "internal.arena.NullBins",
    "internal.block.Block",
    "internal.block.HeaderDescriptor",
    "internal.block.Observation",
    "internal.block.Requests",
    "internal.block.SpinLock",
    "internal.block.Stripes",
    "internal.block.TolerantObserver",
    "internal.freelist.FreeIndex",
    "internal.lifecycle.PoolTrim",
    "internal.lifecycle.SwitchOverMemory",
    "internal.memory.DeferredFreeSubAllocator",
    "internal.memory.DeferredFreeSubAllocator$State",
    "internal.os.AgronaAccess",
    "internal.os.Natives",
    "internal.os.OperatingSystem",
    "internal.planner.GreedyByBreadthStrategy",
    "internal.planner.GreedyInOrderStrategy",
    "internal.planner.index.GapIndex$Padding",
    "internal.poolplan.StepPacking",
    "internal.slab.BlockStack",
    "internal.slab.IndexStack",
    "internal.slab.SlabFronts",
    "internal.steps.KeyedSteps$Phase",
    "internal.steps.StepArena",
    "internal.steps.StepPlan",
    "internal.steps.StepSequence",
    "internal.block.StepMemory",
    "plan.MemoryStrategy",
    "plan.MemoryStrategy$1",
    "plan.TensorConstraints",
  };

  private static final Pattern SYNTHETIC = Pattern.compile(".*\\$\\d+");

  private EarlyInitialization() {}

  /** Does nothing from the second time on. */
  static void run() {
    ClassLoader loader = EarlyInitialization.class.getClassLoader();
    for (String name : NAMES) {
      try {
        Class.forName(ROOT + name, true, loader);
      } catch (ClassNotFoundException e) {
        // Compilers differ in what they make of a switch over an enum.
        if (!SYNTHETIC.matcher(name).matches()) {
          throw new IllegalStateException("a class of the library is missing: " + ROOT + name, e);
        }
      }
    }
    FlightEvents.initialize();
  }
}
