package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.Isolation;
import io.prmalloc.Isolation.Fill;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The content of memory that one user of a pool leaves to the next, for every way that memory is
 * served.
 */
class PoolIsolationTest {

  private static final int LARGE = 100_000;
  private static final int SMALL = 1000;

  /** What to write with: neither zero nor poison nor a canary. */
  private static final byte SECRET = 0x5A;

  private static final byte[] SECRETS = new byte[4096];

  static {
    Arrays.fill(SECRETS, SECRET);
  }

  private final SubAllocator source = SubAllocator.direct();
  private TensorPoolAllocator pool;

  @AfterEach
  void nothingIsLeft() {
    if (pool != null) {
      pool.close();
    }
    assertEquals(0, source.bytesReserved());
  }

  private static TensorPoolBuilder builder(SubAllocator source, Isolation isolation) {
    PlannerSettings settings = PlannerSettings.DEFAULTS.withStartStep(0).withMaxSteps(0);
    return TensorPoolAllocator.builder()
        .subAllocator(source)
        .executor(Runnable::run)
        .stepPlanningTime(Duration.ZERO)
        .planner(MemoryPlannerFactory.create(settings, Runnable::run))
        .isolation(isolation);
  }

  private void open(Isolation isolation) {
    pool = builder(source, isolation).build();
  }

  /** One step with one large tensor, so that the pool serves such from then on. */
  private void learn() {
    Pools.learn(pool, LARGE + 16, 32 * 1024 + 16 * 4096);
    assertTrue(pool.isPooling());
  }

  private static byte expected(Fill fill) {
    return fill == Fill.NONE ? SECRET : fill == Fill.ZERO ? 0 : Isolation.POISON;
  }

  private static void write(ByteBuffer buffer) {
    while (buffer.hasRemaining()) {
      buffer.put(SECRETS, 0, Math.min(SECRETS.length, buffer.remaining()));
    }
  }

  private static void check(Fill fill, ByteBuffer buffer) {
    while (buffer.hasRemaining()) {
      assertEquals(expected(fill), buffer.get(), "byte " + (buffer.position() - 1));
    }
  }

  private void checkHandles(Fill fill, int bytes) {
    long address;
    try (Allocation first = pool.allocate(bytes)) {
      address = first.address();
      write(first.byteBuffer());
    }
    try (Allocation second = pool.allocate(bytes)) {
      assertEquals(address, second.address(), "the same block");
      check(fill, second.byteBuffer());
    }
  }

  private void checkRaw(Fill fill, int bytes) {
    long first = pool.allocateRaw(64, bytes);
    UnsafeApi.setMemory(first, bytes, SECRET);
    pool.deallocateRaw(first);
    long second = pool.allocateRaw(64, bytes);
    assertEquals(first, second, "the same block");
    for (int i = 0; i < bytes; i++) {
      if (UnsafeApi.getByte(second + i) != expected(fill)) {
        assertEquals(expected(fill), UnsafeApi.getByte(second + i), "byte " + i);
      }
    }
    pool.deallocateRaw(second);
  }

  @ParameterizedTest
  @EnumSource(Fill.class)
  void shouldLeaveWhatIsWantedWhenHandlesClose(Fill fill) {
    open(Isolation.NONE.withFill(fill).withCanaries(true));
    learn();
    checkHandles(fill, SMALL);
    long hits = pool.poolStats().hits();
    checkHandles(fill, LARGE);
    assertEquals(hits + 2, pool.poolStats().hits());
    assertEquals(0, pool.poolStats().misses());
  }

  @ParameterizedTest
  @EnumSource(Fill.class)
  void shouldLeaveWhatIsWantedWhenAddressesComeBack(Fill fill) {
    open(Isolation.NONE.withFill(fill).withCanaries(true));
    learn();
    checkRaw(fill, SMALL);
    // With its header it is of another size class than the one that was learnt, perhaps.
    checkRaw(fill, LARGE - 256);
  }

  @ParameterizedTest
  @EnumSource(Fill.class)
  void shouldLeaveWhatIsWantedWhenStepsArePlanned(Fill fill) {
    open(Isolation.NONE.withFill(fill).withCanaries(true));
    for (int i = 0; i < 10; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        Allocation first = step.allocate(LARGE);
        Allocation second = step.allocate(SMALL);
        if (pool.stepStats().plannedSteps() > 0) {
          check(fill, first.byteBuffer().duplicate());
          check(fill, second.byteBuffer().duplicate());
        }
        write(first.byteBuffer());
        write(second.byteBuffer());
        second.close();
        first.close();
      }
    }
    assertEquals(10 - KeyedSteps.REPEATS, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
  }

