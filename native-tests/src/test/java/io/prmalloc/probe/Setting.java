package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;
import io.prmalloc.pool.PoolStats;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * A combination of an allocator, the source of its memory, and the way it is asked for memory.
 * {@link #all} has every combination.
 *
 * <p>Threading: immutable.
 */
record Setting(Kind kind, Source source, boolean raw) {

  /** Which allocator, and in which state. */
  enum Kind {
    CPU,
    /** A pool that still learns and passes requests on. */
    POOL_WARMING_UP,
    /** A pool that serves from its arena. */
    POOL_SETTLED
  }

  static Stream<Setting> all() {
    return Arrays.stream(Kind.values())
        .flatMap(
            kind ->
                Arrays.stream(Source.values())
                    .flatMap(
                        source ->
                            Stream.of(
                                new Setting(kind, source, false),
                                new Setting(kind, source, true))));
  }

  Tensors tensors(Allocator allocator) {
    return raw ? new Tensors.Raw(allocator) : new Tensors.Handles(allocator);
  }

  /**
   * Gives a test the allocator in its state, and sees to it that it was in that state, was really
   * used, and that nothing is left behind.
   *
   * @param step what a pool learns, and what the test runs a few times
   * @param test is given a way to run the step with a visitor
   */
  void run(Step step, BiConsumer<Tensors, StepRunner> test) {
    SubAllocator memory = source.open();
    if (kind == Kind.CPU) {
      try (CpuAllocator allocator = new CpuAllocator(memory)) {
        test.accept(tensors(allocator), step::run);
        assertEquals(step.tensors(), allocator.stats().numAllocs());
      }
    } else {
      runPool(memory, step, test);
    }
    assertEquals(0, memory.bytesReserved());
  }

  private void runPool(SubAllocator memory, Step step, BiConsumer<Tensors, StepRunner> test) {
    try (TensorPoolAllocator pool = Pools.open(memory)) {
      Tensors tensors = tensors(pool);
      if (kind == Kind.POOL_SETTLED) {
        Pools.warmUp(pool, step, tensors);
      }
      PoolStats before = pool.poolStats();
      test.accept(tensors, (run, visitor) -> Pools.runStep(pool, step, run, visitor));
      PoolStats after = pool.poolStats();
      assertEquals(
          step.tensors() - step.plannedTensors(), after.smallRequests() - before.smallRequests());
      if (kind == Kind.POOL_SETTLED) {
        assertEquals(step.plannedTensors(), after.hits() - before.hits(), pool::dumpStats);
      } else {
        assertFalse(pool.isPooling());
        assertEquals(step.plannedTensors(), after.unpooledRequests() - before.unpooledRequests());
      }
    }
  }

  /** Runs the step once. */
  @FunctionalInterface
  interface StepRunner {
    void run(Tensors tensors, Step.Visitor visitor);
  }
}
