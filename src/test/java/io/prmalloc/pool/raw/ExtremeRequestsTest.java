package io.prmalloc.pool.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorWrapper;
import io.prmalloc.CpuAllocator;
import io.prmalloc.Isolation;
import io.prmalloc.MmapOptions;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.TrackingAllocator;
import io.prmalloc.arrow.PrmallocAllocationManager;
import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.element.TypedAllocation;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.netty.PrmallocByteBufAllocator;
import io.prmalloc.onnxruntime.TensorMemory;
import io.prmalloc.pool.LeakDetection;
import io.prmalloc.pool.StepStats;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Sizes and alignments out of range, at every method that allocates and after every kind of
 * traffic.
 */
@SuppressWarnings("try") // what is opened is there to be open
class ExtremeRequestsTest {

  private static final int SIZE = 128 * 1024;
  private static final long MEMORY = 64L << 20;
  private static final long MOST = Integer.MAX_VALUE;
  private static final long MOST_ADDRESSED = 1L << 47;

  private static final long[] ALIGNMENTS = {
    Long.MIN_VALUE,
    -(1L << 32),
    -64,
    -1,
    0,
    1,
    2,
    3,
    63,
    64,
    65,
    128,
    4096,
    1 << 30,
    (1 << 30) + 64,
    1L << 31,
    1L << 32,
    (1L << 32) + 64,
    1L << 62,
    Long.MAX_VALUE,
  };

  /** What a pool has seen before the requests come. */
  enum Traffic {
    NONE(false) {
      @Override
      void on(TensorPoolAllocator pool) {}
    },
    HANDLES(true) {
      @Override
      void on(TensorPoolAllocator pool) {
        learn(pool);
        handles(pool);
      }
    },
    RAW(true) {
      @Override
      void on(TensorPoolAllocator pool) {
        learn(pool);
        raw(pool);
      }
    },
    BOTH(true) {
      @Override
      void on(TensorPoolAllocator pool) {
        learn(pool);
        handles(pool);
        raw(pool);
      }
    },
    LEARNING(true) {
      @Override
      void on(TensorPoolAllocator pool) {
        step(pool, 1);
        planned(pool);
      }
    },
    REPLANNED(true) {
      @Override
      void on(TensorPoolAllocator pool) {
        learn(pool);
        raw(pool);
        assertTrue(pool.replan());
        for (int step = 0; pool.poolStats().replans() == 0; step++) {
          assertTrue(step < 1000, "there is no second plan");
          step(pool, 2);
        }
        raw(pool);
      }
    },
    PLANNED_STEPS(true) {
      @Override
      void on(TensorPoolAllocator pool) {
        while (pool.stepStats().plannedSteps() == 0) {
          planned(pool);
        }
      }
    },
    STEPS_OF_THE_THREAD(true) {
      @Override
      void on(TensorPoolAllocator pool) {
        for (int step = 0; pool.stepStats().plannedSteps() == 0; step++) {
          assertTrue(step < 1000, "nothing is planned");
          step(pool, 1 + step % 5);
        }
      }
    },
    OBSERVED(true) {
      @Override
      TensorPoolBuilder with(TensorPoolBuilder builder) {
        return builder.leakDetection(LeakDetection.PARANOID);
      }

      @Override
      void on(TensorPoolAllocator pool) {
        BOTH.on(pool);
      }
    },
    ISOLATED(true) {
      @Override
      TensorPoolBuilder with(TensorPoolBuilder builder) {
        return builder.isolation(Isolation.NONE.withFill(Isolation.Fill.ZERO).withCanaries(true));
      }

      @Override
      void on(TensorPoolAllocator pool) {
        BOTH.on(pool);
      }
    },
    MAPPED(true) {
      @Override
      SubAllocator memory() {
        return SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(MEMORY))
            .ifUsableElse(super.memory());
      }

      @Override
      void on(TensorPoolAllocator pool) {
        BOTH.on(pool);
      }
    },
    GUARDED(true) {
      @Override
      SubAllocator memory() {
        return SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(MEMORY).withGuardPages(true))
            .ifUsableElse(super.memory());
      }

