package io.prmalloc.trace.replay.lane;

import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;

/**
 * Where our own allocators take their memory from in a replay.
 *
 * <p>Threading: immutable.
 */
public enum Memory {
  /** Direct byte buffers. */
  DIRECT,
  /** Anonymous mappings of small pages. */
  MMAP,
  /** Those, with inaccessible guard pages around them. */
  GUARDED;

  /** A sub-allocator of this kind, without a limit. Threading: any thread. */
  SubAllocator source() {
    return switch (this) {
      case DIRECT -> SubAllocator.direct();
      case MMAP -> SubAllocator.mmap(MmapOptions.DEFAULT);
      case GUARDED -> SubAllocator.mmap(MmapOptions.DEFAULT.withGuardPages(true));
    };
  }
}
