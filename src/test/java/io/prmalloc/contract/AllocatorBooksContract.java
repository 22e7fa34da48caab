package io.prmalloc.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Tests that every allocator must pass about statistics, limits and tracking, and about requests
 * for which there is no memory. A part of {@link AllocatorContractTest}.
 */
abstract class AllocatorBooksContract {

  static final int MIB = 1 << 20;

  /** An allocator over a source of its own. */
  abstract Allocator create(SubAllocator source);

  /** Where memory comes from, without a limit. */
  SubAllocator unlimited() {
    return SubAllocator.direct();
  }

  /** Where memory comes from, with a limit. */
  SubAllocator limited(long limitBytes) {
    return SubAllocator.direct(limitBytes);
  }

  /** Whether the allocator says what was asked for at an address. */
  boolean tracks() {
    return true;
  }

  /** Whether the allocator clears its statistics and logs releases of raw addresses. */
  boolean isComplete() {
    return true;
  }

  final Allocator create() {
    return create(unlimited());
  }

  @Test
  void shouldAddUpWhenStatisticsAreRead() {
    SubAllocator source = limited(64L * MIB);
    try (Allocator allocator = create(source)) {
      Allocation first = allocator.allocate(50_000);
      Allocation second = allocator.allocate(70_000);
      long third = allocator.allocateRaw(64, 60_000);
      AllocatorStats full = allocator.stats();
      assertEquals(3, full.numAllocs());
      assertEquals(180_000, full.bytesInUse());
      assertTrue(full.peakBytesInUse() >= 180_000);
      assertEquals(70_000, full.largestAllocSize());
      assertEquals(OptionalLong.of(64L * MIB), full.bytesLimit());
      assertTrue(full.bytesReserved() >= 180_000);
      assertTrue(full.peakBytesReserved() >= full.bytesReserved());
      first.close();
      allocator.deallocateRaw(third);
      AllocatorStats less = allocator.stats();
      assertEquals(3, less.numAllocs());
      assertEquals(70_000, less.bytesInUse());
      assertEquals(full.peakBytesInUse(), less.peakBytesInUse());
      assertEquals(full.peakBytesReserved(), less.peakBytesReserved());
      second.close();
      assertEquals(0, allocator.stats().bytesInUse());
    }
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldBeginAnewWhenStatisticsAreCleared() {
    try (Allocator allocator = create()) {
      allocator.allocate(500_000).close();
      Allocation held = allocator.allocate(40_000);
      long raw = allocator.allocateRaw(64, 300);
      AllocatorStats before = allocator.stats();
      assertEquals(isComplete(), allocator.clearStats());
      if (!isComplete()) {
        assertEquals(before, allocator.stats());
      } else {
        AllocatorStats cleared = allocator.stats();
        assertEquals(0, cleared.numAllocs());
        assertEquals(40_300, cleared.bytesInUse());
        assertTrue(cleared.peakBytesInUse() >= 40_300, cleared.toString());
        assertTrue(cleared.peakBytesInUse() < 500_000, cleared.toString());
        assertEquals(0, cleared.largestAllocSize());
        assertEquals(before.bytesReserved(), cleared.bytesReserved());
        assertEquals(cleared.bytesReserved(), cleared.peakBytesReserved());
        // Less than the largest of before the clearing, on the same blocks.
        allocator.allocate(35_000).close();
        held.close();
        allocator.allocate(39_000).close();
        assertEquals(2, allocator.stats().numAllocs());
        assertEquals(39_000, allocator.stats().largestAllocSize());
        held = allocator.allocate(100);
      }
      held.close();
      allocator.deallocateRaw(raw);
      assertEquals(0, allocator.stats().bytesInUse());
    }
  }

  @Test
  void shouldStayWithinItsBoundsWhenStatisticsAreReadMeanwhile() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (Allocator allocator = create()) {
      CountDownLatch done = new CountDownLatch(2);
      Callable<Void> worker =
          () -> {
            try {
              for (int i = 0; i < 2000; i++) {
                allocator.allocate(i % 2 == 0 ? 100 : 50_000).close();
              }
            } finally {
              done.countDown();
            }
            return null;
          };
      List<Future<Void>> results = List.of(threads.submit(worker), threads.submit(worker));
      long lastAllocs = 0;
      while (done.getCount() > 0) {
        AllocatorStats seen = allocator.stats();
        assertTrue(seen.bytesInUse() >= 0, seen.toString());
        assertTrue(seen.bytesInUse() <= seen.peakBytesInUse(), seen.toString());
        assertTrue(seen.largestAllocSize() <= 50_000, seen.toString());
        assertTrue(seen.bytesReserved() <= seen.peakBytesReserved(), seen.toString());
        assertTrue(seen.numAllocs() >= lastAllocs, seen.toString());
        lastAllocs = seen.numAllocs();
      }
      for (Future<Void> result : results) {
        result.get();
      }
      assertEquals(4000, allocator.stats().numAllocs());
      assertEquals(0, allocator.stats().bytesInUse());
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void shouldLeaveEverythingAsItWasWhenTheLimitIsReached() {
    SubAllocator source = limited(4L * MIB);
    try (Allocator allocator = create(source);
        Allocation held = allocator.allocate(2 * MIB)) {
      AllocatorStats before = allocator.stats();
      OutOfNativeMemoryException refused =
          assertThrows(OutOfNativeMemoryException.class, () -> allocator.allocate(3 * MIB));
      assertEquals(3 * MIB, refused.requestedBytes());
      assertEquals(2 * MIB, refused.bytesInUse());
      assertEquals(before.bytesReserved(), refused.reservedBytes());
      assertEquals(OptionalLong.of(4L * MIB), refused.limitBytes());
      assertEquals(
          "cannot allocate 3145728 bytes: 2097152 in use, "
              + before.bytesReserved()
              + " reserved, limit 4194304 of the sub-allocator: give it a larger limitBytes",
          refused.getMessage());
      assertEquals(before, allocator.stats());
      assertEquals(0, allocator.allocateRaw(64, 3 * MIB));
      assertEquals(before, allocator.stats());
      held.byteBuffer().put(2 * MIB - 1, (byte) 1);
      allocator.allocate(MIB).close();
    }
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldTellSizesAndIdsWhenTracked() {
    try (Allocator allocator = create()) {
      assertEquals(tracks(), allocator.tracksAllocationSizes());
      assumeTrue(tracks(), "does not track sizes");
      long id = 0;
      // Twice, for memory that is used again is another allocation.
      for (int round = 0; round < 2; round++) {
        List<Allocation> handles = new ArrayList<>();
        List<Long> addresses = new ArrayList<>();
        for (int bytes : new int[] {0, 1, 100, 32_768, 40_000, MIB}) {
          Allocation handle = allocator.allocate(bytes, 256);
          handles.add(handle);
          assertTracked(allocator, handle.address(), bytes, ++id);
          long address = allocator.allocateRaw(128, bytes);
          addresses.add(address);
          assertTracked(allocator, address, bytes, ++id);
        }
        assertEquals(id, allocator.allocationId(addresses.get(5)), "the same while it is out");
        for (Allocation handle : handles) {
          long address = handle.address();
          handle.close();
          assertNotTracked(allocator, address);
        }
        for (long address : addresses) {
          allocator.deallocateRaw(address);
          assertNotTracked(allocator, address);
        }
      }
    }
  }

  private static void assertTracked(Allocator allocator, long address, long bytes, long id) {
    assertEquals(id, allocator.allocationId(address), bytes + " bytes");
    assertEquals(bytes, allocator.requestedSize(address));
    long allocated = allocator.allocatedSize(address);
    assertTrue(allocated >= bytes && allocated <= 2 * bytes + 8192, allocated + " of " + bytes);
    assertTrue(allocator.allocatedSizeSlow(address) >= bytes);
  }

  private static void assertNotTracked(Allocator allocator, long address) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> allocator.requestedSize(address))
            .getMessage();
    assertTrue(message.contains("0x" + Long.toHexString(address)), message);
    assertThrows(IllegalArgumentException.class, () -> allocator.allocatedSize(address));
    assertThrows(IllegalArgumentException.class, () -> allocator.allocationId(address));
  }

  @Test
  void shouldKnowNothingWhenTheAddressIsNotOneItGaveOut() {
    try (Allocator allocator = create();
        Allocator other = create()) {
      assumeTrue(tracks(), "does not track sizes");
      long own = allocator.allocateRaw(64, 5000);
      long foreign = other.allocateRaw(64, 5000);
      // None of these may be read from: most of them are not mapped.
      for (long address : new long[] {0, 8, -1, own + 1, own - 64, own + 4999, foreign}) {
        assertNotTracked(allocator, address);
      }
      allocator.deallocateRaw(own);
      other.deallocateRaw(foreign);
    }
  }

  @Test
  void shouldSaySoWhenNotTracked() {
    assumeFalse(tracks(), "tracks sizes");
    try (Allocator allocator = create()) {
      long address = allocator.allocateRaw(64, 100);
      String message =
          assertThrows(UnsupportedOperationException.class, () -> allocator.requestedSize(address))
              .getMessage();
      assertTrue(message.endsWith(" does not track sizes"), message);
      assertThrows(UnsupportedOperationException.class, () -> allocator.allocatedSize(address));
      assertEquals(0, allocator.allocationId(address));
      assertEquals(0, allocator.allocatedSizeSlow(address));
      allocator.deallocateRaw(address);
    }
  }

  @Test
  void shouldGiveEveryAllocationItsOwnIdWhenManyThreadsAsk() throws Exception {
    assumeTrue(tracks(), "does not track sizes");
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (Allocator allocator = create()) {
      Callable<List<Long>> worker =
          () -> {
            List<Long> ids = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
              long address = allocator.allocateRaw(64, i % 2 == 0 ? 100 : 50_000);
              ids.add(allocator.allocationId(address));
              allocator.deallocateRaw(address);
            }
            return ids;
          };
      Set<Long> ids = new HashSet<>();
      for (Future<List<Long>> result : threads.invokeAll(List.of(worker, worker, worker, worker))) {
        ids.addAll(result.get());
      }
      assertEquals(800, ids.size());
      assertFalse(ids.contains(0L));
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void shouldNotWantEmptyTensorsWhenAsked() {
    try (Allocator allocator = create()) {
      assertFalse(allocator.shouldAllocateEmptyTensors());
    }
  }
}
