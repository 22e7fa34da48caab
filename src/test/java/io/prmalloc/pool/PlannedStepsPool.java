package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.SubAllocator;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;

/** A pool for each test that plans steps on the thread that ends them. */
abstract class PlannedStepsPool {

  static final int KIB = 1024;

  final SubAllocator source = SubAllocator.direct();
  TensorPoolAllocator pool = builder().build();

  final TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder()
        .subAllocator(source)
        .executor(Runnable::run)
        .stepPlanningTime(Duration.ZERO);
  }

  @AfterEach
  void nothingIsLeft() {
    pool.close();
    assertEquals(0, source.bytesReserved());
  }
}
