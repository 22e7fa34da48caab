package io.prmalloc.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;
import io.prmalloc.CountingSource;
import io.prmalloc.LogRecords;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Tests that every allocator must pass about {@link AllocationAttributes}: waiting for memory, and
 * the log. A part of {@link AllocatorContractTest}.
 */
abstract class AllocationAttributesContract extends AllocatorBooksContract {

  private static final AllocationAttributes DEFAULT = AllocationAttributes.DEFAULT;

  @Test
  void shouldServeAsEverWhenAttributesAskForNothing() {
    try (Allocator allocator = create()) {
      try (Allocation handle = allocator.allocate(1000, 512, DEFAULT)) {
        assertEquals(0, handle.address() % 512);
        assertEquals(1000, handle.byteBuffer().limit());
        long address = allocator.allocateRaw(1024, 2000, DEFAULT);
        assertTrue(address != 0 && address % 1024 == 0);
        assertEquals(3000, allocator.stats().bytesInUse());
        assertThrows(IllegalArgumentException.class, () -> allocator.allocateRaw(64, -1, DEFAULT));
        assertThrows(
            IllegalArgumentException.class, () -> allocator.allocate(1, 3, DEFAULT.logged("", 1)));
        allocator.deallocateRaw(address);
      }
      assertEquals(0, allocator.stats().bytesInUse());
      assertEquals(2, allocator.stats().numAllocs());
    }
  }

  @Test
  void shouldTryOnceWhenAttributesDoNotLetItWait() {
    CountingSource source = new CountingSource(limited(4L * MIB));
    try (Allocator allocator = create(source);
        Allocation held = allocator.allocate(2 * MIB)) {
      assertNotEquals(0, held.sizeBytes());
      AllocatorStats before = allocator.stats();
      AllocationAttributes.RetryFunction always = (failed, bytes) -> true;
      for (AllocationAttributes once :
          List.of(
              DEFAULT,
              DEFAULT.withDeadlineNanos(System.nanoTime() - 1),
              DEFAULT.withTimeout(Duration.ZERO),
              DEFAULT.withTimeout(Duration.ofSeconds(-1)),
              DEFAULT.withTimeout(Duration.ofDays(1)).withoutRetry(),
              DEFAULT.withTimeout(Duration.ZERO).withRetry(always),
              DEFAULT.withRetry(always).withoutRetry(),
              DEFAULT.withRetry((failed, bytes) -> false))) {
        int refused = source.refused();
        assertThrows(OutOfNativeMemoryException.class, () -> allocator.allocate(3 * MIB, 64, once));
        assertEquals(refused + 1, source.refused(), once.toString());
        assertEquals(0, allocator.allocateRaw(64, 3 * MIB, once));
        assertEquals(refused + 2, source.refused(), once.toString());
        assertEquals(before, allocator.stats());
      }
    }
  }

  @Test
  void shouldLookNowAndThenAndGiveUpWhenTheDeadlinePasses() {
    CountingSource source = new CountingSource(limited(4L * MIB));
    try (Allocator allocator = create(source);
        Allocation held = allocator.allocate(2 * MIB)) {
      assertNotEquals(0, held.sizeBytes());
      AllocatorStats before = allocator.stats();
      long start = System.nanoTime();
      AllocationAttributes attributes = DEFAULT.withTimeout(Duration.ofMillis(20));
      assertThrows(
          OutOfNativeMemoryException.class, () -> allocator.allocate(3 * MIB, 64, attributes));
      assertTrue(System.nanoTime() - start >= 20_000_000, "gave up before the deadline");
      assertEquals(
          0, allocator.allocateRaw(64, 3 * MIB, DEFAULT.withTimeout(Duration.ofMillis(20))));
      // Twice 50, 100, 200 µs and so on to 2 ms: sixteen in 20 ms.
      assertTrue(source.refused() >= 4, source.refused() + " attempts");
      assertTrue(source.refused() <= 60, source.refused() + " attempts: spinning");
      assertEquals(before, allocator.stats());
    }
  }

