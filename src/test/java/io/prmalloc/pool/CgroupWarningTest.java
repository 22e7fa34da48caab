package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.LogRecords;
import io.prmalloc.SubAllocator;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The warning of a pool that cannot fit into its control group. */
class CgroupWarningTest {

  private static final long MIB = 1L << 20;
  private static final long HEAP = Runtime.getRuntime().maxMemory();

  private final LogRecords log = new LogRecords("io.prmalloc.internal.lifecycle.CgroupCheck");

  @AfterEach
  void closeLog() {
    log.close();
  }

  private static TensorPoolBuilder builder(OptionalLong limit) {
    return TensorPoolAllocator.builder().planner(Steps.planner(1)).cgroupLimit(() -> limit);
  }

  private static TensorPoolBuilder builder(long limit) {
    return builder(OptionalLong.of(limit));
  }

  @Test
  void shouldWarnWithTheNumbersWhenThePoolsLimitAndTheHeapDoNotFit() {
    builder(HEAP + 8 * MIB - 1).subAllocator(SubAllocator.direct(8 * MIB)).build().close();
    String line = log.take();
    for (String part :
        List.of("limit of 8388608 bytes", "up to " + HEAP, "of " + (HEAP + 8 * MIB - 1), "by 1,")) {
      assertTrue(line.contains(part), () -> part + " is not in: " + line);
    }
  }

  @Test
  void shouldBeSilentWhenItFitsExactlyOrNothingLimits() {
    builder(HEAP + 8 * MIB).subAllocator(SubAllocator.direct(8 * MIB)).build().close();
    builder(OptionalLong.empty()).subAllocator(SubAllocator.direct(8 * MIB)).build().close();
    try (TensorPoolAllocator unlimited = builder(HEAP + 8 * MIB).build()) {
      Pools.learn(unlimited, MIB);
    }
    assertEquals(List.of(), log.all());
  }

  @Test
  void shouldWarnOnceAtTheSwitchOverAndServeNevertheless() {
    try (TensorPoolAllocator pool = builder(HEAP + MIB - 1).build()) {
      assertEquals(List.of(), log.all());
      Pools.learn(pool, MIB);
      assertTrue(pool.isPooling());
      assertTrue(log.take().contains("a plan's arena"));
      try (Allocation hit = pool.allocate(MIB)) {
        assertEquals(MIB, hit.byteBuffer().capacity());
      }
      assertEquals(1, pool.poolStats().hits());
    }
  }

  @Test
  void shouldWarnOnceOnlyWhenTheLimitDidNotFitBefore() {
    try (TensorPoolAllocator pool =
        builder(MIB).subAllocator(SubAllocator.direct(8 * MIB)).build()) {
      Pools.learn(pool, MIB);
    }
    log.take();
  }
}
