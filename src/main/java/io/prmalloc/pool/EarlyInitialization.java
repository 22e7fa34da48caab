package io.prmalloc.pool;

import io.prmalloc.internal.jfr.FlightEvents;
import java.util.regex.Pattern;

/**
 * Initializes, when a pool is built, the classes that its requests would initialize one day.
 *
 * <p>Threading: any thread.
 */
final class EarlyInitialization {

  // A class whose static initializer fails is of no use to the process any more: every later use
  // throws NoClassDefFoundError. It may fail in any request, for it allocates, and the heap may be
  // exhausted for a moment then. When a pool is built, the error is seen at once and by the right
  // one. FirstUseTest knows what is missing here. Classes without a static initializer cannot fail
  // for good, and the native calls are made only where somebody needs them.

  private static final String ROOT = "io.prmalloc.";

  /** Not as literals, because most are visible in their packages only. */
  private static final String[] NAMES = {
    "Block",
    "DeferredFreeSubAllocator",
    "DeferredFreeSubAllocator$State",
    "OutOfNativeMemoryException$1",
    "OutOfNativeMemoryException$Limit",
    "lifetime.StepMemory",
    "os.AgronaAccess",
    "os.Natives",
    "os.OperatingSystem",
    "plan.GapIndex$Padding",
    "plan.GreedyByBreadthStrategy",
    "plan.GreedyBySizeStrategy$DistanceRow",
    "plan.GreedyInOrderStrategy",
    "plan.MemoryStrategy",
    "plan.MemoryStrategy$1",
    "pool.Arena",
    "pool.BinTable",
    "pool.BlockStack",
    "pool.HeaderDescriptor",
    "pool.IndexStack",
    "pool.KeyedSteps$Phase",
    "pool.NullBins",
    "pool.Observation",
    "pool.PoolTrim",
    "pool.StepArena",
    "pool.StepPacking",
    "pool.StepPlan",
    "pool.StepSequence",
    "pool.SwitchOverMemory",
    "pool.TolerantObserver",
    "pool.FreeIndex",
    "pool.SlabFronts",
    "pool.Stripes",
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
