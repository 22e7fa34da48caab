package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Steps that are asked for memory by {@code step.allocate}. */
class PlannedStepsTest extends PlannedStepsPool {

  /** Bytes that count up: what tensors are filled with, each from a mark of its own. */
  private static final byte[] COUNT = new byte[128 * KIB];

  static {
    for (int i = 0; i < COUNT.length; i++) {
      COUNT[i] = (byte) i;
    }
  }

  /** Asks for sizes one after the other; all live until the next but one is there. */
  private static void run(ScopedMemoryCollector step, int... sizes) {
    Allocation older = null;
    Allocation newer = null;
    for (int size : sizes) {
      Allocation next = step.allocate(size);
      next.byteBuffer().put(0, (byte) size);
      if (older != null) {
        older.close();
      }
      older = newer;
      newer = next;
    }
    if (older != null) {
      older.close();
    }
    newer.close();
  }

  private void steps(int count, int... sizes) {
    for (int i = 0; i < count; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        run(step, sizes);
      }
    }
  }

  @Test
  void shouldPlanWhenStepsRepeat() {
    int[] sizes = {64 * KIB, 1, 128 * KIB, 64 * KIB, 100};
    steps(KeyedSteps.REPEATS, sizes);
    StepStats learnt = pool.stepStats();
    assertEquals(1, learnt.plans());
    assertEquals(1, learnt.arenas());
    assertEquals(0, learnt.plannedSteps());
    // What lives at once at most: the last three.
    assertEquals(192 * KIB + 100, learnt.arenaBytes());
    pool.trimHeap();
    assertEquals(learnt.arenaBytes(), source.bytesReserved());

    steps(10, sizes);

    StepStats planned = pool.stepStats();
    assertEquals(10, planned.plannedSteps());
    assertEquals(0, planned.departedSteps());
    assertEquals(KeyedSteps.REPEATS, planned.unplannedSteps());
    assertEquals(planned.arenaBytes(), source.bytesReserved());
  }

  /** Steps of which no two have the same structure: what is large in one is small in the others. */
  private void unlikeSteps() {
    for (int i = 0; i < KeyedSteps.MAX_LEARNING_STEPS; i++) {
      int[] sizes = new int[KeyedSteps.MAX_LEARNING_STEPS];
      Arrays.fill(sizes, 64);
      sizes[i] = 64 * KIB;
      try (ScopedMemoryCollector step = pool.collect()) {
        List<Allocation> all = new ArrayList<>();
        for (int size : sizes) {
          all.add(step.allocate(size));
        }
        all.forEach(Allocation::close);
      }
    }
  }

  @Test
  void shouldNotPlanWhenStepsNeverRepeat() {
    unlikeSteps();
    steps(KeyedSteps.REPEATS, 64 * KIB, 32 * KIB);
    assertEquals(0, pool.stepStats().plans());
    assertEquals(0, pool.stepStats().arenaBytes());
    assertEquals(
        KeyedSteps.MAX_LEARNING_STEPS + KeyedSteps.REPEATS, pool.stepStats().unplannedSteps());
  }

  @Test
  void shouldLearnAgainWhenStepsRepeatAfterAll() {
    unlikeSteps();
    steps(KeyedSteps.MIN_SHARED_STEPS, 64 * KIB, 32 * KIB);
    assertEquals(0, pool.stepStats().plans());
    steps(KeyedSteps.REPEATS, 64 * KIB, 32 * KIB);
    assertEquals(1, pool.stepStats().plans());
  }

  @Test
  void shouldServeTheRestFromElsewhereWhenAStepDeparts() {
    steps(KeyedSteps.REPEATS, 64 * KIB, 64 * KIB, 64 * KIB);
    try (ScopedMemoryCollector step = pool.collect();
        Allocation first = step.allocate(64 * KIB);
        Allocation other = step.allocate(65 * KIB);
        Allocation third = step.allocate(64 * KIB)) {
      List<Allocation> all = List.of(first, other, third);
      for (int i = 0; i < all.size(); i++) {
        fill(all.get(i), i);
      }
      for (int i = 0; i < all.size(); i++) {
        check(all.get(i), i);
      }
    }
    assertEquals(1, pool.stepStats().departedSteps());
    steps(1, 64 * KIB, 64 * KIB, 64 * KIB);
    assertEquals(1, pool.stepStats().departedSteps());
    assertEquals(2, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldKeepTensorsApartWhenOneIsReleasedLate() {
    // In the steps that are learnt each tensor is gone before the next is there.
    for (int i = 0; i < KeyedSteps.REPEATS; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        for (int j = 0; j < 4; j++) {
          step.allocate(64 * KIB).close();
        }
      }
    }
    assertEquals(64 * KIB, pool.stepStats().arenaBytes());
    try (ScopedMemoryCollector step = pool.collect()) {
      Allocation late = step.allocate(64 * KIB);
      fill(late, 1);
      Allocation next = step.allocate(64 * KIB);
      fill(next, 2);
      check(late, 1);
      check(next, 2);
      late.close();
      next.close();
    }
    assertEquals(1, pool.stepStats().departedSteps());
  }

  @Test
  void shouldNotReuseAnArenaWhileATensorOutlivesItsStep() {
    steps(KeyedSteps.REPEATS, 64 * KIB, 64 * KIB);
    Allocation survivor;
    try (ScopedMemoryCollector step = pool.collect()) {
      Allocation first = step.allocate(64 * KIB);
      survivor = step.allocate(64 * KIB);
      fill(survivor, 7);
      first.close();
    }
    // No arena is free: the step is shared, and a second arena is made meanwhile.
    steps(2, 64 * KIB, 64 * KIB);
    check(survivor, 7);
    assertEquals(2, pool.stepStats().arenas());
    assertEquals(
        "allocator tensorpool_cpu still has 1 allocations of 65536 bytes in use;"
            + " closeForcibly() takes them away",
        assertThrows(IllegalStateException.class, pool::close).getMessage());
    steps(1, 64 * KIB, 64 * KIB);
    check(survivor, 7);
    survivor.close();
    assertThrows(IllegalStateException.class, survivor::close);
  }

  @Test
  void shouldPlanEachKindOnItsOwn() {
    for (int i = 0; i < 20; i++) {
      try (ScopedMemoryCollector step = pool.collect("small")) {
        run(step, 64 * KIB, 64 * KIB);
      }
      try (ScopedMemoryCollector step = pool.collect("large")) {
        run(step, 64 * KIB, 640 * KIB);
      }
      // Told by the first request alone.
      steps(1, 65 * KIB, 66 * KIB);
    }
    StepStats stats = pool.stepStats();
    assertEquals(3, stats.plans());
    assertEquals(3 * KeyedSteps.REPEATS, stats.unplannedSteps());
    assertEquals(0, stats.departedSteps());
  }

  @Test
  void shouldPlanAnewWhenTheTrafficChanges() {
    steps(KeyedSteps.REPEATS + 5, 64 * KIB, 64 * KIB);
    assertEquals(128 * KIB, pool.stepStats().arenaBytes());
    steps(1, 64 * KIB, 256 * KIB);
    StepStats changed = pool.stepStats();
    assertEquals(1, changed.raisedPlans());
    assertEquals(1, changed.replans());
    assertEquals(1, changed.plans());
    assertEquals(320 * KIB, changed.arenaBytes());
    assertEquals(1, changed.departedSteps());
    assertEquals(1, changed.departedRequests());
    steps(5, 64 * KIB, 256 * KIB);
    steps(5, 64 * KIB, 64 * KIB);
    assertEquals(1, pool.stepStats().departedSteps());
    assertEquals(1, pool.stepStats().replans());
  }

  @Test
  void shouldServeAStepThatIsCutShort() {
    steps(KeyedSteps.REPEATS, 64 * KIB, 64 * KIB);
    for (int i = 0; i < 20; i++) {
      steps(1, 64 * KIB);
      steps(1, 64 * KIB, 64 * KIB);
    }
    assertEquals(40, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().replans());
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldGiveSharedMemoryToOtherThreads() throws InterruptedException {
    steps(KeyedSteps.REPEATS, 64 * KIB, 64 * KIB);
    try (ScopedMemoryCollector step = pool.collect()) {
      Allocation first = step.allocate(64 * KIB);
      fill(first, 1);
      AtomicReference<Allocation> other = new AtomicReference<>();
      Thread thread = new Thread(() -> other.set(step.allocate(64 * KIB)));
      thread.start();
      thread.join();
      fill(other.get(), 2);
      Allocation second = step.allocate(64 * KIB);
      fill(second, 3);
      check(first, 1);
      check(other.get(), 2);
      first.close();
      Thread closer = new Thread(second::close);
      closer.start();
      closer.join();
      assertThrows(IllegalStateException.class, second::close);
      other.get().close();
    }
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldGiveUpAnArenaWhenAnotherThreadEndsItsStep() throws InterruptedException {
    steps(KeyedSteps.REPEATS, 64 * KIB, 64 * KIB);
    ScopedMemoryCollector step = pool.collect();
    Allocation open = step.allocate(64 * KIB);
    Thread thread = new Thread(step::close);
    thread.start();
    thread.join();
    assertEquals(
        "this step is closed",
        assertThrows(IllegalStateException.class, () -> step.allocate(64 * KIB)).getMessage());
    assertEquals(1, pool.stepStats().departedSteps());
    open.close();
    assertEquals(1, pool.stepStats().arenas());
    steps(1, 64 * KIB, 64 * KIB);
    // This thread is the one that owned it, and here it is: the memory can go.
    assertEquals(1, pool.stepStats().arenas());
    assertEquals(128 * KIB, pool.stepStats().arenaBytes());
    assertEquals(0, pool.trimSteps(Duration.ofDays(1)));
  }

  @Test
  void shouldServeWhatIsNotPlannedBesidesWithoutDeparting() {
    for (int i = 0; i < KeyedSteps.REPEATS + 2; i++) {
      try (ScopedMemoryCollector step = pool.collect();
          Allocation first = step.allocate(64 * KIB);
          Allocation empty = step.allocate(0);
          Allocation aligned = step.allocate(64 * KIB, 4096);
          Allocation second = step.allocate(64 * KIB, 8)) {
        assertEquals(0, empty.byteBuffer().remaining());
        assertTrue(aligned.byteBuffer().alignmentOffset(0, 4096) == 0);
        assertEquals(64 * KIB, first.byteBuffer().remaining());
        assertEquals(64 * KIB, second.byteBuffer().remaining());
      }
    }
    assertEquals(2, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldRefuseBadRequestsAndLoseNothing() {
    steps(KeyedSteps.REPEATS, 64 * KIB, 64 * KIB);
    try (ScopedMemoryCollector step = pool.collect()) {
      assertThrows(IllegalArgumentException.class, () -> step.allocate(-1));
      assertThrows(IllegalArgumentException.class, () -> step.allocate(64, 3));
      assertThrows(IllegalArgumentException.class, () -> step.allocateRaw(-1));
      run(step, 64 * KIB, 64 * KIB);
      assertEquals(0, pool.stats().bytesInUse());
    }
    ScopedMemoryCollector over = pool.collect();
    over.close();
    over.close();
    assertThrows(IllegalStateException.class, () -> over.allocate(1));
    assertThrows(IllegalStateException.class, () -> over.allocateRaw(1));
    assertEquals(0, pool.stats().bytesInUse());
  }

  @Test
  void shouldServeFromTheSharedPoolWhenPlannedStepsAreOff() {
    pool.close();
    pool = builder().plannedSteps(false).build();
    steps(10, 64 * KIB, 64 * KIB);
    assertEquals(0, pool.stepStats().plans());
    assertEquals(0, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldRefuseToCloseWhileAStepIsOpen() {
    steps(KeyedSteps.REPEATS, 64 * KIB, 64 * KIB);
    try (ScopedMemoryCollector step = pool.collect()) {
      step.allocate(64 * KIB).close();
      assertThrows(IllegalStateException.class, pool::close);
      step.allocate(64 * KIB).close();
    }
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldEndOpenHandlesWhenClosedByForce() {
    steps(KeyedSteps.REPEATS, 64 * KIB, 64 * KIB);
    ScopedMemoryCollector step = pool.collect();
    Allocation open = step.allocate(64 * KIB);
    pool.closeForcibly();
    assertThrows(IllegalStateException.class, open::byteBuffer);
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldNeverOverlapWhenStepsDoWhatTheyLike() {
    for (long seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      int[] sizes = random.ints(1 + random.nextInt(30), 1, 5000).toArray();
      int[] lives = random.ints(sizes.length, 0, 6).toArray();
      for (int step = 0; step < 12; step++) {
        boolean departs = step > 4 && random.nextInt(3) == 0;
        long departed = pool.stepStats().departedSteps();
        randomStep(seed, random, sizes, lives, departs);
        if (!departs) {
          assertEquals(departed, pool.stepStats().departedSteps(), "seed " + seed);
        }
      }
      assertEquals(0, pool.stats().bytesInUse(), "seed " + seed);
      pool.trimSteps(Duration.ZERO);
    }
  }

  private void randomStep(long seed, Random random, int[] sizes, int[] lives, boolean departs) {
    record Live(Allocation allocation, int end, int mark) {}
    List<Live> live = new ArrayList<>();
    try (ScopedMemoryCollector step = pool.collect(seed)) {
      for (int i = 0; i < sizes.length; i++) {
        int now = i;
        live.removeIf(
            tensor -> {
              if (tensor.end > now) {
                return false;
              }
              check(tensor.allocation, tensor.mark);
              tensor.allocation.close();
              return true;
            });
        boolean otherSize = departs && random.nextInt(20) == 0;
        Allocation allocation = step.allocate(sizes[i] + (otherSize ? 1 : 0));
        fill(allocation, i);
        int late = departs && random.nextInt(5) == 0 ? 10 : 0;
        live.add(new Live(allocation, i + 1 + lives[i] + late, i));
      }
    }
    for (Live tensor : live) {
      check(tensor.allocation, tensor.mark);
      tensor.allocation.close();
    }
  }

  private static void fill(Allocation allocation, int mark) {
    allocation.byteBuffer().put(0, COUNT, mark & 0xff, (int) allocation.sizeBytes());
  }

  private static void check(Allocation allocation, int mark) {
    ByteBuffer found = allocation.byteBuffer();
    int size = (int) allocation.sizeBytes();
    int other = found.mismatch(ByteBuffer.wrap(COUNT, mark & 0xff, size));
    if (other >= 0) {
      assertEquals((byte) (mark + other), found.get(other), "byte " + other);
    }
  }

  @Test
  void shouldKeepStepsOfManyThreadsApart() throws InterruptedException {
    int threads = 8;
    int[] sizes = new Random(1).ints(100, 1, 20_000).toArray();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> workers = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int mark = t;
      Thread worker = new Thread(() -> manySteps(sizes, mark, failure));
      workers.add(worker);
      worker.start();
    }
    for (Thread worker : workers) {
      worker.join();
    }
    assertFalse(failure.get() != null, () -> String.valueOf(failure.get()));
    assertTrue(pool.stepStats().plannedSteps() > 0);
    assertTrue(pool.stepStats().arenas() <= threads, () -> pool.stepStats().toString());
  }

  private void manySteps(int[] sizes, int mark, AtomicReference<Throwable> failure) {
    try {
      for (int i = 0; i < 60; i++) {
        try (ScopedMemoryCollector step = pool.collect()) {
          ArrayList<Allocation> live = new ArrayList<>();
          for (int size : sizes) {
            Allocation next = step.allocate(size);
            fill(next, mark + live.size());
            live.add(next);
            if (live.size() == 5) {
              for (int j = 0; j < 5; j++) {
                check(live.get(j), mark + j);
                live.get(j).close();
              }
              live.clear();
            }
          }
          live.forEach(Allocation::close);
        }
      }
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  @Test
  void shouldShowEachKindWhenDumped() {
    assertFalse(pool.dumpStats().contains("steps:"), pool.dumpStats());
    steps(KeyedSteps.REPEATS + 2, 64 * KIB, 100);
    try (ScopedMemoryCollector step = pool.collect("batch 8")) {
      step.allocate(128 * KIB).close();
    }
    List<String> lines = pool.dumpStats().lines().skip(3).toList();
    assertEquals(
        "steps: planned 2, of them departed 0, unplanned 4, replans 0, arenas 1 of 65,636 bytes;"
            + " plans raised 0, lowered 0; requests departed 0",
        lines.get(0));
    assertTrue(lines.get(1).endsWith("key"), lines.get(1));
    assertEquals("65,536 planned 2 0 3 1 65,636 -", lines.get(2).trim().replaceAll(" +", " "));
    assertEquals("131,072 learning 0 0 1 0 0 batch 8", lines.get(3).trim().replaceAll(" +", " "));
    assertEquals(4, lines.size());
    try (ScopedMemoryCollector step = pool.collect()) {
      step.allocate(64 * KIB).close();
      step.allocate(200).close();
      step.allocate(300 * KIB).close();
    }
    String counts = pool.dumpStats().lines().skip(3).findFirst().orElseThrow();
    assertTrue(counts.contains("plans raised 1, lowered 0; requests departed 2"), counts);
  }
}