  /** A tenant that uses all that its views can show, and looks for what others left there. */
  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void shouldShowNobodyElsesBytesWhenTheLimitIsRaised(Fill fill) {
    open(Isolation.NONE.withFill(fill));
    SplittableRandom random = new SplittableRandom(7);
    List<Allocation> live = new ArrayList<>();
    for (int round = 0; round < 400; round++) {
      String key = round % 3 == 0 ? null : "step" + round % 2;
      try (ScopedMemoryCollector step = pool.collect(key)) {
        double factor = round % 5 == 0 ? 0.5 + random.nextDouble() : 1;
        for (int tensor = 0; tensor < 6; tensor++) {
          long bytes = (long) (factor * (tensor % 3 == 0 ? SMALL : LARGE >> tensor));
          useAll(live, key == null ? pool.allocate(bytes) : step.allocate(bytes));
          useAll(live, pool.allocate(1 + random.nextInt(40_000)));
          pool.deallocateRaw(pool.allocateRaw(64, bytes));
          while (live.size() > 3) {
            live.remove(random.nextInt(live.size())).close();
          }
        }
        live.forEach(Allocation::close);
        live.clear();
      }
      if (round % 50 == 49) {
        pool.trim();
        pool.replan();
      }
    }
    assertTrue(pool.poolStats().hits() > 0, "the plan served");
    assertTrue(pool.stepStats().plannedSteps() > 0, "steps were planned");
  }

  private static void useAll(List<Allocation> live, Allocation mine) {
    live.add(mine);
    ByteBuffer all = mine.byteBuffer().clear();
    for (int at = all.capacity() - 1; at >= 0; at -= 1 + at / 100) {
      assertNotEquals(SECRET, all.get(at), "byte " + at + " of " + mine);
    }
    write(all);
  }