  @Test
  void shouldGetTheMemoryWhenAnotherThreadGivesItBackInTime() throws Exception {
    CountingSource source = new CountingSource(limited(4L * MIB));
    ExecutorService threads = Executors.newFixedThreadPool(1);
    try (Allocator allocator = create(source)) {
      AllocationAttributes patient = DEFAULT.withTimeout(Duration.ofDays(1));
      for (boolean raw : new boolean[] {false, true}) {
        Allocation held = allocator.allocate(2 * MIB);
        int refused = source.refused();
        Future<?> waiting =
            threads.submit(
                () -> {
                  if (raw) {
                    allocator.deallocateRaw(allocator.allocateRaw(64, 3 * MIB, patient));
                  } else {
                    allocator.allocate(3 * MIB, 64, patient).close();
                  }
                });
        source.awaitRefused(refused + 2);
        assertFalse(waiting.isDone());
        held.close();
        waiting.get();
      }
      assertEquals(4, allocator.stats().numAllocs());
      assertEquals(0, allocator.stats().bytesInUse());
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void shouldAskTheRetryFunctionWhenAttemptsFail() {
    SubAllocator source = limited(4L * MIB);
    try (Allocator allocator = create(source)) {
      List<Allocation> cache = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        cache.add(allocator.allocate(MIB));
      }
      List<String> calls = new ArrayList<>();
      AllocationAttributes attributes =
          DEFAULT.withRetry(
              (failed, bytes) -> {
                calls.add(failed + " for " + bytes);
                cache.remove(0).close();
                return true;
              });
      allocator.allocate(2 * MIB + 65_536, 64, attributes).close();
      assertEquals(List.of("1 for 2162688", "2 for 2162688"), calls);
      long address = allocator.allocateRaw(64, 2 * MIB + 65_536, attributes);
      assertNotEquals(0, address);
      allocator.deallocateRaw(address);
      assertEquals(2, calls.size(), "nothing to ask");
      assertThrows(
          IllegalStateException.class,
          () ->
              allocator.allocate(
                  5 * MIB,
                  64,
                  DEFAULT.withRetry(
                      (failed, bytes) -> {
                        throw new IllegalStateException("given up");
                      })));
      cache.forEach(Allocation::close);
    }
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldGiveUpAndStayInterruptedWhenInterruptedWhileWaiting() throws Exception {
    CountingSource source = new CountingSource(limited(4L * MIB));
    try (Allocator allocator = create(source);
        Allocation held = allocator.allocate(2 * MIB)) {
      assertNotEquals(0, held.sizeBytes());
      AllocationAttributes patient = DEFAULT.withTimeout(Duration.ofDays(1));
      List<Object> seen = new ArrayList<>();
      Thread waiting =
          new Thread(
              () -> {
                seen.add(allocator.allocateRaw(64, 3 * MIB, patient));
                seen.add(Thread.currentThread().isInterrupted());
              });
      waiting.start();
      source.awaitRefused(2);
      waiting.interrupt();
      waiting.join();
      assertEquals(List.of(0L, true), seen);
    }
  }

  @Test
  void shouldLogAllocationAndReleaseWhenAttributesAskForIt() {
    AllocationAttributes attributes = DEFAULT.logged("conv1/out", 12);
    try (LogRecords log = new LogRecords();
        Allocator allocator = create()) {
      Allocation handle = allocator.allocate(1000, 512, attributes);
      assertEquals(0, handle.address() % 512);
      assertEquals(1000, handle.byteBuffer().limit());
      assertLogged(log.take(), "allocated", 1, 1000);
      handle.close();
      assertLogged(log.take(), "released", 1, 1000);
      assertThrows(IllegalStateException.class, handle::close);
      long address = allocator.allocateRaw(128, 2000, attributes);
      assertEquals(0, address % 128);
      assertLogged(log.take(), "allocated", 2, 2000);
      assertEquals(2000, allocator.stats().bytesInUse());
      assertThrows(IllegalArgumentException.class, () -> allocator.deallocateRaw(address + 8));
      allocator.deallocateRaw(address);
      if (isComplete()) {
        assertLogged(log.take(), "released", 2, 2000);
      }
      assertThrows(IllegalArgumentException.class, () -> allocator.deallocateRaw(address));
      allocator.allocate(10).close();
      allocator.deallocateRaw(allocator.allocateRaw(64, 10, DEFAULT));
      assertEquals(List.of(), log.all());
      assertEquals(0, allocator.stats().bytesInUse());
      assertEquals(4, allocator.stats().numAllocs());
    }
  }

  private void assertLogged(String line, String event, long id, long bytes) {
    String[] words = line.split("[ =]", -1);
    assertEquals(event, words[0], line);
    assertEquals("id", words[1], line);
    assertEquals(logsIds() ? id : 0, Long.parseLong(words[2]), line);
    assertEquals("requested", words[3], line);
    assertEquals(bytes, Long.parseLong(words[4]), line);
    assertEquals("allocated", words[5], line);
    assertTrue(Long.parseLong(words[6]) >= bytes, line);
    assertEquals("allocator", words[7], line);
    assertTrue(line.endsWith(" step=12 label=conv1/out"), line);
  }

  /** Whether the allocator that writes the log, which may be one inside, has ids. */
  boolean logsIds() {
    return tracks();
  }

  @Test
  void shouldLogNothingWhenTheLevelIsOff() {
    try (LogRecords log = new LogRecords();
        Allocator allocator = create()) {
      log.off();
      long address = allocator.allocateRaw(64, 100, DEFAULT.logged("conv1/out", 12));
      allocator.allocate(100, 64, DEFAULT.logged("conv1/out", 12)).close();
      allocator.deallocateRaw(address);
      assertEquals(List.of(), log.all());
    }
  }

  @Test
  void shouldLogNothingWhenThereIsNoMemory() {
    AllocationAttributes attributes = DEFAULT.logged("conv1/out", 12);
    try (LogRecords log = new LogRecords();
        Allocator allocator = create(limited(4L * MIB))) {
      assertThrows(
          OutOfNativeMemoryException.class, () -> allocator.allocate(5 * MIB, 64, attributes));
      assertEquals(0, allocator.allocateRaw(64, 5 * MIB, attributes));
      assertEquals(List.of(), log.all());
      assertEquals(0, allocator.stats().numAllocs());
    }
  }
}
