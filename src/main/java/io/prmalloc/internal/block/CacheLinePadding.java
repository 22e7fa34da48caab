package io.prmalloc.internal.block;

/**
 * A cache line of padding in front of the fields of {@link Block}, against false sharing. The byte
 * buffer of one block may lie right before the next block, and both are written in every use, by
 * two threads.
 *
 * <p>Threading: stateless.
 */
@SuppressWarnings("UnusedVariable")
abstract class CacheLinePadding {
  private long pad0, pad1, pad2, pad3, pad4, pad5, pad6, pad7;

  /** Fills a gap in front, or the JVM would put a field of a subclass there. */
  private int inTheGap;
}