  @Test
  void shouldFindAnOverrunInEveryKindOfMemory() {
    open(Isolation.NONE.withCanaries(true));
    assertOverrun(pool.allocate(LARGE), LARGE);
    learn();
    assertOverrun(pool.allocate(LARGE), LARGE);
    assertOverrun(pool.allocate(SMALL), SMALL);
    // A full slot and a full size class have room for canaries too.
    assertOverrun(pool.allocate(1024), 1024);
    assertOverrun(pool.allocate(32 * 1024), 32 * 1024);
    long hits = pool.poolStats().hits();
    assertOverrun(pool.allocate(32 * 1024 + 16 * 4096 - 16), 32 * 1024 + 16 * 4096 - 16);
    assertEquals(hits + 1, pool.poolStats().hits());
    for (int i = 0; i < KeyedSteps.REPEATS; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        step.allocate(LARGE).close();
      }
    }
    try (ScopedMemoryCollector step = pool.collect()) {
      assertOverrun(step.allocate(LARGE), LARGE);
    }
    assertEquals(1, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stats().bytesInUse());
  }

  /** Writes one byte too many, which the closing must find. */
  private static void assertOverrun(Allocation handle, int bytes) {
    ByteBuffer all = handle.byteBuffer();
    all.limit(all.capacity()).put(bytes, SECRET);
    IllegalStateException overrun = assertThrows(IllegalStateException.class, handle::close);
    assertEquals(
        "allocation of " + bytes + " bytes was written beyond its end, at byte " + bytes,
        overrun.getMessage());
    assertThrows(IllegalStateException.class, handle::close, "it is closed");
  }

  @Test
  void shouldFindAnOverrunWhenAnAddressComesBack() {
    open(Isolation.NONE.withCanaries(true));
    learn();
    for (int bytes : new int[] {0, 1, SMALL, LARGE, 4 * LARGE}) {
      long address = pool.allocateRaw(64, bytes);
      UnsafeApi.putByte(address + bytes, SECRET);
      assertThrows(IllegalStateException.class, () -> pool.deallocateRaw(address));
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
    }
    assertEquals(0, pool.stats().bytesInUse());
  }

  @Test
  void shouldBlameTheBlockBeforeWhenSomebodyWritesInFront() {
    open(Isolation.NONE.withCanaries(true));
    List<Allocation> slots = Pools.take(pool, SMALL, SMALL, SMALL);
    Allocation first = slots.get(0);
    Allocation behind =
        slots.stream().filter(other -> other.address() > first.address()).findFirst().orElseThrow();
    Allocation inFront =
        slots.stream()
            .filter(other -> other.address() < behind.address())
            .reduce((one, other) -> one.address() > other.address() ? one : other)
            .orElseThrow();
    UnsafeApi.putByte(behind.address() - 1, SECRET);
    assertThrows(IllegalStateException.class, inFront::close);
    slots.stream().filter(slot -> slot != inFront).forEach(Allocation::close);
  }

  @Test
  void shouldServeFromThePlanAndTellObserversWhenIsolated(@TempDir Path directory) {
    open(Isolation.NONE.withFill(Fill.POISON).withCanaries(true));
    learn();
    Path file = directory.resolve("recording");
    try (var recording = pool.record(file)) {
      checkHandles(Fill.POISON, LARGE);
      checkHandles(Fill.POISON, SMALL);
      assertEquals(8, recording.events() + recording.unrecordedEvents());
    }
    checkHandles(Fill.POISON, LARGE);
    assertEquals(0, pool.poolStats().misses());
  }

  @Test
  void shouldLearnAnewWhenAKeptPlanHasNoRoomForCanaries() {
    TensorPoolAllocator plain = builder(source, Isolation.NONE).build();
    for (int i = 0; i < KeyedSteps.REPEATS + 1; i++) {
      try (ScopedMemoryCollector step = plain.collect()) {
        step.allocate(LARGE).close();
      }
    }
    KeptPlan kept = plain.plan();
    assertEquals(1, kept.steps().size());
    plain.close();

    pool = builder(source, Isolation.NONE.withCanaries(true)).plan(kept).build();
    for (int i = 0; i < KeyedSteps.REPEATS + 1; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        step.allocate(LARGE).close();
      }
    }
    assertEquals(1, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldEndTheProcessWhenAGuardPageIsTouched(@TempDir Path directory) throws Exception {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "mmap is called on Linux only");
    for (String where : new String[] {"behind", "front"}) {
      ChildJvm.Result died = child(directory, where);
      assertTrue(died.output().startsWith("writing"), died.errors());
      assertNotEquals(0, died.exitCode(), died.output() + died.errors());
      assertTrue(died.output().contains("SIGSEGV"), died.output());
    }
    ChildJvm.Result lived = child(directory, "within");
    assertEquals(0, lived.exitCode(), lived.output() + lived.errors());
    assertTrue(lived.output().contains("alive"), lived.output());
  }

  private static ChildJvm.Result child(Path directory, String... arguments) throws Exception {
    return new ChildJvm(directory)
        .flags("--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED")
        .flags("-XX:-CreateCoredumpOnCrash")
        .inDirectory()
        .run(PoolIsolationTest.Child.class, arguments);
  }

  /** Touches memory around a block that was planned. */
  static final class Child {
    private Child() {}

    public static void main(String[] arguments) {
      SubAllocator guarded = SubAllocator.mmap(MmapOptions.DEFAULT.withGuardPages(true));
      MemoryPlanner planner =
          MemoryPlannerFactory.create(
              PlannerSettings.DEFAULTS.withStartStep(0).withMaxSteps(0), Runnable::run);
      TensorPoolAllocator pool =
          TensorPoolAllocator.builder().subAllocator(guarded).planner(planner).build();
      Pools.learn(pool, LARGE, LARGE, LARGE);
      List<Allocation> blocks = Pools.take(pool, LARGE, LARGE, LARGE);
      if (pool.poolStats().hits() != 3) {
        throw new AssertionError("not planned: " + pool.poolStats());
      }
      Allocation block = blocks.get(1);
      int capacity = block.byteBuffer().capacity();
      System.out.println("writing");
      System.out.flush();
      switch (arguments[0]) {
        case "behind" -> UnsafeApi.putByte(block.address() + capacity, SECRET);
        case "front" -> UnsafeApi.putByte(block.address() - 4096, SECRET);
        default -> {
          UnsafeApi.putByte(block.address() + capacity - 1, SECRET);
          UnsafeApi.putByte(block.address(), SECRET);
        }
      }
      System.out.println("alive");
      blocks.forEach(Allocation::close);
      pool.close();
    }
  }
}
