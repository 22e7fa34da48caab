package io.prmalloc.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.AllocationAttributes.RetryFunction;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorWrapper;
import io.prmalloc.CountingSource;
import io.prmalloc.CpuAllocator;
import io.prmalloc.LogRecords;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.AllocationLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Tests of {@link AllocationAttributes} beyond the allocators' contract. */
class AllocationAttributesTest {

  private static final AllocationAttributes DEFAULT = AllocationAttributes.DEFAULT;

  @Test
  void shouldChangeOneThingAndKeepTheRestWhenDerived() {
    RetryFunction never = (failed, bytes) -> false;
    AllocationAttributes all =
        DEFAULT.withRetry(never).withDeadlineNanos(-5).logged("label", 7).withoutRetry();
    assertEquals(new AllocationAttributes(true, true, "label", 7, OptionalLong.of(-5), never), all);
    assertEquals(
        new AllocationAttributes(false, false, "", 0, OptionalLong.empty(), null), DEFAULT);
    assertSame(never, all.logged("other", 8).retry());
    assertEquals("label", all.withDeadlineNanos(3).label());
    assertNull(all.withRetry(null).retry());
    assertThrows(NullPointerException.class, () -> DEFAULT.logged(null, 1));
  }

  @Test
  void shouldCountTheTimeoutFromNowWhenOneIsGiven() {
    long before = System.nanoTime();
    long deadline = DEFAULT.withTimeout(Duration.ofSeconds(5)).deadlineNanos().getAsLong();
    long after = System.nanoTime();
    assertTrue(deadline - before >= 5_000_000_000L && deadline - after <= 5_000_000_000L);
    for (Duration long1 : List.of(Duration.ofDays(40_000), Duration.ofSeconds(Long.MAX_VALUE))) {
      long far = DEFAULT.withTimeout(long1).deadlineNanos().getAsLong();
      assertTrue(far - System.nanoTime() > Duration.ofDays(36_000).toNanos(), "as far as can be");
    }
    long past = DEFAULT.withTimeout(Duration.ofSeconds(Long.MIN_VALUE)).deadlineNanos().getAsLong();
    assertTrue(past - System.nanoTime() <= 0);
  }

  @Test
  void shouldTryWithoutWaitingWhenTheFunctionMakesRoomInTime() {
    CountingSource source = new CountingSource(SubAllocator.direct(1000));
    try (CpuAllocator allocator = new CpuAllocator(source)) {
      Allocation held = allocator.allocate(800);
      AllocationAttributes attributes =
          DEFAULT
              .withTimeout(Duration.ofDays(1))
              .withRetry(
                  (failed, bytes) -> {
                    if (failed == 3) {
                      held.close();
                    }
                    return failed == 3;
                  });
      allocator.allocate(500, 64, attributes).close();
      assertEquals(3, source.refused());
    }
  }

  @Test
  void shouldNotWaitWhenInterruptedBefore() {
    CountingSource source = new CountingSource(SubAllocator.direct(1000));
    try (CpuAllocator allocator = new CpuAllocator(source)) {
      Thread.currentThread().interrupt();
      assertEquals(0, allocator.allocateRaw(64, 5000, DEFAULT.withTimeout(Duration.ofDays(1))));
      assertTrue(Thread.interrupted(), "the thread stays interrupted");
      assertEquals(1, source.refused());
    }
  }

  @Test
  void shouldAskNobodyWhatToWriteWhenTheLevelIsOff() {
    try (CpuAllocator cpu = new CpuAllocator(SubAllocator.direct());
        LogRecords log = new LogRecords()) {
      log.off();
      Allocator silent =
          new AllocatorWrapper(cpu) {
            @Override
            public String name() {
              throw new AssertionError("name asked for");
            }

            @Override
            public long allocationId(long address) {
              throw new AssertionError("id asked for");
            }
          };
      AllocationLog.allocate(silent, 100, 64, DEFAULT.logged("label", 1)).close();
      cpu.deallocateRaw(
          new AllocationLog().allocateRaw(silent, 64, 100, DEFAULT.logged("label", 1)));
      assertEquals(List.of(), log.all());
    }
  }

  @Test
  void shouldHoldTheWholeLineWhenLogged() {
    try (CpuAllocator cpu = new CpuAllocator(SubAllocator.direct());
        LogRecords log = new LogRecords()) {
      cpu.allocate(1).close();
      cpu.deallocateRaw(cpu.allocateRaw(64, 100, DEFAULT.logged("conv1/out", -3)));
      String rest = " id=2 requested=100 allocated=100 allocator=cpu step=-3 label=conv1/out";
      assertEquals(List.of("allocated" + rest, "released" + rest), log.all());
    }
  }

  @Test
  void shouldGiveTheMemoryBackWhenTheLogFails() {
    List<String> lines = new ArrayList<>();
    Logger logger = Logger.getLogger(AllocationLog.LOGGER_NAME);
    Handler broken =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            lines.add(line.getMessage());
            if (lines.size() == 1) {
              throw new IllegalStateException("disk full");
            }
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    try (LogRecords log = new LogRecords();
        CpuAllocator cpu = new CpuAllocator(SubAllocator.direct())) {
      assertTrue(logger.isLoggable(Level.FINE) && log.all().isEmpty());
      logger.addHandler(broken);
      AllocationAttributes attributes = DEFAULT.logged("label", 1);
      assertThrows(IllegalStateException.class, () -> cpu.allocate(100, 64, attributes));
      assertEquals(0, cpu.stats().bytesInUse());
      lines.clear();
      assertThrows(IllegalStateException.class, () -> cpu.allocateRaw(64, 100, attributes));
      assertEquals(0, cpu.stats().bytesInUse());
      assertFalse(lines.isEmpty());
    } finally {
      logger.removeHandler(broken);
    }
  }
}
