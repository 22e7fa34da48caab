package io.prmalloc.probe;

import io.prmalloc.HugePages;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;

/**
 * Where an allocator's memory comes from in a test.
 *
 * <p>Threading: immutable.
 */
enum Source {
  DIRECT,
  MMAP,
  MMAP_HUGE;

  SubAllocator open() {
    return switch (this) {
      case DIRECT -> SubAllocator.direct();
      case MMAP -> SubAllocator.mmap(MmapOptions.DEFAULT);
      case MMAP_HUGE -> SubAllocator.mmap(MmapOptions.DEFAULT.withHugePages(HugePages.THP));
    };
  }
}
