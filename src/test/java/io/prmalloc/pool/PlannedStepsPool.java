package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.SubAllocator;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;

/** A base of tests that gives each of them a pool that plans steps on the thread that ends them. */
public abstract class PlannedStepsPool {

  public static final int KIB = 1024;

  final SubAllocator source = SubAllocator.direct();
  public TensorPoolAllocator pool = builder().build();

  public final TensorPoolBuilder builder() {
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
