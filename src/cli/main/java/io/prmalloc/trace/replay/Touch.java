package io.prmalloc.trace.replay;

/**
 * How much of each tensor a replay writes after allocating it.
 *
 * <p>Threading: immutable.
 */
public enum Touch {
  /** Nothing: what the allocator costs, and nothing else. */
  NONE,
  /** The first eight bytes, or as many as there are. */
  FIRST,
  /** Eight bytes in each stretch of 4 KiB: every page is there, little is written. */
  PAGE,
  /**
   * Every byte, with a pattern of the tensor's own that is checked completely before the tensor is
   * released.
   */
  ALL;

  private static final long PAGE_BYTES = 4096;

  /** Bytes from one write of eight bytes to the next; 0 for none, or for all bytes. */
  static long strideBytes(Touch touch) {
    return touch == FIRST ? Long.MAX_VALUE : touch == PAGE ? PAGE_BYTES : 0;
  }
}
