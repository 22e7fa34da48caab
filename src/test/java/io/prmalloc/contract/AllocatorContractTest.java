package io.prmalloc.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Pointer;
import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;
import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Tests that every allocator must pass, wherever its memory comes from. */
public abstract class AllocatorContractTest extends AllocationAttributesContract {

  @Test
  void shouldGiveAlignedMemoryOfItsOwnWhenAskedForHandles() {
    try (Allocator allocator = create()) {
      for (long alignment = 1; alignment <= MIB; alignment *= 4) {
        for (int bytes : new int[] {1, 100, 4096, 40_000, MIB + 1}) {
          try (Allocation one = allocator.allocate(bytes, alignment);
              Allocation two = allocator.allocate(bytes, alignment)) {
            assertEquals(bytes, one.sizeBytes());
            assertEquals(0, one.address() % alignment, "alignment " + alignment);
            assertEquals(0, two.address() % alignment, "alignment " + alignment);
            fill(one.byteBuffer(), (byte) 1);
            fill(two.byteBuffer(), (byte) 2);
            assertEquals(1, one.byteBuffer().get(0));
            assertEquals(1, one.byteBuffer().get(bytes - 1));
            assertEquals(2, two.byteBuffer().get(0));
          }
        }
      }
    }
  }

  private static void fill(ByteBuffer buffer, byte value) {
    for (int i = 0; i < buffer.limit(); i++) {
      buffer.put(i, value);
    }
  }

  @Test
  void shouldAlignToACacheLineWhenNoAlignmentIsAsked() {
    try (Allocator allocator = create();
        Allocation allocation = allocator.allocate(10)) {
      assertEquals(0, allocation.address() % Allocator.DEFAULT_ALIGNMENT);
    }
  }

  @Test
  void shouldShowTheSameBytesWhenSeenThroughEveryView() {
    try (Allocator allocator = create();
        Allocation allocation = allocator.allocate(100)) {
      ByteBuffer bytes = allocation.byteBuffer();
      UnsafeBuffer agrona = allocation.buffer();
      assertEquals(ByteOrder.nativeOrder(), bytes.order());
      assertEquals(100, bytes.limit());
      assertEquals(0, bytes.position());
      assertEquals(100, agrona.capacity());
      assertEquals(allocation.address(), agrona.addressOffset());
      bytes.putLong(92, 0x0102030405060708L);
      assertEquals(0x0102030405060708L, agrona.getLong(92));
      bytes.position(5);
      assertSame(bytes, allocation.byteBuffer());
      assertEquals(5, allocation.byteBuffer().position());
      assertSame(agrona, allocation.buffer());
    }
  }

  @Test
  void shouldGiveAFreshViewWhenMemoryIsUsedAgain() {
    try (Allocator allocator = create()) {
      for (int bytes : new int[] {100, 90, 100}) {
        try (Allocation allocation = allocator.allocate(bytes)) {
          ByteBuffer view = allocation.byteBuffer();
          assertEquals(bytes, view.limit());
          assertEquals(0, view.position());
          assertEquals(ByteOrder.nativeOrder(), view.order());
          assertEquals(bytes, allocation.buffer().capacity());
          view.position(7).limit(9).order(ByteOrder.BIG_ENDIAN);
        }
      }
    }
  }

  @Test
  void shouldGiveAnEmptyHandleWhenZeroBytesAreAsked() {
    try (Allocator allocator = create();
        Allocation allocation = allocator.allocate(0)) {
      assertEquals(0, allocation.sizeBytes());
      assertEquals(0, allocation.byteBuffer().limit());
      assertEquals(0, allocation.buffer().capacity());
      assertNotEquals(0, allocation.address());
      assertEquals(0, allocator.stats().bytesInUse());
      assertEquals(1, allocator.stats().numAllocs());
    }
  }

