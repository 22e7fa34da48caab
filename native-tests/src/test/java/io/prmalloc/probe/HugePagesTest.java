package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.os.HugePageMode;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.pool.TensorPoolAllocator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Checks in {@code smaps} whether the kernel backs our mappings with huge pages. */
@NeedsProbe
class HugePagesTest {

  private static final int BYTES = 64 << 20;

  @BeforeEach
  void withHugePagesOnly() {
    HugePageMode mode = OperatingSystem.hugePageMode();
    assumeTrue(
        mode == HugePageMode.ALWAYS || mode == HugePageMode.MADVISE,
        () -> "this system makes no transparent huge pages: " + mode);
  }

  private static long hugeBytes(long address, long bytes) {
    return Probe.probe_mapping_bytes(address, bytes, "AnonHugePages");
  }

  private static long hugeBytesOfTouchedRegion(Source source) {
    SubAllocator memory = source.open();
    MemoryRegion region = memory.alloc(64, BYTES);
    assertEquals(0, hugeBytes(region.address(), BYTES), "before the first touch");
    Probe.probe_touch(region.address(), BYTES);
    long huge = hugeBytes(region.address(), BYTES);
    memory.free(region);
    return huge;
  }

  @Test
  void shouldShowHugePagesWhenARegionAsksForThem() {
    assertTrue(hugeBytesOfTouchedRegion(Source.MMAP_HUGE) > 0);
  }

  @Test
  void shouldShowNoneWhenARegionAsksForSmallPages() {
    assertEquals(0, hugeBytesOfTouchedRegion(Source.MMAP));
  }

  private static long hugeBytesOfTouchedArena(Source source) {
    try (TensorPoolAllocator pool = Pools.open(source.open())) {
      Pools.warmUp(pool, () -> pool.allocate(BYTES).close());
      try (Allocation tensor = pool.allocate(BYTES)) {
        assertEquals(1, pool.poolStats().hits());
        Probe.probe_touch(tensor.address(), BYTES);
        return hugeBytes(tensor.address(), BYTES);
      }
    }
  }

  @Test
  void shouldShowHugePagesWhenAPoolsArenaAsksForThem() {
    assertTrue(hugeBytesOfTouchedArena(Source.MMAP_HUGE) > 0);
  }

  @Test
  void shouldShowNoneWhenAPoolsArenaAsksForSmallPages() {
    assertEquals(0, hugeBytesOfTouchedArena(Source.MMAP));
  }
}
