package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.MmapOptions;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.TestBytes;
import io.prmalloc.internal.os.Mappings;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How much of the live heap and of the arenas is resident when steps change from one to the other.
 */
class StepMemoryPeakTest {

  private static final int MIB = 1 << 20;

  /** Of two tensors that are there together. */
  private static final int ARENA_BYTES = 2 * MIB;

  /** So much in the heap is worth its while. */
  private static final int LARGE = 40 * MIB;

  /** What the planner is to do; done by {@link #plan}. */
  private final Queue<Runnable> tasks = new ArrayDeque<>();

  private SubAllocator source;
  private TensorPoolAllocator pool;

  @BeforeEach
  void nativeCallsWork() {
    assumeTrue(OperatingSystem.callsNativeSilently(), "pages go back by native calls");
  }

  private void open(boolean mapped) {
    open(mapped, RegionVisitor.onFree((region, index, bytes) -> {}));
  }

  private void open(boolean mapped, RegionVisitor visitor) {
    source =
        (mapped ? SubAllocator.mmap(MmapOptions.DEFAULT) : SubAllocator.direct())
            .withVisitors(0, visitor);
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .executor(tasks::add)
            .stepPlanningTime(Duration.ZERO)
            .build();
  }

  @AfterEach
  void nothingIsLeft() {
    plan();
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  private void plan() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private static Allocation fill(Allocation tensor, int value) {
    TestBytes.fill(tensor.byteBuffer(), (byte) value);
    return tensor;
  }

  private static void check(Allocation tensor, int value) {
    TestBytes.assertAll((byte) value, tensor.byteBuffer());
  }

  /** Two tensors, written to; returns the address of the second. */
  private long step(long first, long second) {
    try (ScopedMemoryCollector step = pool.collect();
        Allocation one = fill(step.allocate(first), 1);
        Allocation two = fill(step.allocate(second), 2)) {
      check(one, 1);
      check(two, 2);
      return two.address();
    }
  }

  /** Sizes vary, and there is no plan yet for the two tensors of a mebibyte. */
  private void learn() {
    step(MIB, MIB);
    step(MIB / 2, MIB / 2);
    step(MIB, MIB);
    assertEquals(0, pool.stepStats().plans());
  }

  /** Where the kernel does not tell, there is nothing to compare. */
  private static void assertResident(long expected, long address, int bytes) {
    Mappings.residentBytes(pageOf(address), bytes)
        .ifPresent(actual -> assertEquals(expected, actual));
  }

  private static long pageOf(long address) {
    long page = OperatingSystem.pageSizeBytes();
    return (address + page - 1) & -page;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldGiveTheHeapBackThatStepsHadBeforeThePlan(boolean mapped) {
    open(mapped);
    learn();
    ScopedMemoryCollector unplanned = pool.collect();
    Allocation late = unplanned.allocate(MIB);
    plan();
    assertEquals(1, pool.stepStats().plans());
    late.close();
    unplanned.close();
    long arenaBytes = pool.stepStats().arenaBytes();
    assertTrue(source.bytesReserved() > arenaBytes, "the step had memory of the heap");
    assertEquals(1, tasks.size(), "no user waits for it");
    plan();
    assertEquals(0, pool.stepStats().plannedSteps());
    // Steps of other kinds had time to show what they need.
    for (int i = 1; i < 32; i++) {
      assertTrue(source.bytesReserved() > arenaBytes);
      step(MIB, MIB);
      plan();
    }
    assertEquals(arenaBytes, source.bytesReserved());
  }

  @Test
  void shouldLeaveTheHeapToOthersAfterThat() {
    open(true);
    learn();
    plan();
    try (Allocation other = pool.allocate(LARGE)) {
      for (int i = 1; i < 200; i++) {
        step(MIB, MIB);
        assertEquals(i == 1 || i == 32 ? 1 : 0, tasks.size(), "after step " + i);
        plan();
      }
      other.byteBuffer().put(0, (byte) 1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldDiscardWhatIsFreeOfAnArenaWhenARequestIsTooLarge(boolean mapped) {
    open(mapped);
    learn();
    plan();
    int inner = MIB - 2 * OperatingSystem.pageSizeBytes();
    long second = step(MIB, MIB);
    assertResident(inner, second, inner);
    try (ScopedMemoryCollector step = pool.collect();
        Allocation one = fill(step.allocate(MIB), 3)) {
      // It has a place that is large enough, and then is not one that departs.
      fill(step.allocate(MIB), 4).close();
      assertResident(inner, second, inner);
      try (Allocation more = step.allocate(MIB)) {
        assertResident(inner, second, inner);
        fill(more, 5);
      }
      check(one, 3);
    }
    tasks.clear();
    try (ScopedMemoryCollector step = pool.collect();
        Allocation one = fill(step.allocate(MIB), 6)) {
      try (Allocation large = fill(step.allocate(4 * MIB), 7)) {
        assertResident(0, second, inner);
        assertResident(inner, one.address(), inner);
        check(one, 6);
        check(large, 7);
      }
      check(one, 6);
    }
    assertEquals(2, pool.stepStats().departedSteps());
  }

  @Test
  void shouldDiscardAnArenaOnce() {
    open(true);
    learn();
    plan();
    int inner = MIB - 2 * OperatingSystem.pageSizeBytes();
    long second = step(MIB, MIB);
    step(MIB, 4 * MIB);
    assertResident(0, second, inner);
    // The plan that is raised is not there yet.
    assertEquals(second, step(MIB, MIB));
    step(MIB, 4 * MIB);
    assertResident(inner, second, inner);
    assertEquals(2, pool.stepStats().departedSteps());
    assertEquals(0, pool.stepStats().raisedPlans());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldPurgeTheHeapBeforeAPlanIsRaised(boolean mapped) {
    List<Long> departed = new ArrayList<>();
    List<Long> resident = new ArrayList<>();
    open(
        mapped,
        RegionVisitor.onAlloc(
            (region, index, bytes) ->
                departed.forEach(
                    address ->
                        Mappings.residentBytes(pageOf(address), LARGE / 2)
                            .ifPresent(resident::add))));
    learn();
    plan();
    step(MIB, MIB);
    plan();
    departed.add(step(MIB, LARGE));
    assertEquals(List.of(), resident);
    plan();
    assertEquals(1, pool.stepStats().raisedPlans());
    assertTrue(resident.stream().allMatch(bytes -> bytes == 0), resident.toString());
  }

  @Test
  void shouldDiscardPagesBeforeAnArenaGoesBackToALibraryThatKeepsThem() {
    List<Integer> written = new ArrayList<>();
    AtomicLong arenaBytes = new AtomicLong();
    open(
        false,
        RegionVisitor.onFree(
            (region, index, bytes) -> {
              if (bytes == arenaBytes.get()) {
                // Not the first and the last page, which the region shares with others.
                for (int at = 64 << 10; at < bytes - (64 << 10); at += 64 << 10) {
                  written.add((int) region.buffer().get(at));
                }
              }
            }));
    learn();
    plan();
    step(MIB, MIB);
    plan();
    arenaBytes.set(pool.stepStats().arenaBytes());
    assertTrue(arenaBytes.get() >= ARENA_BYTES);
    assertTrue(pool.trimSteps(Duration.ZERO) >= ARENA_BYTES);
    assertTrue(written.size() > 16, written.toString());
    assertTrue(written.stream().allMatch(value -> value == 0), written.toString());
  }
}
