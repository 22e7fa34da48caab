package io.prmalloc;

import io.prmalloc.internal.os.OperatingSystem;

/**
 * Whether a mapping asks for huge pages.
 *
 * <p>Threading: immutable.
 */
public enum HugePages {
  /** Small pages, even where the system would make huge ones unasked. */
  OFF,
  /**
   * Transparent huge pages: the mapping starts on a huge page's boundary, and the kernel is asked
   * to use huge pages where whole ones fit. It is a wish: the kernel serves small pages when it has
   * no huge ones at hand, or when {@link OperatingSystem#hugePageMode} is {@code NEVER}.
   */
  THP
}
