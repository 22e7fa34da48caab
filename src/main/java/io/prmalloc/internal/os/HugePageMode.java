package io.prmalloc.internal.os;

/**
 * The memory for which this system makes huge pages by itself ("transparent huge pages").
 *
 * <p>Threading: immutable.
 */
public enum HugePageMode {
  /** For all memory, asked for or not. */
  ALWAYS,
  /** For memory whose owner asks for it. */
  MADVISE,
  /** For none, asked for or not. */
  NEVER,
  /** The system has no such thing, or does not say. */
  UNSUPPORTED
}
