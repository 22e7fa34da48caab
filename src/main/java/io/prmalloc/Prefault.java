package io.prmalloc;

/**
 * When the pages of a mapping are touched for the first time, and by whom.
 *
 * <p>Threading: immutable.
 */
public enum Prefault {
  /** Whoever touches a page first; until then the page costs no memory. */
  NONE,
  /** The mapping call, by writing one byte to every page. */
  TOUCH,
  /**
   * The mapping call, by asking the kernel for all pages at once (Linux 5.14 and later; on older
   * kernels the same as {@link #TOUCH}).
   */
  POPULATE
}