  @Test
  void shouldReachTheLastByteWhenLargerThanABufferCanBe() {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "mmap is called on Linux only");
    long bytes = 5L << 30; // of which a page or two are touched
    try (Allocator allocator = create()) {
      long before = allocator.stats().bytesInUse();
      Allocation handle = allocator.allocate(bytes, 4096);
      assertEquals(bytes, handle.sizeBytes());
      assertEquals(before + bytes, allocator.stats().bytesInUse());
      assertEquals(bytes, allocator.stats().largestAllocSize());
      assertTrue(handle.blockBytes() >= bytes, "block of " + handle.blockBytes());
      assertEquals(0, handle.address() % 4096);
      assertLastByte(handle.address(), bytes);
      UnsupportedOperationException tooLarge =
          assertThrows(UnsupportedOperationException.class, handle::byteBuffer);
      assertTrue(tooLarge.getMessage().contains("" + bytes), tooLarge.getMessage());
      assertThrows(UnsupportedOperationException.class, handle::buffer);
      handle.close();
      assertThrows(IllegalStateException.class, handle::close);
      assertThrows(IllegalStateException.class, handle::byteBuffer);
      for (long most : new long[] {bytes, MemoryRegion.MAX_BYTES - 63, MemoryRegion.MAX_BYTES}) {
        long address = allocator.allocateRaw(64, most);
        assertNotEquals(0, address);
        assertEquals(before + most, allocator.stats().bytesInUse());
        if (allocator.tracksAllocationSizes()) {
          assertEquals(most, allocator.requestedSize(address));
          assertTrue(allocator.allocatedSize(address) >= most);
        }
        assertLastByte(address, most);
        allocator.deallocateRaw(address);
        assertThrows(IllegalArgumentException.class, () -> allocator.deallocateRaw(address));
      }
      assertEquals(before, allocator.stats().bytesInUse());
    }
  }

  private static void assertLastByte(long address, long bytes) {
    UnsafeBuffer last = new UnsafeBuffer(address + bytes - 8, 8);
    assertEquals(0, last.getLong(0), "fresh pages are zero");
    last.putLong(0, 42);
    assertEquals(42, last.getLong(0));
  }

  @Test
  void shouldChangeNothingWhenArgumentsAreBad() {
    try (Allocator allocator = create()) {
      AllocatorStats before = allocator.stats();
      for (long bytes : new long[] {-1, Long.MIN_VALUE, (1L << 47) + 1}) {
        String message =
            assertThrows(IllegalArgumentException.class, () -> allocator.allocate(bytes))
                .getMessage();
        assertTrue(message.startsWith("bytes " + bytes + " "), message);
        assertThrows(IllegalArgumentException.class, () -> allocator.allocate(bytes, 1));
        assertThrows(IllegalArgumentException.class, () -> allocator.allocateRaw(64, bytes));
      }
      for (long alignment : new long[] {0, -1, 3, 96, 1L << 31}) {
        String message =
            assertThrows(IllegalArgumentException.class, () -> allocator.allocate(1, alignment))
                .getMessage();
        assertTrue(message.startsWith("alignment " + alignment + " "), message);
        assertThrows(IllegalArgumentException.class, () -> allocator.allocateRaw(alignment, 1));
      }
      assertEquals(before, allocator.stats());
    }
  }

  @Test
  void shouldThrowAndChangeNothingWhenAHandleIsClosedTwice() {
    try (Allocator allocator = create();
        Allocation other = allocator.allocate(100)) {
      Allocation allocation = allocator.allocate(50);
      allocation.close();
      AllocatorStats before = allocator.stats();
      assertEquals(
          "allocation of 50 bytes was closed before",
          assertThrows(IllegalStateException.class, allocation::close).getMessage());
      assertEquals(before, allocator.stats());
      assertEquals(100, other.byteBuffer().limit());
    }
  }

  @Test
  void shouldThrowWhenAHandleIsUsedAfterClose() {
    try (Allocator allocator = create()) {
      Allocation allocation = allocator.allocate(50);
      assertEquals("Allocation[50 bytes]", allocation.toString());
      allocation.close();
      assertThrows(IllegalStateException.class, allocation::byteBuffer);
      assertThrows(IllegalStateException.class, allocation::buffer);
      assertThrows(IllegalStateException.class, allocation::address);
      assertEquals(50, allocation.sizeBytes());
      assertEquals("Allocation[50 bytes, closed]", allocation.toString());
    }
  }

  @Test
  void shouldLetOneCloseWinWhenTwoThreadsClose() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (Allocator allocator = create()) {
      for (int i = 0; i < 200; i++) {
        Allocation allocation = allocator.allocate(1000);
        Callable<Integer> close =
            () -> {
              try {
                allocation.close();
                return 1;
              } catch (IllegalStateException closedBefore) {
                return 0;
              }
            };
        int won = 0;
        for (Future<Integer> result : threads.invokeAll(List.of(close, close))) {
          won += result.get();
        }
        assertEquals(1, won);
      }
      assertEquals(0, allocator.stats().bytesInUse());
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void shouldGiveAlignedWritableMemoryWhenAskedForAddresses() {
    try (Allocator allocator = create()) {
      for (long alignment = 1; alignment <= MIB; alignment *= 4) {
        for (long bytes : new long[] {0, 1, 4096, 100_000}) {
          long one = allocator.allocateRaw(alignment, bytes);
          long two = allocator.allocateRaw(alignment, bytes);
          assertTrue(one != 0 && one % alignment == 0, "address " + one);
          assertTrue(two != 0 && two != one, "addresses " + one + " and " + two);
          new Pointer(one).setMemory(0, bytes, (byte) 1);
          new Pointer(two).setMemory(0, bytes, (byte) 2);
          assertEquals(2 * bytes, allocator.stats().bytesInUse());
          allocator.deallocateRaw(one);
          allocator.deallocateRaw(two);
        }
      }
      assertEquals(0, allocator.stats().bytesInUse());
    }
  }

  @Test
  void shouldDoNothingWhenAddressIsZero() {
    try (Allocator allocator = create()) {
      AllocatorStats before = allocator.stats();
      allocator.deallocateRaw(0);
      assertEquals(before, allocator.stats());
    }
  }

  @Test
  void shouldRefuseWhenAddressIsNotItsOwn() {
    try (Allocator allocator = create();
        Allocator other = create();
        Allocation handle = allocator.allocate(100)) {
      long own = allocator.allocateRaw(64, 100);
      long foreign = other.allocateRaw(64, 100);
      AllocatorStats before = allocator.stats();
      // None of these may be read from: most of them are not mapped.
      for (long address : new long[] {8, -1, Long.MIN_VALUE, own + 8, own - 64, foreign}) {
        assertThrows(IllegalArgumentException.class, () -> allocator.deallocateRaw(address));
      }
      long handleAddress = handle.address();
      assertThrows(IllegalArgumentException.class, () -> allocator.deallocateRaw(handleAddress));
      assertEquals(before, allocator.stats());
      allocator.deallocateRaw(own);
      other.deallocateRaw(foreign);
    }
  }

  @Test
  void shouldRefuseWhenAddressWasGivenBackBefore() {
    try (Allocator allocator = create()) {
      long address = allocator.allocateRaw(64, 100);
      allocator.deallocateRaw(address);
      AllocatorStats before = allocator.stats();
      String message =
          assertThrows(IllegalArgumentException.class, () -> allocator.deallocateRaw(address))
              .getMessage();
      assertTrue(message.contains("0x" + Long.toHexString(address)), message);
      assertEquals(before, allocator.stats());
    }
  }

  @Test
  void shouldThrowAndGoOnWhenClosedWithMemoryInUse() {
    SubAllocator source = unlimited();
    Allocator allocator = create(source);
    Allocation handle = allocator.allocate(100);
    long raw = allocator.allocateRaw(64, 200);
    String message = assertThrows(IllegalStateException.class, allocator::close).getMessage();
    assertTrue(message.contains("2 allocations of 300 bytes"), message);
    handle.byteBuffer().put(99, (byte) 1);
    allocator.allocate(10).close();
    handle.close();
    allocator.deallocateRaw(raw);
    allocator.close();
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldRefuseMemoryWhenClosed() {
    Allocator allocator = create();
    allocator.close();
    allocator.close();
    assertThrows(IllegalStateException.class, () -> allocator.allocate(1));
    assertThrows(IllegalStateException.class, () -> allocator.allocate(1, 64));
    assertThrows(IllegalStateException.class, () -> allocator.allocateRaw(64, 1));
  }

  @Test
  void shouldKeepItsBooksWhenManyThreadsTakeAndGive() throws Exception {
    SubAllocator source = unlimited();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (Allocator allocator = create(source)) {
      Callable<Void> worker =
          () -> {
            for (int i = 0; i < 300; i++) {
              long raw = allocator.allocateRaw(64, 40_000 + i);
              try (Allocation handle = allocator.allocate(33_000 + i)) {
                handle.byteBuffer().putInt(0, i);
                new Pointer(raw).setInt(0, -i);
                assertEquals(i, handle.byteBuffer().getInt(0));
              }
              allocator.deallocateRaw(raw);
            }
            return null;
          };
      for (Future<Void> result : threads.invokeAll(List.of(worker, worker, worker, worker))) {
        result.get();
      }
      assertEquals(0, allocator.stats().bytesInUse());
      assertEquals(4 * 300 * 2, allocator.stats().numAllocs());
      assertFalse(allocator.name().isEmpty());
    } finally {
      threads.shutdown();
    }
    assertEquals(0, source.bytesReserved());
  }

  /** One piece of memory, and how to give it back. */
  private record Piece(long address, int bytes, byte content, Runnable release) {

    static Piece handle(Allocator allocator, int bytes, long alignment, byte content) {
      Allocation handle = allocator.allocate(bytes, alignment);
      return filled(handle.address(), bytes, alignment, content, handle::close);
    }

    static Piece raw(Allocator allocator, int bytes, long alignment, byte content) {
      long address = allocator.allocateRaw(alignment, bytes);
      return filled(address, bytes, alignment, content, () -> allocator.deallocateRaw(address));
    }

    private static Piece filled(
        long address, int bytes, long alignment, byte content, Runnable release) {
      assertTrue(address != 0 && address % alignment == 0, address + " to " + alignment);
      new Pointer(address).setMemory(0, bytes, content);
      return new Piece(address, bytes, content, release);
    }

    /** Checks that nobody else wrote into it, and gives it back. */
    void checkAndRelease(String what) {
      for (int at = 0; at < bytes; at = at < 64 || at >= bytes - 64 ? at + 1 : bytes - 64) {
        assertEquals(content, new Pointer(address).getByte(at), what + ", byte " + at);
      }
      release.run();
    }
  }

  @Test
  void shouldKeepAllApartWhenEverySizeIsOutWithEveryAlignment() throws Exception {
    long seed = ThreadLocalRandom.current().nextLong();
    SubAllocator source = unlimited();
    try (Allocator allocator = create(source)) {
      List<Piece> out = new ArrayList<>();
      long bytesInUse = 0;
      for (long alignment = 8; alignment <= 4096; alignment *= 2) {
        for (int bytes : new int[] {0, 1, 32_767, 32_768, 32_769, MIB}) {
          byte content = (byte) out.size();
          out.add(Piece.handle(allocator, bytes, alignment, content));
          out.add(Piece.raw(allocator, bytes, alignment, (byte) (content + 1)));
          bytesInUse += 2L * bytes;
        }
      }
      long addresses = out.stream().mapToLong(Piece::address).distinct().count();
      assertEquals(out.size(), addresses, "each has an address of its own, those of no bytes too");
      assertEquals(bytesInUse, allocator.stats().bytesInUse());
      assertTrue(allocator.stats().bytesReserved() >= bytesInUse);
      Collections.shuffle(out, new Random(seed));
      releaseFromThreads(out, "seed " + seed);
      AllocatorStats end = allocator.stats();
      assertEquals(0, end.bytesInUse());
      assertEquals(out.size(), end.numAllocs());
      assertEquals(MIB, end.largestAllocSize());
      assertTrue(end.peakBytesInUse() >= bytesInUse, "peak " + end.peakBytesInUse());
    }
    assertEquals(0, source.bytesReserved());
  }

  private static void releaseFromThreads(List<Piece> out, String what) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try {
      List<Callable<Void>> releases = new ArrayList<>();
      for (Piece piece : out) {
        releases.add(
            () -> {
              piece.checkAndRelease(what);
              return null;
            });
      }
      for (Future<Void> result : threads.invokeAll(releases)) {
        result.get();
      }
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void shouldAddUpWhenRequestsAreRandom() {
    long seed = ThreadLocalRandom.current().nextLong();
    Random random = new Random(seed);
    SubAllocator source = unlimited();
    try (Allocator allocator = create(source)) {
      List<Piece> out = new ArrayList<>();
      long bytesInUse = 0;
      long peak = 0;
      int largest = 0;
      for (int i = 0; i < 1500; i++) {
        int bytes = (int) Math.exp(random.nextDouble() * Math.log(200_000));
        long alignment = 8L << random.nextInt(10);
        byte content = (byte) i;
        out.add(
            random.nextBoolean()
                ? Piece.handle(allocator, bytes, alignment, content)
                : Piece.raw(allocator, bytes, alignment, content));
        bytesInUse += bytes;
        peak = Math.max(peak, bytesInUse);
        largest = Math.max(largest, bytes);
        while (out.size() > random.nextInt(200)) {
          Piece back = out.remove(random.nextInt(out.size()));
          back.checkAndRelease("seed " + seed + ", request " + i);
          bytesInUse -= back.bytes();
        }
        if (i % 100 == 0) {
          assertEquals(bytesInUse, allocator.stats().bytesInUse(), "seed " + seed);
        }
      }
      out.forEach(piece -> piece.checkAndRelease("seed " + seed));
      AllocatorStats end = allocator.stats();
      assertEquals(0, end.bytesInUse(), "seed " + seed);
      assertEquals(1500, end.numAllocs(), "seed " + seed);
      assertEquals(largest, end.largestAllocSize(), "seed " + seed);
      assertTrue(end.peakBytesInUse() >= peak, "seed " + seed);
    }
    assertEquals(0, source.bytesReserved());
  }
}
