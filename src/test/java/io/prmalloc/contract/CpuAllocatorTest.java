package io.prmalloc.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.Mallocs;
import io.prmalloc.MemoryRegion;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import org.junit.jupiter.api.Test;

class CpuAllocatorTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new CpuAllocator(source);
  }

  @Test
  void shouldReserveOnlyWhatIsInUseWhenMemoryComesBack() {
    SubAllocator source = SubAllocator.direct();
    try (Allocator allocator = create(source)) {
      assertEquals("cpu", allocator.name());
      Allocation first = allocator.allocate(1000);
      Allocation second = allocator.allocate(2000);
      assertEquals(3000, source.bytesReserved());
      second.close();
      assertEquals(1000, source.bytesReserved());
      first.close();
      assertEquals(3000, allocator.stats().peakBytesInUse());
      assertEquals(3000, allocator.stats().peakBytesReserved());
      assertEquals(0, allocator.stats().bytesReserved());
    }
  }

  @Test
  void shouldAskTheMallocWhenItsMemoryIsMeasuredSlowly() {
    Mallocs.assumeCLibrary();
    try (Allocator allocator = create(SubAllocator.posixMemalign());
        Allocation handle = allocator.allocate(1001)) {
      assertEquals(1001, allocator.allocatedSize(handle.address()));
      long usable = allocator.allocatedSizeSlow(handle.address());
      assertTrue(usable > 1001 && usable < 2000, "what malloc_usable_size says: " + usable);
      long raw = allocator.allocateRaw(64, 1001);
      assertEquals(1065, allocator.allocatedSize(raw));
      assertTrue(allocator.allocatedSizeSlow(raw) > 1065);
      allocator.deallocateRaw(raw);
    }
  }

  @Test
  void shouldReachTheLastByteWhenAsLargeAsCanBe() {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "mmap is called on Linux only");
    try (Allocator allocator = create(SubAllocator.mmap(MmapOptions.DEFAULT));
        Allocation allocation = allocator.allocate(MemoryRegion.MAX_BYTES)) {
      allocation.byteBuffer().put(Integer.MAX_VALUE - 1, (byte) 3);
      assertEquals(3, allocation.buffer().getByte(Integer.MAX_VALUE - 1));
    }
  }
}
