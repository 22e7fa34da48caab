package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.pool.EngineStats;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A pool that an engine outside of Java takes its memory from: its figures and its close. */
class AttachedEngineTest {

  private long tensors;

  private EngineStats stats() {
    return new EngineStats("engine", 1000 * tensors, tensors, 200, 40, 80, 2, 17);
  }

  @Test
  void shouldRefuseToBeClosedByForceAsLongAsTheEngineHasTensors() {
    TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
    pool.attachEngine(this::stats);
    tensors = 3;
    IllegalStateException refused = assertThrows(IllegalStateException.class, pool::closeForcibly);
    assertTrue(refused.getMessage().contains("3 tensors of engine"), refused.getMessage());
    pool.allocate(100_000).close();
    tensors = 0;
    pool.closeForcibly();
    tensors = 1;
    pool.closeForcibly();
  }

  @Test
  void shouldTellOfTheEngine() {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      assertEquals(Optional.empty(), pool.snapshot().engine());
      assertFalse(pool.dumpStats().contains("engine"));
      pool.attachEngine(this::stats);
      tensors = 5;
      assertEquals(Optional.of(stats()), pool.snapshot().engine());
      assertTrue(
          pool.dumpStats()
              .contains("engine engine: tensors 5 of 5,000 bytes, weights 200 bytes, beyond"),
          pool::dumpStats);
    }
  }
}
