package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Tests that every sub-allocator must pass. */
public abstract class SubAllocatorContractTest {

  private static final long MIB = 1 << 20;

  /** A sub-allocator without a limit. */
  public abstract SubAllocator unlimited();

  /** A sub-allocator with a limit. */
  public abstract SubAllocator limited(long limitBytes);

  @Test
  void shouldGiveAlignedMemoryWritableToTheLastByteWhenAsked() {
    SubAllocator source = unlimited();
    for (long alignment = 1; alignment <= 2 * MIB; alignment *= 2) {
      for (long bytes : new long[] {1, 4095, 4096, MIB + 1}) {
        MemoryRegion region = source.alloc(alignment, bytes);
        ByteBuffer buffer = region.buffer();
        assertEquals(0, region.address() % alignment, "alignment " + alignment);
        assertTrue(region.sizeBytes() >= bytes, region.sizeBytes() + " for " + bytes);
        assertTrue(buffer.isDirect());
        assertEquals(ByteOrder.nativeOrder(), buffer.order());
        int last = (int) region.sizeBytes() - 1;
        buffer.put(0, (byte) 17).put(last, (byte) 18);
        assertEquals(18, buffer.get(last));
        assertEquals(last == 0 ? 18 : 17, buffer.get(0));
        assertEquals(region.sizeBytes(), source.bytesReserved());
        source.free(region);
        assertEquals(0, source.bytesReserved());
      }
    }
  }