      @Override
      void on(TensorPoolAllocator pool) {
        BOTH.on(pool);
      }
    },
    ALIGNED(true) {
      @Override
      void on(TensorPoolAllocator pool) {
        learn(pool);
        for (int i = 0; i < 1000; i++) {
          pool.deallocateRaw(pool.allocateRaw(4096, SIZE));
          pool.deallocateRaw(pool.allocateRaw(1 << 20, SIZE));
          pool.allocate(100, 4096).close();
        }
      }
    };

    private final boolean planning;

    Traffic(boolean planning) {
      this.planning = planning;
    }

    abstract void on(TensorPoolAllocator pool);

    TensorPoolBuilder with(TensorPoolBuilder builder) {
      return builder;
    }

    SubAllocator memory() {
      return SubAllocator.direct(MEMORY);
    }

    static void learn(TensorPoolAllocator pool) {
      for (int step = 0; !pool.isPooling(); step++) {
        assertTrue(step < 1000, "there is no plan");
        step(pool, 1);
      }
    }

    /** Asks the pool, from within a step. */
    static void step(TensorPoolAllocator pool, int times) {
      try (ScopedMemoryCollector step = pool.collect();
          Allocation one = pool.allocate((long) times * SIZE);
          Allocation other = pool.allocate(times * 2L * SIZE)) {
        long address = pool.allocateRaw(64, (long) times * SIZE);
        pool.deallocateRaw(address);
      }
    }

    static void planned(TensorPoolAllocator pool) {
      try (ScopedMemoryCollector step = pool.collect("planned");
          Allocation one = step.allocate(SIZE)) {
        step.deallocateRaw(step.allocateRaw(2 * SIZE));
      }
    }

    static void handles(TensorPoolAllocator pool) {
      for (int i = 0; i < 1000; i++) {
        pool.allocate(SIZE).close();
      }
    }

    /** A sample of a block's uses is learnt from, one in 256. */
    static void raw(TensorPoolAllocator pool) {
      for (int i = 0; i < 1000; i++) {
        pool.deallocateRaw(pool.allocateRaw(64, SIZE));
        pool.deallocateRaw(pool.allocateRaw(32, 100));
      }
    }
  }

  /** Whatever a cast, a shift or a sum could take for a size of the traffic. */
  private static Set<Long> sizes() {
    Set<Long> sizes = new LinkedHashSet<>();
    for (long near :
        new long[] {Long.MIN_VALUE, -(1L << 32), -(1L << 31), 0, MOST, 1L << 32, Long.MAX_VALUE}) {
      for (long by : new long[] {-64, -1, 0, 1, 64}) {
        sizes.add(near + by);
      }
    }
    for (int bit = 31; bit < Long.SIZE; bit++) {
      for (long low : new long[] {100, SIZE}) {
        sizes.add((1L << bit) + low);
        sizes.add(-(1L << bit) + low);
      }
    }
    // The header that an address has, where an extent has it.
    for (long header : new long[] {1, 32, 64, 128, 4096}) {
      sizes.add((header << 32) + SIZE);
    }
    sizes.add(100L);
    sizes.add((long) SIZE);
    return sizes;
  }

  /** Of most sizes a few will do. The largest takes too much memory for a size that is right. */
  private static long[] alignments(long bytes) {
    if (bytes == -1 || bytes == Long.MIN_VALUE || bytes == (1L << 32) + SIZE) {
      return ALIGNMENTS;
    }
    return bytes == SIZE || bytes == 100
        ? Arrays.stream(ALIGNMENTS).filter(alignment -> alignment != 1 << 30).toArray()
        : new long[] {0, 64, 128};
  }

  private static boolean isAlignment(long alignment) {
    return alignment >= 1 && alignment <= 1 << 30 && Long.bitCount(alignment) == 1;
  }

  private static TensorPoolAllocator pool(Traffic traffic, SubAllocator memory) {
    return traffic
        .with(TensorPoolAllocator.builder())
        .executor(Runnable::run)
        .subAllocator(memory)
        .startStatisticStep(0)
        .stableStatisticStep(2)
        .enableMemoryOptimization(traffic.planning)
        .build();
  }

  private interface Entry {
    /** What came of it, to be closed; null if there was no memory. */
    AutoCloseable ask() throws Exception;
  }

  private static void check(String what, long bytes, long alignment, Entry entry) throws Exception {
    check(what, bytes, alignment, MOST_ADDRESSED, entry);
  }

  private static void check(String what, long bytes, long alignment, long most, Entry entry)
      throws Exception {
    boolean right = bytes >= 0 && bytes <= most && isAlignment(alignment);
    String request = what + " of " + bytes + " bytes at " + alignment;
    try (AutoCloseable given = entry.ask()) {
      if (!right) {
        fail(request + ": granted, " + given);
      }
      if (given instanceof Allocation handle) {
        assertEquals(bytes, handle.sizeBytes(), request);
        if (bytes <= MOST) {
          assertEquals(bytes, handle.byteBuffer().remaining(), request);
        } else {
          assertThrows(UnsupportedOperationException.class, handle::byteBuffer);
        }
      }
    } catch (OutOfNativeMemoryException e) {
      assertTrue(right, () -> request + ": " + e);
    } catch (IllegalArgumentException e) {
      String message = e.getMessage();
      assertFalse(right, () -> request + ": " + message);
      assertTrue(
          message.contains(String.valueOf(bytes)) || message.contains(String.valueOf(alignment)),
          () -> request + ": " + message);
    }
  }

  private static AutoCloseable raw(Allocator allocator, long address) {
    return address == 0 ? null : () -> allocator.deallocateRaw(address);
  }

  private static void askAllocator(Allocator allocator, long bytes) throws Exception {
    String name = allocator.getClass().getSimpleName();
    AllocationAttributes attributes = AllocationAttributes.DEFAULT;
    check(name + ".allocate", bytes, 1, () -> allocator.allocate(bytes));
    check(name + ".allocateRaw", bytes, 64, () -> raw(allocator, allocator.allocateRaw(64, bytes)));
    check(
        name + ".allocate typed",
        bytes,
        1,
        MOST,
        () -> {
          TypedAllocation<?> typed = allocator.allocate(ElementTypes.UINT8, bytes);
          return typed;
        });
    for (long alignment : alignments(bytes)) {
      check(name + ".allocate", bytes, alignment, () -> allocator.allocate(bytes, alignment));
      check(
          name + ".allocate with attributes",
          bytes,
          alignment,
          () -> allocator.allocate(bytes, alignment, attributes));
      check(
          name + ".allocateRaw",
          bytes,
          alignment,
          () -> raw(allocator, allocator.allocateRaw(alignment, bytes)));
      check(
          name + ".allocateRaw with attributes",
          bytes,
          alignment,
          () -> raw(allocator, allocator.allocateRaw(alignment, bytes, attributes)));
    }
  }

  private static void askStep(ScopedMemoryCollector step, long bytes) throws Exception {
    check("step.allocate", bytes, 1, () -> step.allocate(bytes));
    for (long alignment : alignments(bytes)) {
      check("step.allocate", bytes, alignment, () -> step.allocate(bytes, alignment));
    }
    check(
        "step.allocateRaw",
        bytes,
        64,
        () -> {
          long address = step.allocateRaw(bytes);
          return address == 0 ? null : () -> step.deallocateRaw(address);
        });
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefuseWhatNoRequestHasAfterAnyTraffic(Traffic traffic) throws Exception {
    SubAllocator source = traffic.memory();
    try (TensorPoolAllocator pool = pool(traffic, source)) {
      traffic.on(pool);
      TrackingAllocator tracking = new TrackingAllocator(pool, true);
      AllocatorWrapper wrapper = new AllocatorWrapper(pool) {};
      for (long bytes : sizes()) {
        askAllocator(pool, bytes);
        check("wrapped", bytes, 64, () -> wrapper.allocate(bytes));
        check("tracked", bytes, 64, () -> tracking.allocate(bytes));
        try (ScopedMemoryCollector step = pool.collect()) {
          askAllocator(pool, bytes);
        }
        for (String key : new String[] {"planned", "new"}) {
          try (ScopedMemoryCollector step = pool.collect(key)) {
            askStep(step, bytes);
          }
        }
        assertEquals(0, pool.stats().bytesInUse(), () -> "after " + bytes);
      }
    }
    assertEquals(0, source.bytesReserved());
  }

  @ParameterizedTest
  @EnumSource
  void shouldTakeBackNoAddressThatIsNotOutAfterAnyTraffic(Traffic traffic) {
    try (TensorPoolAllocator pool = pool(traffic, traffic.memory())) {
      traffic.on(pool);
      long large = pool.allocateRaw(64, SIZE);
      long small = pool.allocateRaw(64, 100);
      Set<Long> addresses = sizes();
      for (int bit = 0; bit < Long.SIZE; bit += 3) {
        addresses.add(large ^ (1L << bit));
        addresses.add(small ^ (1L << bit));
      }
      // The two may differ in a single bit.
      addresses.removeAll(Set.of(0L, large, small));
      LongConsumer[] entries = {
        pool::deallocateRaw,
        pool::requestedSize,
        pool::allocatedSize,
        pool::allocatedSizeSlow,
        pool::allocationId,
      };
      try (ScopedMemoryCollector step = pool.collect("planned")) {
        for (long address : addresses) {
          for (LongConsumer entry : entries) {
            assertThrows(IllegalArgumentException.class, () -> entry.accept(address));
          }
          assertThrows(IllegalArgumentException.class, () -> step.deallocateRaw(address));
        }
      }
      pool.deallocateRaw(large);
      pool.deallocateRaw(small);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"PLANNED_STEPS", "STEPS_OF_THE_THREAD"})
  void shouldGoOnAsPlannedWhenARequestIsLargerThanABuffer(Traffic traffic) {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "mmap is called on Linux only");
    long large = 5L << 30;
    try (TensorPoolAllocator pool = pool(traffic, SubAllocator.direct())) {
      traffic.on(pool);
      StepStats before = pool.stepStats();
      try (ScopedMemoryCollector step = pool.collect("planned");
          Allocation one = step.allocate(large);
          Allocation other = pool.allocate(large)) {
        long address = step.allocateRaw(large);
        assertEquals(3 * large, pool.stats().bytesInUse());
        step.deallocateRaw(address);
        if (traffic == Traffic.PLANNED_STEPS) {
          step.allocate(SIZE).close();
          step.deallocateRaw(step.allocateRaw(2 * SIZE));
        }
      }
      StepStats after = pool.stepStats();
      assertEquals(before.departedSteps(), after.departedSteps());
      if (traffic == Traffic.PLANNED_STEPS) {
        assertEquals(1, after.plannedSteps() - before.plannedSteps());
      }
      assertEquals(0, pool.poolStats().misses() + pool.poolStats().nullBins());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"PLANNED_STEPS", "STEPS_OF_THE_THREAD"})
  void shouldGoOnAsPlannedWhenRequestsAreRefused(Traffic traffic) {
    try (TensorPoolAllocator pool = pool(traffic, traffic.memory())) {
      traffic.on(pool);
      long[] refused =
          sizes().stream()
              .mapToLong(Long::longValue)
              .filter(b -> b < 0 || b > MOST_ADDRESSED)
              .toArray();
      StepStats before = pool.stepStats();
      for (long bytes : refused) {
        try (ScopedMemoryCollector step = pool.collect("planned")) {
          assertThrows(IllegalArgumentException.class, () -> step.allocate(bytes));
          assertThrows(IllegalArgumentException.class, () -> step.allocateRaw(bytes));
          assertThrows(IllegalArgumentException.class, () -> pool.allocate(bytes));
          assertThrows(IllegalArgumentException.class, () -> pool.allocateRaw(64, bytes));
          if (traffic == Traffic.PLANNED_STEPS) {
            try (Allocation one = step.allocate(SIZE)) {
              assertThrows(IllegalArgumentException.class, () -> step.allocate(bytes));
              assertThrows(IllegalArgumentException.class, () -> step.allocateRaw(bytes));
              step.deallocateRaw(step.allocateRaw(2 * SIZE));
            }
          }
        }
      }
      StepStats after = pool.stepStats();
      assertEquals(before.departedSteps(), after.departedSteps());
      if (traffic == Traffic.PLANNED_STEPS) {
        assertEquals(refused.length, after.plannedSteps() - before.plannedSteps());
      }
    }
  }

  /** The allocator without a pool, over every kind of memory. */
  enum Memory {
    DIRECT {
      @Override
      SubAllocator open() {
        return SubAllocator.direct(MEMORY);
      }
    },
    MAPPED {
      @Override
      SubAllocator open() {
        return Traffic.MAPPED.memory();
      }
    },
    GUARDED {
      @Override
      SubAllocator open() {
        return Traffic.GUARDED.memory();
      }
    };

    abstract SubAllocator open();
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefuseWhatNoRequestHasWithoutAPool(Memory memory) throws Exception {
    SubAllocator source = memory.open();
    try (CpuAllocator cpu = new CpuAllocator(source)) {
      long kept = cpu.allocateRaw(64, SIZE);
      LongConsumer[] entries = {
        cpu::deallocateRaw,
        cpu::requestedSize,
        cpu::allocatedSize,
        cpu::allocatedSizeSlow,
        cpu::allocationId,
      };
      for (long bytes : sizes()) {
        askAllocator(cpu, bytes);
        for (LongConsumer entry : bytes == 0 ? new LongConsumer[0] : entries) {
          assertThrows(IllegalArgumentException.class, () -> entry.accept(bytes));
          assertThrows(IllegalArgumentException.class, () -> entry.accept(kept ^ bytes));
        }
      }
      assertEquals(SIZE, cpu.stats().bytesInUse());
      cpu.deallocateRaw(kept);
    }
    assertEquals(0, source.bytesReserved());
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefuseCountsWhoseBytesAreTooMany(Traffic traffic) {
    try (TensorPoolAllocator pool = pool(traffic, traffic.memory())) {
      traffic.on(pool);
      for (ElementType<?> type :
          List.of(
              ElementTypes.INT16,
              ElementTypes.FLOAT,
              ElementTypes.INT64,
              ElementTypes.COMPLEX128,
              ElementTypes.STRING)) {
        long most = MOST / type.slotBytes();
        Set<Long> counts = sizes();
        counts.add(most + 1);
        for (long slots = 1; slots <= 8; slots++) {
          // Their bytes are a few again where a product overflows.
          counts.add(slots * (1L << 61) / type.slotBytes() * 8 + 1);
          counts.add((1L << 32) / type.slotBytes() * slots + 1);
        }
        for (long count : counts) {
          if (count < 0 || count > most) {
            String message =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> pool.allocate(type, count),
                        () -> count + " of " + type.name())
                    .getMessage();
            assertTrue(message.contains(String.valueOf(count)), message);
          }
        }
      }
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefuseWhatNoAdaptersRequestHasAfterAnyTraffic(Traffic traffic) {
    try (TensorPoolAllocator pool = pool(traffic, traffic.memory())) {
      traffic.on(pool);
      PrmallocByteBufAllocator netty = new PrmallocByteBufAllocator(pool);
      TensorMemory tensors = TensorMemory.of(pool);
      try (RootAllocator arrow =
          new RootAllocator(
              RootAllocator.configBuilder()
                  .allocationManagerFactory(PrmallocAllocationManager.factory(pool))
                  .build())) {
        for (long bytes : sizes()) {
          askNetty(netty, (int) bytes);
          boolean isTensor = bytes >= 0 && bytes <= MOST;
          checkAdapter("tensor of " + bytes, isTensor, () -> tensors.take(bytes));
          // Arrow rounds up to a power of two.
          checkAdapter("Arrow's buffer of " + bytes, bytes >= 0, () -> arrow.buffer(bytes));
        }
        assertEquals(0, arrow.getAllocatedMemory());
      }
      assertEquals(0, netty.metric().usedDirectMemory());
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  private static void askNetty(PrmallocByteBufAllocator netty, int bytes) {
    checkAdapter("buffer of " + bytes, bytes >= 0, () -> closing(netty.directBuffer(bytes)));
    checkAdapter(
        "buffer of 10 to " + bytes, bytes >= 10, () -> closing(netty.directBuffer(10, bytes)));
    ByteBuf grown = netty.directBuffer(100);
    try {
      checkAdapter("capacity " + bytes, bytes >= 0, () -> grew(grown, bytes));
    } finally {
      grown.release();
    }
  }

  private static AutoCloseable closing(ByteBuf buffer) {
    return buffer::release;
  }

  private static AutoCloseable grew(ByteBuf buffer, int bytes) {
    assertEquals(bytes, buffer.capacity(bytes).capacity());
    return () -> {};
  }

  /** Adapters refuse as their frameworks do: an argument, or memory that is not to be had. */
  private static void checkAdapter(String what, boolean right, Entry entry) {
    try (AutoCloseable given = entry.ask()) {
      assertTrue(right, () -> what + ": granted, " + given);
    } catch (OutOfNativeMemoryException | OutOfMemoryException e) {
      assertTrue(right || e instanceof OutOfMemoryException, () -> what + ": " + e);
    } catch (IllegalArgumentException e) {
      assertFalse(right && !what.startsWith("Arrow"), () -> what + ": " + e);
    } catch (Exception e) {
      fail(what, e);
    }
  }
}
