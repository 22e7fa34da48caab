package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.HugePages;
import io.prmalloc.MemoryRegion;
import io.prmalloc.MmapOptions;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.Prefault;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorContractTest;
import io.prmalloc.internal.os.OperatingSystem;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class MmapSubAllocatorTest extends SubAllocatorContractTest {

  @BeforeEach
  void onLinuxOnly() {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "mmap is called on Linux only");
  }

  @Override
  public SubAllocator unlimited() {
    return SubAllocator.mmap(MmapOptions.DEFAULT);
  }

  @Override
  public SubAllocator limited(long limitBytes) {
    return SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(limitBytes));
  }

  /** The same with huge pages, all of them present from the start. */
  @Nested
  class WithHugePages extends SubAllocatorContractTest {

    private final MmapOptions options =
        MmapOptions.DEFAULT.withHugePages(HugePages.THP).withPrefault(Prefault.POPULATE);

    @Override
    public SubAllocator unlimited() {
      return SubAllocator.mmap(options);
    }

    @Override
    public SubAllocator limited(long limitBytes) {
      return SubAllocator.mmap(options.withLimitBytes(limitBytes));
    }
  }

  @Test
  void shouldCountWholePagesWhenLimited() {
    int page = OperatingSystem.pageSizeBytes();
    SubAllocator source = limited(2L * page - 1);
    MemoryRegion region = source.alloc(1, 1);
    assertEquals(page, source.bytesReserved());
    assertThrows(OutOfNativeMemoryException.class, () -> source.alloc(1, 1));
    assertEquals(page, source.bytesReserved());
    source.free(region);
  }

  @Test
  void shouldKeepTheOtherOptionsWhenOneIsChanged() {
    MmapOptions options =
        MmapOptions.DEFAULT
            .withLimitBytes(7)
            .withPrefault(Prefault.TOUCH)
            .withHugePages(HugePages.THP);
    assertEquals(
        new MmapOptions(HugePages.THP, Prefault.TOUCH, OptionalLong.of(7), false), options);
    assertEquals(
        new MmapOptions(HugePages.OFF, Prefault.NONE, OptionalLong.empty(), false),
        MmapOptions.DEFAULT);
    assertThrows(NullPointerException.class, () -> options.withHugePages(null));
    assertThrows(NullPointerException.class, () -> options.withPrefault(null));
  }
}
