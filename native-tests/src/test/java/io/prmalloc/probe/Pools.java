package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;

/**
 * Pools that learn from their first step on, before the close of a step returns.
 *
 * <p>Threading: stateless.
 */
final class Pools {

  // Twelve equal steps are enough; where a packing first has to settle it takes some more.
  private static final int MOST_WARM_UP_STEPS = 100;

  private Pools() {}

  static TensorPoolAllocator open(SubAllocator source) {
    return TensorPoolAllocator.builder()
        .subAllocator(source)
        .startStatisticStep(0)
        .executor(Runnable::run)
        .build();
  }

  /** Runs one step. Makes no garbage of its own. */
  static void runStep(TensorPoolAllocator pool, Step step, Tensors tensors, Step.Visitor visitor) {
    ScopedMemoryCollector scope = pool.collect();
    try {
      step.run(tensors, visitor);
    } finally {
      scope.close();
    }
  }

  /** Runs the step until the pool has switched over. */
  static void warmUp(TensorPoolAllocator pool, Step step, Tensors tensors) {
    warmUp(pool, () -> step.run(tensors));
  }

  /** Runs a step until the pool has switched over. */
  static void warmUp(TensorPoolAllocator pool, Runnable step) {
    for (int i = 0; i < MOST_WARM_UP_STEPS && !pool.isPooling(); i++) {
      ScopedMemoryCollector scope = pool.collect();
      step.run();
      scope.close();
    }
    assertTrue(pool.isPooling(), () -> "no plan yet\n" + pool.dumpStats());
  }
}
