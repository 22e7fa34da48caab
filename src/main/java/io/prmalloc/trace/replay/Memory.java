package io.prmalloc.trace.replay;

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
  MMAP;

  /** A sub-allocator of this kind, without a limit. Threading: any thread. */
  SubAllocator source() {
    return this == DIRECT ? SubAllocator.direct() : SubAllocator.mmap(MmapOptions.DEFAULT);
  }
}
