package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.MemoryRegion;
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
  void shouldLeaveCountersWhenTheRegionWouldNotFitOneBuffer() {
    SubAllocator source = SubAllocator.direct();
    assertThrows(
        IllegalArgumentException.class, () -> source.alloc(1 << 30, MemoryRegion.MAX_BYTES));
    assertEquals(0, source.bytesReserved());
  }
}