  @Test
  void shouldKeepRegionsApartWhenSeveralAreOut() {
    SubAllocator source = unlimited();
    List<MemoryRegion> regions = new ArrayList<>();
    long reservedBytes = 0;
    for (int i = 0; i < 20; i++) {
      MemoryRegion region = source.alloc(64, 10_000);
      for (int at = 0; at < region.sizeBytes(); at++) {
        region.buffer().put(at, (byte) i);
      }
      regions.add(region);
      reservedBytes += region.sizeBytes();
      assertEquals(reservedBytes, source.bytesReserved());
    }
    for (int i = 0; i < 20; i++) {
      for (int at = 0; at < regions.get(i).sizeBytes(); at++) {
        assertEquals(i, regions.get(i).buffer().get(at));
      }
    }
    regions.forEach(source::free);
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldTellItsLimitWhenItHasOne() {
    assertEquals(OptionalLong.empty(), unlimited().bytesLimit());
    assertEquals(OptionalLong.of(0), limited(0).bytesLimit());
    assertEquals(OptionalLong.of(MIB), limited(MIB).bytesLimit());
    assertEquals(
        "limitBytes -1 is negative; the least is 0",
        assertThrows(IllegalArgumentException.class, () -> limited(-1)).getMessage());
  }

  @Test
  void shouldGrantAllOfTheLimitAndNoMoreWhenLimited() {
    SubAllocator source = limited(2 * MIB);
    MemoryRegion first = source.alloc(64, MIB);
    MemoryRegion second = source.alloc(64, MIB);
    OutOfNativeMemoryException refused =
        assertThrows(OutOfNativeMemoryException.class, () -> source.alloc(64, 1));
    assertEquals(
        "cannot reserve 1 bytes: 2097152 reserved, limit 2097152 of the sub-allocator:"
            + " give it a larger limitBytes",
        refused.getMessage());
    assertEquals(OutOfNativeMemoryException.Limit.SUB_ALLOCATOR, refused.limit());
    assertEquals(1, refused.requestedBytes());
    assertEquals(2 * MIB, refused.reservedBytes());
    assertEquals(OptionalLong.of(2 * MIB), refused.limitBytes());
    assertNull(refused.getCause());
    assertEquals(2 * MIB, source.bytesReserved());
    source.free(first);
    MemoryRegion third = source.alloc(64, MIB);
    source.free(second);
    source.free(third);
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldTellWhatIsLeftOfTheLimitWhenLimited() {
    SubAllocator source = limited(2 * MIB);
    assertEquals(2 * MIB, source.bytesAvailable());
    MemoryRegion region = source.alloc(64, MIB);
    assertEquals(MIB, source.bytesAvailable());
    source.free(region);
    assertEquals(2 * MIB, source.bytesAvailable());
    assertEquals(0, limited(0).bytesAvailable());
    assertTrue(unlimited().bytesAvailable() > 2 * MIB);
  }

  @Test
  void shouldGrantNothingWhenTheLimitIsZero() {
    SubAllocator source = limited(0);
    assertThrows(OutOfNativeMemoryException.class, () -> source.alloc(1, 1));
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldNeverPassTheLimitWhenManyThreadsReserve() throws Exception {
    SubAllocator source = limited(8 * 4096);
    Callable<Long> worker =
        () -> {
          long granted = 0;
          for (int i = 0; i < 500; i++) {
            MemoryRegion first = tryAlloc(source);
            MemoryRegion second = tryAlloc(source);
            assertTrue(source.bytesReserved() <= 8 * 4096);
            for (MemoryRegion region : new MemoryRegion[] {first, second}) {
              if (region != null) {
                granted++;
                source.free(region);
              }
            }
          }
          return granted;
        };
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      long granted = 0;
      for (Future<Long> result : threads.invokeAll(List.of(worker, worker, worker, worker))) {
        granted += result.get();
      }
      // Four threads with two regions each are just the limit, so nobody is ever refused.
      assertEquals(4 * 500 * 2, granted);
    } finally {
      threads.shutdown();
    }
    assertEquals(0, source.bytesReserved());
  }

  private static MemoryRegion tryAlloc(SubAllocator source) {
    try {
      return source.alloc(64, 4096);
    } catch (OutOfNativeMemoryException refused) {
      return null;
    }
  }

  @Test
  void shouldChangeNothingWhenARegionIsFreedTwice() {
    SubAllocator source = unlimited();
    MemoryRegion kept = source.alloc(64, 4096);
    MemoryRegion region = source.alloc(64, 4096);
    source.free(region);
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> source.free(region));
    assertTrue(
        refused.getMessage().endsWith("[4096 bytes, freed] was freed before"),
        refused.getMessage());
    assertEquals(kept.sizeBytes(), source.bytesReserved());
    source.free(kept);
  }

  @Test
  void shouldChangeNothingWhenARegionIsOfAnotherSubAllocator() {
    SubAllocator source = unlimited();
    SubAllocator other = unlimited();
    MemoryRegion kept = source.alloc(64, 4096);
    MemoryRegion foreign = other.alloc(64, 4096);
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> source.free(foreign));
    assertTrue(
        refused.getMessage().endsWith("[4096 bytes] is not of this sub-allocator"),
        refused.getMessage());
    assertEquals(kept.sizeBytes(), source.bytesReserved());
    assertEquals(foreign.sizeBytes(), other.bytesReserved());
    foreign.buffer().put(4095, (byte) 1);
    other.free(foreign);
    source.free(kept);
  }

  @Test
  void shouldThrowWhenTheRegionIsNull() {
    SubAllocator source = unlimited();
    assertThrows(NullPointerException.class, () -> source.free(null));
  }

  @Test
  void shouldNameArgumentAndBoundWhenArgumentsAreBad() {
    SubAllocator source = unlimited();
    for (long alignment : new long[] {0, -64, 3, 65, 1L << 31, Long.MIN_VALUE}) {
      assertEquals(
          "alignment " + alignment + " is not a power of two from 1 to 1073741824",
          assertThrows(IllegalArgumentException.class, () -> source.alloc(alignment, 1))
              .getMessage());
    }
    for (long bytes : new long[] {0, -1, Long.MIN_VALUE, (1L << 47) + 1, Long.MAX_VALUE}) {
      assertEquals(
          "bytes " + bytes + " is not from 1 to 140737488355328",
          assertThrows(IllegalArgumentException.class, () -> source.alloc(64, bytes)).getMessage());
    }
    assertEquals(0, source.bytesReserved());
  }
}
