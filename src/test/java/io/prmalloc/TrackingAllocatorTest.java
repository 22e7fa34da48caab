package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.TrackingAllocator.Sizes;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.element.TypedAllocation;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TrackingAllocatorTest {

  private static final String GIVEN_UP =
      "the owner's reference to this tracker of cpu was given up before";

  // What it sets aside for a raw address is 64 bytes more than was asked for.
  private final CpuAllocator cpu = new CpuAllocator(SubAllocator.direct(1 << 20));

  @AfterEach
  void everythingCameBack() {
    cpu.close();
  }

  /** Tracks nothing, but says slowly what it set aside, 1000 bytes for each. */
  private final Allocator slow =
      new AllocatorWrapper(cpu) {
        @Override
        public boolean tracksAllocationSizes() {
          return false;
        }

        @Override
        public long allocatedSizeSlow(long address) {
          return 1000;
        }

        @Override
        public long allocatedSize(long address) {
          throw new AssertionError("does not track");
        }
      };

  private static Sizes sizes(long total, long highWatermark, long allocated) {
    return new Sizes(total, highWatermark, allocated);
  }

  @Test
  void shouldCountWhatIsAllocatedWhenTheAllocatorBehindTracks() {
    for (boolean locally : new boolean[] {false, true}) {
      TrackingAllocator tracker = new TrackingAllocator(cpu, locally);
      assertTrue(tracker.tracksAllocationSizes());
      long first = tracker.allocateRaw(64, 100);
      assertEquals(sizes(164, 164, 164), tracker.sizes());
      Allocation second = tracker.allocate(50);
      assertEquals(sizes(214, 214, 214), tracker.sizes());
      tracker.deallocateRaw(first);
      assertEquals(sizes(214, 214, 50), tracker.sizes());
      long third = tracker.allocateRaw(64, 16);
      assertEquals(sizes(294, 214, 130), tracker.sizes());
      assertEquals(cpu.allocationId(third), tracker.allocationId(third), "theirs, not ours");
      second.close();
      tracker.deallocateRaw(third);
      assertEquals(sizes(294, 214, 0), tracker.getSizesAndUnref());
    }
  }

  @Test
  void shouldKeepAChunkPerAddressWhenTrackingLocally() {
    TrackingAllocator tracker = new TrackingAllocator(slow, true);
    assertTrue(tracker.tracksAllocationSizes());
    long first = tracker.allocateRaw(64, 100);
    Allocation second = tracker.allocate(2000);
    assertEquals(100, tracker.requestedSize(first));
    assertEquals(1000, tracker.allocatedSize(first), "what is said slowly");
    assertEquals(1000, tracker.allocatedSizeSlow(first));
    assertEquals(1, tracker.allocationId(first));
    assertEquals(2000, tracker.requestedSize(second.address()));
    assertEquals(2000, tracker.allocatedSize(second.address()), "at least what was requested");
    assertEquals(2, tracker.allocationId(second.address()));
    assertEquals(sizes(3000, 3000, 3000), tracker.sizes());
    tracker.deallocateRaw(first);
    assertThrows(IllegalArgumentException.class, () -> tracker.requestedSize(first));
    assertEquals(sizes(3000, 3000, 2000), tracker.sizes());
    second.close();
    long third = tracker.allocateRaw(64, 1);
    assertEquals(3, tracker.allocationId(third));
    tracker.deallocateRaw(third);
    assertEquals(sizes(4000, 3000, 0), tracker.getSizesAndUnref());
  }

  @Test
  void shouldCountWhatIsRequestedInAllAndNothingElseWhenNobodyTracks() {
    TrackingAllocator tracker = new TrackingAllocator(slow, false);
    assertFalse(tracker.tracksAllocationSizes());
    long first = tracker.allocateRaw(64, 100);
    tracker.deallocateRaw(first);
    tracker.allocate(30).close();
    assertEquals(sizes(130, 0, 0), tracker.getSizesAndUnref());
    assertTrue(tracker.isRetired());
  }

  @Test
  void shouldLeaveTheCountersWhenThereIsNoMemory() {
    for (boolean locally : new boolean[] {false, true}) {
      for (Allocator behind : List.of(cpu, slow)) {
        TrackingAllocator tracker = new TrackingAllocator(behind, locally);
        assertEquals(0, tracker.allocateRaw(64, 2 << 20));
        assertThrows(OutOfNativeMemoryException.class, () -> tracker.allocate(2 << 20));
        assertThrows(IllegalArgumentException.class, () -> tracker.allocate(-1));
        assertThrows(IllegalArgumentException.class, () -> tracker.allocateRaw(3, 1));
        assertEquals(sizes(0, 0, 0), tracker.getSizesAndUnref());
        assertTrue(tracker.isRetired(), "no reference for what was not to be had");
      }
    }
  }

  @Test
  void shouldLeaveTheCountersWhenTheAllocatorBehindRefusesARelease() {
    long elsewhere = cpu.allocateRaw(64, 100);
    Allocator brittle =
        new AllocatorWrapper(slow) {
          @Override
          public void deallocateRaw(long address) {
            throw new CorruptedHeaderException("overwritten");
          }
        };
    TrackingAllocator local = new TrackingAllocator(brittle, true);
    long address = local.allocateRaw(64, 100);
    assertThrows(CorruptedHeaderException.class, () -> local.deallocateRaw(address));
    assertEquals(sizes(1000, 1000, 1000), local.sizes());
    assertEquals(100, local.requestedSize(address));
    assertThrows(IllegalArgumentException.class, () -> local.deallocateRaw(elsewhere));
    assertEquals(sizes(1000, 1000, 1000), local.sizes());
    cpu.deallocateRaw(address);

    TrackingAllocator other = new TrackingAllocator(cpu, false);
    assertThrows(IllegalArgumentException.class, () -> other.deallocateRaw(elsewhere));
    assertThrows(IllegalArgumentException.class, () -> other.deallocateRaw(8));
    assertEquals(sizes(0, 0, 0), other.sizes());
    cpu.deallocateRaw(elsewhere);
  }

  @Test
  void shouldRetireWhenTheLastAllocationComesBackAfterTheSizesWereAsked() {
    TrackingAllocator tracker = new TrackingAllocator(cpu, false);
    Allocation handle = tracker.allocate(100);
    long address = tracker.allocateRaw(64, 100);
    assertEquals(sizes(264, 264, 264), tracker.getSizesAndUnref());
    assertFalse(tracker.isRetired());
    handle.byteBuffer().put(99, (byte) 1);
    handle.close();
    assertFalse(tracker.isRetired());
    assertEquals(sizes(264, 264, 164), tracker.sizes());
    tracker.deallocateRaw(address);
    assertTrue(tracker.isRetired());
  }

  @Test
  void shouldNotRetireWhenTheSizesWereNotAsked() {
    TrackingAllocator tracker = new TrackingAllocator(cpu, false);
    tracker.allocate(100).close();
    assertFalse(tracker.isRetired());
    tracker.allocate(100).close();
    assertEquals(sizes(200, 100, 0), tracker.getSizesAndUnref());
    assertTrue(tracker.isRetired());
  }

  @Test
  void shouldThrowWhenSizesAreAskedTwiceOrMemoryAfterwards() {
    for (boolean retired : new boolean[] {false, true}) {
      TrackingAllocator tracker = new TrackingAllocator(cpu, true);
      Allocation handle = tracker.allocate(100);
      Sizes sizes = tracker.getSizesAndUnref();
      if (retired) {
        handle.close();
      }
      AllocationAttributes attributes = AllocationAttributes.DEFAULT;
      assertEquals(
          GIVEN_UP,
          assertThrows(IllegalStateException.class, tracker::getSizesAndUnref).getMessage());
      assertEquals(
          GIVEN_UP,
          assertThrows(IllegalStateException.class, () -> tracker.allocate(1)).getMessage());
      assertThrows(IllegalStateException.class, () -> tracker.allocate(1, 64));
      assertThrows(IllegalStateException.class, () -> tracker.allocate(1, 64, attributes));
      assertThrows(IllegalStateException.class, () -> tracker.allocateRaw(64, 1));
      assertThrows(IllegalStateException.class, () -> tracker.allocateRaw(64, 1, attributes));
      assertEquals(sizes.totalBytes(), tracker.sizes().totalBytes());
      if (!retired) {
        handle.close();
      }
      assertTrue(tracker.isRetired());
      assertEquals(0, cpu.stats().bytesInUse());
    }
  }

  @Test
  void shouldGiveTheMemoryBackWhenTheReferenceGoesDuringARequest() {
    List<TrackingAllocator> trackers = new ArrayList<>();
    Allocator late =
        new AllocatorWrapper(cpu) {
          @Override
          public Allocation allocate(long bytes, long alignment) {
            Allocation made = super.allocate(bytes, alignment);
            trackers.get(0).getSizesAndUnref();
            return made;
          }

          @Override
          public long allocateRaw(long alignment, long bytes) {
            long made = super.allocateRaw(alignment, bytes);
            trackers.get(0).getSizesAndUnref();
            return made;
          }
        };
    for (boolean raw : new boolean[] {false, true}) {
      TrackingAllocator tracker = new TrackingAllocator(late, true);
      trackers.add(0, tracker);
      assertThrows(
          IllegalStateException.class,
          () -> {
            if (raw) {
              tracker.allocateRaw(64, 100);
            } else {
              tracker.allocate(100);
            }
          });
      assertTrue(tracker.isRetired());
      assertEquals(sizes(0, 0, 0), tracker.sizes());
      assertEquals(0, cpu.stats().bytesInUse());
    }
  }

  @Test
  void shouldShowTheInnerMemoryWhenAHandleIsTracked() {
    try (TrackingAllocator tracker = new TrackingAllocator(cpu, true);
        Allocation handle = tracker.allocate(100, 4096)) {
      ByteBuffer view = handle.byteBuffer();
      view.putLong(92, 42);
      assertEquals(0, handle.address() % 4096);
      assertEquals(42, handle.buffer().getLong(92));
      assertEquals(100, cpu.requestedSize(handle.address()));
      assertEquals("Allocation[100 bytes]", handle.toString());
    }
  }

  @Test
  void shouldCountElementsWhenTheyAreTyped() {
    TrackingAllocator tracker = new TrackingAllocator(cpu, true);
    TypedAllocation<byte[]> strings = tracker.allocate(ElementTypes.STRING, 3);
    assertEquals(sizes(48, 48, 48), tracker.sizes());
    strings.set(0, new byte[500]);
    assertEquals(
        48 + 64 + 500,
        tracker.sizes().allocatedBytes(),
        "what an element owns is charged too, with the header in front of it");
    strings.close();
    assertEquals(0, tracker.getSizesAndUnref().allocatedBytes());
    assertTrue(tracker.isRetired());
  }

  @Test
  void shouldSayHowManyAreOutWhenClosedTooEarly() {
    TrackingAllocator tracker = new TrackingAllocator(cpu, true);
    Allocation handle = tracker.allocate(100);
    assertEquals(
        "tracker of cpu still has 1 allocations in use",
        assertThrows(IllegalStateException.class, tracker::close).getMessage());
    tracker.allocate(1).close();
    handle.close();
    tracker.close();
    tracker.close();
    assertTrue(tracker.isRetired());
    assertThrows(IllegalStateException.class, tracker::getSizesAndUnref);
    cpu.allocate(1).close();
  }

  @Test
  void shouldBeOfUseToSeveralAtOnceWhenEachHasItsOwn() {
    TrackingAllocator outer = new TrackingAllocator(cpu, true);
    TrackingAllocator inner = new TrackingAllocator(outer, true);
    Allocation own = outer.allocate(10);
    Allocation both = inner.allocate(20);
    assertEquals(sizes(30, 30, 30), outer.sizes());
    assertEquals(sizes(20, 20, 20), inner.sizes());
    both.close();
    own.close();
    assertEquals(sizes(20, 20, 0), inner.getSizesAndUnref());
    assertEquals(sizes(30, 30, 0), outer.getSizesAndUnref());
  }

  @Test
  void shouldAddUpWhenManyThreadsUseOneTracker() throws Exception {
    long seed = ThreadLocalRandom.current().nextLong();
    TrackingAllocator tracker = new TrackingAllocator(slow, true);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Long>> workers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Random random = new Random(seed + i);
        workers.add(
            () -> {
              long total = 0;
              for (int k = 0; k < 500; k++) {
                int bytes = random.nextInt(3000);
                long raw = tracker.allocateRaw(64, bytes);
                tracker.allocate(bytes).close();
                assertEquals(bytes, tracker.requestedSize(raw));
                tracker.deallocateRaw(raw);
                total += 2L * Math.max(1000, bytes);
              }
              return total;
            });
      }
      long total = 0;
      for (Future<Long> result : threads.invokeAll(workers)) {
        total += result.get();
      }
      Sizes sizes = tracker.getSizesAndUnref();
      assertEquals(total, sizes.totalBytes(), "seed " + seed);
      assertEquals(0, sizes.allocatedBytes(), "seed " + seed);
      assertTrue(sizes.highWatermarkBytes() >= 2000, "seed " + seed);
      assertTrue(sizes.highWatermarkBytes() <= 4 * 6000, "seed " + seed);
      assertTrue(tracker.isRetired());
    } finally {
      threads.shutdown();
    }
  }
}
