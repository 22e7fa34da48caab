package io.prmalloc;

/**
 * When, and by what code, the pages of a mapping are touched for the first time.
 *
 * <p>Threading: immutable.
 */
public enum Prefault {
  /** The first use of each page; until then the page costs no memory. */
  NONE,
  /** The mapping call, by writing one byte to every page. */
  TOUCH,
  /**
   * The mapping call, by asking the kernel for all pages at once (Linux 5.14 and later; on older
   * kernels the same as {@link #TOUCH}).
   */
  POPULATE
}
