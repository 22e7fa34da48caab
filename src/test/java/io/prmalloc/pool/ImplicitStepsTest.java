package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.Isolation;
import io.prmalloc.TestBytes;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.steps.ImplicitSteps;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.recording.Recording;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Planned steps whose thread asks the pool for memory, not the step. */
@SuppressWarnings("try") // a step is a bracket: what is asked of the pool meanwhile belongs to it
class ImplicitStepsTest extends PlannedStepsPool {

  private static final long[] MODEL = {100_000, 400_000, 50_000, 300_000, 700, 200_000, 5_000};

  private final Random random = new Random(1);

  @TempDir private Path directory;

  /** A tensor, and what was written to each of its bytes. */
  private record Tensor(Allocation memory, byte pattern) {
    static Tensor of(Allocator pool, long bytes, int pattern) {
      Tensor made = new Tensor(pool.allocate(bytes), (byte) pattern);
      TestBytes.fill(made.memory.byteBuffer(), made.pattern);
      return made;
    }

    void check() {
      TestBytes.assertAll(pattern, memory.byteBuffer());
    }

    void close() {
      check();
      memory.close();
    }
  }

  private void build(TensorPoolBuilder builder) {
    pool.close();
    pool = builder.build();
  }

  /** Each tensor lives until the next but one is there. */
  private void work(double factor, long... sizes) {
    Deque<Tensor> live = new ArrayDeque<>();
    for (int i = 0; i < sizes.length; i++) {
      live.add(Tensor.of(pool, (long) (sizes[i] * factor), i + (int) (factor * 100)));
      if (live.size() == 3) {
        live.poll().close();
      }
    }
    live.forEach(Tensor::close);
  }

  private void step(double factor) {
    step(null, factor, MODEL);
  }

  private void step(Object key, double factor, long... sizes) {
    try (ScopedMemoryCollector step = pool.collect(key)) {
      work(factor, sizes);
    }
  }

  private double anyFactor() {
    return 0.25 + 0.75 * random.nextDouble();
  }

  /** Until there is a plan, whose places are larger than any request of {@link #anyFactor}. */
  private void learn() {
    step(1);
    step(0.5);
    step(0.75);
    assertEquals(1, pool.stepStats().plans());
  }

  /** All requests that steps have no part in. */
  private long shared() {
    PoolStats stats = pool.poolStats();
    return stats.hits() + stats.smallRequests() + stats.unpooledRequests();
  }

  /** Whether small requests find a slot at the first look. */
  private boolean isQuick() {
    pool.allocate(100).close();
    PooledBlock block = pool.takeReady(100, 64, 0, 0);
    if (block != null) {
      block.open(100).close();
    }
    return block != null;
  }

  // ---- serving

  @Test
  void shouldServeEverySizeFromOnePlan() {
    learn();
    long before = shared();
    for (int i = 0; i < 200; i++) {
      step(anyFactor());
    }
    StepStats stats = pool.stepStats();
    assertEquals(200, stats.plannedSteps());
    assertEquals(0, stats.departedSteps() + stats.unplannedSteps() + stats.replans());
    assertEquals(1, stats.arenas());
    assertEquals(before, shared());
    assertEquals(203L * MODEL.length, pool.stats().numAllocs());
  }

  @Test
  void shouldRaiseThePlanForLargerSteps() {
    learn();
    step(3);
    long before = shared();
    for (int i = 0; i < 20; i++) {
      step(3 * anyFactor());
    }
    assertEquals(1, pool.stepStats().departedSteps());
    assertEquals(1, pool.stepStats().raisedPlans());
    assertEquals(before, shared());
  }

