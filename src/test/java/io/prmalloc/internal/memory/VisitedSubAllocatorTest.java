package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.LogRecords;
import io.prmalloc.Mallocs;
import io.prmalloc.MemoryRegion;
import io.prmalloc.MmapOptions;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorContractTest;
import io.prmalloc.internal.block.Failures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class VisitedSubAllocatorTest extends SubAllocatorContractTest {

  private final List<String> calls = new ArrayList<>();

  @Override
  public SubAllocator unlimited() {
    return SubAllocator.direct().withVisitors(0);
  }

  @Override
  public SubAllocator limited(long limitBytes) {
    return SubAllocator.direct(limitBytes).withVisitors(0);
  }

  /** Writes down what it is told, and looks at the memory. */
  private RegionVisitor visitor(String name) {
    return RegionVisitor.of(
        (region, index, bytes) -> calls.add(name + " +" + index + " " + bytes + seen(region)),
        (region, index, bytes) -> calls.add(name + " -" + index + " " + bytes + seen(region)));
  }

  private static String seen(MemoryRegion region) {
    region.buffer().put(0, (byte) 1);
    return region.isFreed() || region.address() == 0 ? " too late" : "";
  }

  private static RegionVisitor failing(RuntimeException onAlloc, RuntimeException onFree) {
    return RegionVisitor.of(
        (region, index, bytes) -> throwIfAny(onAlloc),
        (region, index, bytes) -> throwIfAny(onFree));
  }

  private static void throwIfAny(RuntimeException failure) {
    if (failure != null) {
      throw failure;
    }
  }

  @Test
  void shouldTellVisitorsInOrderAndInReverseWhenMemoryComesAndGoes() {
    SubAllocator source = SubAllocator.direct().withVisitors(3, visitor("a"), visitor("b"));
    MemoryRegion region = source.alloc(64, 100);
    assertEquals(List.of("a +3 100", "b +3 100"), calls);
    source.free(region);
    assertEquals(List.of("a +3 100", "b +3 100", "b -3 100", "a -3 100"), calls);
    assertTrue(region.isFreed());
  }

  /** As Kotlin and Scala do: an exception that is checked and not declared. */
  @Test
  void shouldFreeTheRegionWhenAVisitorThrowsACheckedException() {
    SubAllocator source =
        SubAllocator.direct()
            .withVisitors(
                0, RegionVisitor.onFree((region, index, bytes) -> throwChecked()), visitor("a"));
    MemoryRegion region = source.alloc(64, 100);
    assertThrows(IOException.class, () -> source.free(region));
    assertTrue(region.isFreed());
    assertEquals(0, source.bytesReserved());
  }

  private static void throwChecked() {
    Failures.throwIfAny(new IOException("of the test"));
  }

  @Test
  void shouldTellTheRegionsSizeWhenItIsMoreThanWasAsked() {
    Mallocs.assumeCLibrary();
    SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT).withVisitors(0, visitor("a"));
    MemoryRegion region = source.alloc(64, 100);
    assertEquals(List.of("a +0 " + region.sizeBytes()), calls);
    source.free(region);
  }

  @Test
  void shouldSayWhatItsSourceSaysWhenAskedAboutMemory() {
    SubAllocator direct = SubAllocator.direct(77).withVisitors(0, visitor("a"));
    assertTrue(direct.isResident());
    assertEquals(77, direct.bytesLimit().orElseThrow());
    assertFalse(SubAllocator.posixMemalign().withVisitors(0, visitor("a")).isResident());
  }

  @Test
  void shouldTellOneEndOnlyWhenAVisitorIsOfOneEnd() {
    SubAllocator source =
        SubAllocator.direct()
            .withVisitors(
                1,
                RegionVisitor.onAlloc((region, index, bytes) -> calls.add("+" + bytes)),
                RegionVisitor.onFree((region, index, bytes) -> calls.add("-" + bytes)));
    source.free(source.alloc(64, 7));
    assertEquals(List.of("+7", "-7"), calls);
  }

  @Test
  void shouldTellNobodyWhenNoMemoryWasTaken() {
    SubAllocator source = SubAllocator.direct(10).withVisitors(0, visitor("a"));
    assertThrows(OutOfNativeMemoryException.class, () -> source.alloc(64, 11));
    assertThrows(IllegalArgumentException.class, () -> source.alloc(3, 1));
    assertEquals(List.of(), calls);
  }

  @Test
  void shouldTellNobodyWhenTheRegionIsNotItsOwn() {
    SubAllocator inner = SubAllocator.direct();
    SubAllocator source = inner.withVisitors(0, visitor("a"));
    MemoryRegion unseen = inner.alloc(64, 10);
    assertThrows(IllegalArgumentException.class, () -> source.free(unseen));
    assertEquals(List.of(), calls);
    assertFalse(unseen.isFreed());
    inner.free(unseen);
  }

  @Test
  void shouldGiveTheRegionBackWhenAVisitorRefusesIt() {
    RuntimeException failure = new IllegalStateException("not this one");
    SubAllocator inner = SubAllocator.direct();
    SubAllocator source = inner.withVisitors(0, visitor("a"), failing(failure, null), visitor("c"));
    assertSame(failure, assertThrows(IllegalStateException.class, () -> source.alloc(64, 10)));
    // The one before it is told that the region goes, the one after it hears of nothing.
    assertEquals(List.of("a +0 10", "a -0 10"), calls);
    assertEquals(0, inner.bytesReserved());
    assertEquals(0, failure.getSuppressed().length);
  }

  @Test
  void shouldGiveTheRegionBackWhenAVisitorFailsOnAlreadyTellingOfAFailure() {
    RuntimeException failure = new IllegalStateException("not this one");
    RuntimeException second = new IllegalStateException("nor that");
    SubAllocator inner = SubAllocator.direct();
    SubAllocator source =
        inner.withVisitors(0, visitor("a"), failing(null, second), failing(failure, null));
    assertSame(failure, assertThrows(IllegalStateException.class, () -> source.alloc(64, 10)));
    assertEquals(List.of(second), List.of(failure.getSuppressed()));
    assertEquals(List.of("a +0 10", "a -0 10"), calls);
    assertEquals(0, inner.bytesReserved());
  }

  @Test
  void shouldTellEverybodyAndGiveTheRegionBackWhenVisitorsFailOnFree() {
    RuntimeException first = new IllegalStateException("first");
    RuntimeException second = new IllegalStateException("second");
    SubAllocator inner = SubAllocator.direct();
    SubAllocator source =
        inner.withVisitors(0, visitor("a"), failing(null, second), failing(null, first));
    MemoryRegion region = source.alloc(64, 10);
    assertSame(first, assertThrows(IllegalStateException.class, () -> source.free(region)));
    assertEquals(List.of(second), List.of(first.getSuppressed()));
    assertEquals(List.of("a +0 10", "a -0 10"), calls);
    assertTrue(region.isFreed());
    assertEquals(0, inner.bytesReserved());
    assertThrows(IllegalStateException.class, () -> source.free(region));
    assertEquals(2, calls.size());
  }

  @Test
  void shouldLoseNothingWhenAVisitorFailsUnderAnAllocator() {
    SubAllocator inner = SubAllocator.direct();
    RuntimeException onFree = new IllegalStateException("on free");
    try (Allocator allocator = new CpuAllocator(inner.withVisitors(0, failing(null, onFree)))) {
      Allocation allocation = allocator.allocate(100);
      try (LogRecords log = new LogRecords(DeferredFreeSubAllocator.class.getName())) {
        // Who closes has nothing to do with it.
        allocation.close();
        assertTrue(log.take().contains("not without a failure"));
      }
      assertEquals(0, allocator.stats().bytesInUse());
      assertEquals(0, inner.bytesReserved());
    }
  }

  @Test
  void shouldKeepTheRegionAndTellAgainWhenTheSystemRefusesToTakeIt() {
    SubAllocator inner = SubAllocator.direct();
    // The memory is gone, so this one does not look at it.
    RegionVisitor visitor = RegionVisitor.onFree((region, index, bytes) -> calls.add("-" + bytes));
    SubAllocator source = inner.withVisitors(0, visitor);
    MemoryRegion region = source.alloc(64, 10);
    region.free(); // Behind its back, so that the source refuses.
    assertThrows(IllegalStateException.class, () -> source.free(region));
    assertEquals(10, source.bytesReserved());
    assertThrows(IllegalStateException.class, () -> source.free(region));
    assertEquals(List.of("-10", "-10"), calls);
  }
}
