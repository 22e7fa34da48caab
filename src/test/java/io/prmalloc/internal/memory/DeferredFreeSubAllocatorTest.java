package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.RefusingSource;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorContractTest;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DeferredFreeSubAllocatorTest extends SubAllocatorContractTest {

  private final RefusingSource inner = new RefusingSource(SubAllocator.direct(1000));
  private final DeferredFreeSubAllocator source = new DeferredFreeSubAllocator(inner);

  @Override
  public SubAllocator unlimited() {
    return new DeferredFreeSubAllocator(SubAllocator.direct());
  }

  @Override
  public SubAllocator limited(long limitBytes) {
    return new DeferredFreeSubAllocator(SubAllocator.direct(limitBytes));
  }

  static Stream<Supplier<Throwable>> reasons() {
    return Stream.of(
        () -> new IllegalStateException("munmap: error 12"),
        () -> new OutOfMemoryError("Java heap space"),
        StackOverflowError::new,
        () -> new IOException("checked"));
  }

  @ParameterizedTest
  @MethodSource("reasons")
  void shouldKeepWhatIsRefusedAndGiveItBackWithTheNextFree(Supplier<Throwable> reason) {
    MemoryRegion first = source.alloc(64, 100);
    MemoryRegion second = source.alloc(64, 200);
    inner.refuse(1, reason);
    source.free(first);
    assertEquals(300, source.bytesReserved());
    source.free(second);
    assertEquals(0, source.bytesReserved());
    assertTrue(first.isFreed() && second.isFreed());
  }

  @Test
  void shouldGiveItBackWhenThereWouldBeNoMemory() {
    MemoryRegion region = source.alloc(64, 900);
    inner.refuse(1);
    source.free(region);
    source.free(source.alloc(64, 900));
    assertEquals(0, source.bytesReserved());
    assertThrows(OutOfNativeMemoryException.class, () -> source.alloc(64, 1001));
  }

  @Test
  void shouldSayWhatIsLeftWhenItIsStillRefused() {
    List<MemoryRegion> regions = List.of(source.alloc(64, 100), source.alloc(64, 200));
    inner.refuse(Integer.MAX_VALUE);
    regions.forEach(source::free);
    assertEquals(0, source.retry());
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> source.returnAll("cpu"));
    assertEquals(
        "allocator cpu is closed, but the system did not take back 2 regions of 300 bytes;"
            + " close() tries again",
        refused.getMessage());
    assertEquals("refused", refused.getCause().getMessage());
    inner.refuse(0);
    source.returnAll("cpu");
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldSayHowMuchWentWhenTriedAgain() {
    MemoryRegion region = source.alloc(64, 100);
    inner.refuse(2);
    source.free(region);
    assertEquals(0, source.retry());
    assertEquals(100, source.retry());
    assertEquals(0, source.retry());
  }

  @Test
  void shouldTakeEachRegionOnce() {
    MemoryRegion region = source.alloc(64, 100);
    inner.refuse(1);
    source.free(region);
    assertThrows(RuntimeException.class, () -> source.free(region));
    assertEquals(100, source.retry());
    assertEquals(0, source.bytesReserved());
  }
}