  @Test
  void shouldPlanEachKeyAndEachNestedStep() {
    for (int i = 0; i < 40; i++) {
      try (ScopedMemoryCollector outer = pool.collect("outer")) {
        double factor = i == 0 ? 1 : anyFactor();
        Tensor first = Tensor.of(pool, (long) (90_000 * factor), i);
        step("inner", factor, MODEL);
        Tensor second = Tensor.of(pool, (long) (60_000 * factor), -i);
        first.close();
        second.close();
      }
    }
    StepStats stats = pool.stepStats();
    assertEquals(2, stats.plans());
    assertEquals(0, stats.departedSteps(), stats.toString());
    long before = shared();
    try (ScopedMemoryCollector outer = pool.collect("outer")) {
      Tensor first = Tensor.of(pool, 80_000, 1);
      step("inner", 0.3, MODEL);
      Tensor second = Tensor.of(pool, 50_000, 2);
      first.close();
      second.close();
    }
    assertEquals(stats.plannedSteps() + 2, pool.stepStats().plannedSteps());
    assertEquals(before, shared());
  }

  @Test
  void shouldServeTheOuterStepWhenStepsCloseInAnotherOrder() {
    learn();
    ScopedMemoryCollector first = pool.collect();
    ScopedMemoryCollector second = pool.collect();
    first.close();
    work(0.5, MODEL);
    second.close();
    long before = shared();
    work(0.5, MODEL);
    assertEquals(before + MODEL.length, shared(), "no step is open");
    step(0.5);
    assertEquals(2, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldServeThreadsFromArenasOfTheirOwn() throws Exception {
    learn();
    // Until each has one: a step that wants one more while another thread has it made gets none.
    while (pool.stepStats().arenas() < 4) {
      stepsOfFourThreads();
    }
    StepStats before = pool.stepStats();
    stepsOfFourThreads();
    StepStats stats = pool.stepStats();
    long planned = stats.plannedSteps() - before.plannedSteps();
    long unplanned = stats.unplannedSteps() - before.unplannedSteps();
    assertEquals(200, planned + unplanned);
    // Those that looked at each arena just when another thread had it.
    assertTrue(unplanned <= 8, stats.toString());
    assertEquals(0, stats.departedSteps());
  }

  private void stepsOfFourThreads() throws Exception {
    Threads.run(
        4,
        thread -> {
          Random own = new Random(thread);
          for (int i = 0; i < 50; i++) {
            step(0.25 + 0.75 * own.nextDouble());
          }
        });
  }

  @Test
  void shouldServeAnotherThreadInTheStepFromThePool() throws Exception {
    learn();
    long before = shared();
    try (ScopedMemoryCollector step = pool.collect()) {
      Tensor own = Tensor.of(pool, 90_000, 1);
      Threads.run(1, thread -> work(0.5, MODEL));
      own.close();
    }
    assertEquals(before + MODEL.length, shared());
  }

  @Test
  void shouldLetATensorOutliveItsStep() {
    learn();
    Tensor kept;
    try (ScopedMemoryCollector step = pool.collect()) {
      kept = Tensor.of(pool, 100_000, 77);
    }
    for (int i = 0; i < 10; i++) {
      step(anyFactor());
      kept.check();
    }
    assertEquals(2, pool.stepStats().arenas());
    assertEquals(11, pool.stepStats().plannedSteps());
    assertThrows(IllegalStateException.class, pool::close);
    step(anyFactor());
    kept.close();
    step(anyFactor());
    assertEquals(13, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldGoOnWhenAnotherThreadClosesTheStep() throws Exception {
    learn();
    ScopedMemoryCollector step = pool.collect();
    Tensor first = Tensor.of(pool, 90_000, 1);
    Threads.run(1, thread -> step.close());
    long before = shared();
    Tensor second = Tensor.of(pool, 300_000, 2);
    assertEquals(before + 1, shared());
    first.close();
    second.close();
    step(0.5);
    assertEquals(2, pool.stepStats().plannedSteps() + pool.stepStats().departedSteps());
    assertEquals(before + 1, shared());
  }

  @Test
  void shouldOpenTheWaysWhenStepsAreClosedByOthersTooOften() throws Exception {
    learn();
    assertFalse(isQuick());
    for (int i = 0; i < 3; i++) {
      ScopedMemoryCollector step = pool.collect();
      Tensor tensor = Tensor.of(pool, 90_000, 1);
      Threads.run(1, thread -> step.close());
      tensor.close();
    }
    assertTrue(isQuick());
    assertEquals(0, pool.stepStats().plans());
    pool.trimSteps(Duration.ZERO);
    assertEquals(0, pool.stepStats().arenas());
  }

  @Test
  void shouldServeWhatCannotBePlannedFromThePool() {
    for (int i = 0; i < 20; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        double factor = i == 0 ? 1 : anyFactor();
        Allocation none = pool.allocate(0);
        Allocation aligned = pool.allocate(10_000, 4096);
        Tensor small = Tensor.of(pool, (long) (100 * factor), i);
        Tensor large = Tensor.of(pool, (long) (500_000 * factor), -i);
        Allocation pooled = pool.allocate((long) (300 * factor), 8);
        List.of(none, aligned, pooled).forEach(Allocation::close);
        small.close();
        large.close();
      }
    }
    StepStats stats = pool.stepStats();
    assertEquals(17, stats.plannedSteps());
    assertEquals(0, stats.departedSteps());
    assertEquals(3 * 5 + 17 * 2, shared());
    assertThrows(IllegalArgumentException.class, () -> pool.allocate(-1));
  }

  @Test
  void shouldServeFromThePoolWhenNoArenaIsFree() {
    build(builder().maxStepArenas(1));
    learn();
    long before = shared();
    try (ScopedMemoryCollector outer = pool.collect()) {
      Tensor first = Tensor.of(pool, 90_000, 1);
      step(0.5);
      first.close();
    }
    assertEquals(before + MODEL.length, shared());
    assertEquals(1, pool.stepStats().unplannedSteps());
  }

  @Test
  void shouldCountStepsOfOtherKindsAsUnplannedOnceEach() {
    build(builder().startStatisticStep(0));
    learn();
    long before = pool.stepStats().unplannedSteps();
    // Once the pool has a plan, no further kind is learnt.
    Pools.learn(pool, 1 << 20);
    StepStats learnt = pool.stepStats();
    long planned = learnt.plannedSteps();
    for (int i = 0; i < 3; i++) {
      try (ScopedMemoryCollector other = pool.collect("other")) {
        pool.allocate(100_000).close();
        pool.allocate(200_000).close();
      }
    }
    pool.collect("nothing").close();
    assertEquals(learnt.unplannedSteps() + 3, pool.stepStats().unplannedSteps());
    assertEquals(planned, pool.stepStats().plannedSteps());
    assertTrue(learnt.unplannedSteps() >= before);
  }

  @Test
  void shouldGiveArenasBack() {
    learn();
    step(0.5);
    long bytes = pool.stepStats().arenaBytes();
    assertTrue(bytes > 0);
    assertEquals(bytes, pool.trimSteps(Duration.ZERO));
    step(0.5);
    assertEquals(2, pool.stepStats().plannedSteps() + pool.stepStats().unplannedSteps());
    assertEquals(1, pool.stepStats().arenas());
  }

  @Test
  void shouldServeIsolatedMemory() {
    build(builder().isolation(Isolation.NONE.withCanaries(true)));
    learn();
    step(0.5);
    assertEquals(1, pool.stepStats().plannedSteps());
    try (ScopedMemoryCollector step = pool.collect()) {
      Allocation tensor = pool.allocate(100);
      assertEquals(100, tensor.byteBuffer().remaining());
      tensor.close();
    }
  }

  // ---- addresses

  private void rawStep(double factor) {
    try (ScopedMemoryCollector step = pool.collect()) {
      Deque<Long> live = new ArrayDeque<>();
      for (long size : MODEL) {
        long bytes = (long) (size * factor);
        long address = pool.allocateRaw(64, bytes);
        assertEquals(0, address % 64);
        assertEquals(bytes, pool.requestedSize(address));
        assertTrue(pool.allocatedSize(address) >= bytes);
        live.add(address);
        if (live.size() == 3) {
          long first = live.poll();
          assertEquals(pool.requestedSize(first), pool.deallocateRawSized(first));
        }
      }
      live.forEach(pool::deallocateRaw);
    }
  }

  @Test
  void shouldServeAddresses() {
    rawStep(1);
    rawStep(0.5);
    rawStep(0.75);
    assertEquals(1, pool.stepStats().plans());
    long before = shared();
    for (int i = 0; i < 20; i++) {
      rawStep(anyFactor());
    }
    assertEquals(20, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
    rawStep(2);
    assertEquals(1, pool.stepStats().departedSteps());
    assertTrue(shared() > before);
  }

  @Test
  void shouldTakeAnAddressBackFromAnyThreadOnce() throws Exception {
    learn();
    long address;
    long id;
    try (ScopedMemoryCollector step = pool.collect()) {
      address = pool.allocateRaw(64, 90_000);
      id = pool.allocationId(address);
      assertEquals(id, pool.allocationId(address));
    }
    Threads.run(1, thread -> pool.deallocateRaw(address));
    assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
    assertThrows(IllegalArgumentException.class, () -> pool.requestedSize(address));
    try (ScopedMemoryCollector step = pool.collect()) {
      assertEquals(address, pool.allocateRaw(64, 80_000));
      assertTrue(id != pool.allocationId(address));
      pool.deallocateRaw(address);
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
    }
    assertEquals(2, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldKnowTheSizeOfAHandle() {
    learn();
    try (ScopedMemoryCollector step = pool.collect();
        Allocation tensor = pool.allocate(90_000)) {
      assertEquals(90_000, pool.requestedSize(tensor.address()));
    }
  }

  // ---- observers

  @Test
  void shouldLetARecordingSeeWhatStepsAskFor() {
    learn();
    step(0.5);
    long before = shared();
    try (Recording recording = pool.record(directory.resolve("events"))) {
      step(0.5);
      assertEquals(before + MODEL.length, shared());
    }
    step(0.5);
    assertEquals(2, pool.stepStats().plannedSteps());
    assertEquals(before + MODEL.length, shared());
  }

  @Test
  void shouldGoOnFromThePoolWhenARecordingBeginsInTheMiddle() {
    learn();
    try (ScopedMemoryCollector step = pool.collect()) {
      Tensor first = Tensor.of(pool, 90_000, 1);
      long before = shared();
      try (Recording recording = pool.record(directory.resolve("events"))) {
        Tensor second = Tensor.of(pool, 300_000, 2);
        assertEquals(before + 1, shared());
        first.close();
        second.close();
      }
    }
    step(0.5);
    assertEquals(2, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldNotPlanWhileLeaksAreLookedFor() {
    build(builder().leakDetection(new LeakDetection(1, 1000, null)).leakListener(leak -> {}));
    for (int i = 0; i < 40; i++) {
      step(anyFactor());
    }
    assertEquals(0, pool.stepStats().plans() + pool.stepStats().plannedSteps());
    assertEquals(40L * MODEL.length, shared());
  }

  // ---- learning

  @ParameterizedTest
  @ValueSource(doubles = {1, 0.5})
  void shouldLeaveWhatRepeatsExactlyToThePool(double factor) {
    build(builder().startStatisticStep(0));
    for (int i = 0; i < 100; i++) {
      step(factor);
    }
    assertTrue(pool.isPooling());
    assertFalse(pool.isFastPathClosed());
    StepStats stats = pool.stepStats();
    assertEquals(0, stats.plans() + stats.plannedSteps() + stats.unplannedSteps());
    PoolStats before = pool.poolStats();
    try (ScopedMemoryCollector step = pool.collect()) {
      assertFalse(pool.isFastPathClosed());
      assertTrue(isQuick());
      work(factor, MODEL);
    }
    PoolStats after = pool.poolStats();
    assertTrue(after.hits() > before.hits());
    assertEquals(before.unpooledRequests(), after.unpooledRequests());
  }

  @Test
  void shouldEndLearningWhenStepsRepeatExactly() {
    for (int i = 0; i <= KeyedSteps.REPEATS; i++) {
      step(1);
    }
    try (ScopedMemoryCollector step = pool.collect()) {
      assertTrue(isQuick());
    }
  }

  @Test
  void shouldLeaveWhatHasNoOrderToThePool() {
    for (int i = 0; i < 100; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        List<Tensor> live = new ArrayList<>();
        for (int j = 0; j < 20; j++) {
          // One that is larger than all others together, so an envelope needs little more.
          long bytes = j == 0 ? (long) (400_000 * anyFactor()) : 100 + random.nextInt(500);
          live.add(Tensor.of(pool, bytes, j));
          if (live.size() > 1 && random.nextBoolean()) {
            live.remove(1 + random.nextInt(live.size() - 1)).close();
          }
        }
        live.forEach(Tensor::close);
      }
    }
    assertEquals(0, pool.stepStats().plans() + pool.stepStats().plannedSteps());
    assertTrue(isQuick());
  }

  @Test
  void shouldLearnAgainWhenThePlanOfThePoolIsNoneForTheTraffic() {
    build(builder().startStatisticStep(0));
    // Steps that ask for nothing end the learning with which the pool begins.
    for (int i = 0; i < KeyedSteps.MAX_LEARNING_STEPS; i++) {
      pool.collect().close();
    }
    for (int i = 0; i < 200 && !pool.isPooling(); i++) {
      step(1);
    }
    assertFalse(pool.isFastPathClosed());
    for (int i = 0; i < 400 && pool.stepStats().plans() == 0; i++) {
      step(1 + 5 * random.nextDouble());
    }
    assertEquals(1, pool.stepStats().plans());
    assertTrue(pool.isFastPathClosed());
    long before = shared();
    step(1);
    assertEquals(before, shared());
  }

  @Test
  void shouldSayThatItPoolsWhenOnlyStepsHaveAPlan() {
    build(builder());
    assertFalse(pool.isPooling());
    for (int i = 0; i < 20; i++) {
      step(anyFactor());
    }
    assertEquals(1, pool.stepStats().plans());
    assertTrue(pool.isPooling());
    assertFalse(pool.replan(), "there is no plan of the pool to replace");
    pool.close();
    assertFalse(pool.isPooling());
  }

  @Test
  void shouldServeTheFirstStepWhenAPlanWasKept() throws IOException {
    learn();
    step(1);
    Path file = directory.resolve("plan.json");
    assertEquals(0, pool.plan().save(file));
    build(TensorPoolAllocator.builder().plan(file));
    assertTrue(pool.isPooling());
    for (double factor : new double[] {0.4, 1, 0.3}) {
      step(factor);
    }
    assertEquals(0, shared());
    assertEquals(3, pool.stepStats().plannedSteps());
    assertEquals(List.of(), pool.plan().steps().stream().filter(s -> !s.isImplicit()).toList());
  }

  @Test
  void shouldKeepWhatIsAskedOfThePoolApartFromWhatIsAskedOfTheStep() throws IOException {
    learn();
    Path file = directory.resolve("plan.json");
    pool.plan().save(file);
    build(TensorPoolAllocator.builder().plan(file));
    try (ScopedMemoryCollector step = pool.collect(null)) {
      step.allocate(MODEL[0]).close();
    }
    assertEquals(0, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldNotLearnWhereThePoolHasAPlan() {
    build(builder().planner(Steps.planner(1)));
    Pools.learn(pool, 100_000, 400_000, 50_000, 300_000, 200_000);
    assertTrue(pool.isPooling());
    for (int i = 0; i < 5; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        assertFalse(pool.isFastPathClosed());
        work(anyFactor(), MODEL);
      }
    }
    assertEquals(0, pool.stepStats().plans());
  }

  @Test
  void shouldBarTheWaysOnlyWhileALearningStepIsOpen() {
    try (ScopedMemoryCollector step = pool.collect()) {
      assertFalse(isQuick());
      work(1, MODEL);
    }
    assertTrue(isQuick());
  }

  @Test
  void shouldNotBarTheWaysOfAPoolWithoutSteps() {
    assertTrue(isQuick());
    for (int i = 0; i < 100; i++) {
      work(anyFactor(), MODEL);
      assertTrue(isQuick());
    }
  }

  @Test
  void shouldNotBarTheWaysForStepsThatAskForNothing() {
    for (int i = 0; i < KeyedSteps.MAX_LEARNING_STEPS; i++) {
      pool.collect().close();
    }
    try (ScopedMemoryCollector step = pool.collect()) {
      assertTrue(isQuick());
    }
  }

  @Test
  void shouldNotBarTheWaysWhenStepsAreNotPlanned() {
    build(builder().plannedSteps(false));
    try (ScopedMemoryCollector step = pool.collect()) {
      assertTrue(isQuick());
    }
    build(builder().enableMemoryOptimization(false));
    try (ScopedMemoryCollector step = pool.collect()) {
      assertTrue(isQuick());
    }
  }

  @Test
  void shouldEndLearningWhenAStepStaysOpenForOthers() throws Exception {
    try (ScopedMemoryCollector step = pool.collect()) {
      Threads.run(
          1,
          thread -> {
            for (int i = 0; i <= ImplicitSteps.MAX_FOREIGN_REQUESTS; i++) {
              pool.allocate(100).close();
            }
          });
      assertTrue(isQuick());
    }
  }

  @Test
  void shouldEndLearningWhenEachStepHasAnotherKey() {
    for (int i = 0; i <= ImplicitSteps.MAX_RECORDED_STEPS; i++) {
      step(i, anyFactor(), 1000);
    }
    try (ScopedMemoryCollector step = pool.collect()) {
      assertTrue(isQuick());
    }
  }

  private void endsWith(Executor executor) {
    build(builder().executor(executor));
    for (int i = 0; i < KeyedSteps.MAX_LEARNING_STEPS; i++) {
      step(anyFactor());
    }
    try (ScopedMemoryCollector step = pool.collect()) {
      assertTrue(isQuick());
    }
    assertEquals(0, pool.stepStats().plans());
  }

  @Test
  void shouldEndLearningWhenTheExecutorRefuses() {
    endsWith(
        task -> {
          throw new RejectedExecutionException("no");
        });
  }

  @Test
  void shouldEndLearningWhenTheExecutorForgets() {
    endsWith(task -> {});
  }

  // ---- closing

  @Test
  void shouldCloseWhileAStepIsLearnt() {
    ScopedMemoryCollector step = pool.collect();
    work(1, MODEL);
    pool.close();
    step.close();
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldCloseWhileAStepIsServed() {
    learn();
    ScopedMemoryCollector step = pool.collect();
    Tensor tensor = Tensor.of(pool, 90_000, 1);
    assertThrows(IllegalStateException.class, pool::close);
    tensor.close();
    pool.close();
    assertThrows(IllegalStateException.class, () -> pool.allocate(90_000));
    step.close();
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldCloseForciblyWhileAStepIsServed() {
    learn();
    ScopedMemoryCollector step = pool.collect();
    Allocation tensor = pool.allocate(90_000);
    pool.closeForcibly();
    assertThrows(IllegalStateException.class, () -> pool.allocate(90_000));
    assertThrows(IllegalStateException.class, tensor::close);
    step.close();
    assertEquals(0, source.bytesReserved());
  }
}
