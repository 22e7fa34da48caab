package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorContractTest;
import org.junit.jupiter.api.Test;

class DirectSubAllocatorTest extends SubAllocatorContractTest {

  @Override
  public SubAllocator unlimited() {
    return SubAllocator.direct();
  }

  @Override
  public SubAllocator limited(long limitBytes) {
    return SubAllocator.direct(limitBytes);
  }

  @Test
  void shouldReserveExactlyWhatIsAskedWhenOfOddSize() {
    SubAllocator source = SubAllocator.direct(1001);
    MemoryRegion region = source.alloc(4096, 1001);
    assertEquals(1001, region.sizeBytes());
    assertEquals(1001, source.bytesReserved());
    source.free(region);
  }

  @Test
  void shouldMapTheRegionWhenItWouldNotFitOneBuffer() {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "mmap is called on Linux only");
    SubAllocator source = SubAllocator.direct();
    MemoryRegion aligned = source.alloc(1 << 30, MemoryRegion.MAX_BYTES);
    assertEquals(0, aligned.address() % (1 << 30));
    MemoryRegion large = source.alloc(64, 5L << 30);
    assertEquals(5L << 30, large.sizeBytes());
    assertEquals(MemoryRegion.MAX_BYTES, large.buffer().capacity());
    assertEquals((5L << 30) + aligned.sizeBytes(), source.bytesReserved());
    source.free(large);
    source.free(aligned);
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldRefuseWhatIsMappedWhenTheLimitIsReached() {
    SubAllocator source = SubAllocator.direct(5L << 30);
    assertThrows(OutOfNativeMemoryException.class, () -> source.alloc(64, (5L << 30) + 1));
    assertEquals(0, source.bytesReserved());
  }
}
