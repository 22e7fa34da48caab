package io.prmalloc.pool;

import java.util.Locale;

/**
 * The sets of plans that compete for the shared pool.
 *
 * <p>Threading: immutable.
 */
public enum PoolPolicies {
  /** DeepRec's three: lifetime policies with size classes of 4, 8 and 16 KiB. */
  REFERENCE,
  /**
   * Those, lifetime policies with finer and with geometric size classes, and a packing that looks
   * at whole steps and lets every block serve every smaller size, for all threads together or as
   * often as steps ran beside each other. The one of fewest bytes wins.
   */
  ALL;

  private static final String PROPERTY = "prmalloc.policies";

  /**
   * The value of the system property {@code prmalloc.policies}, {@code all} or {@code reference};
   * {@link #ALL} without it.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if it says something else
   */
  static PoolPolicies fromProperty() {
    String value = System.getProperty(PROPERTY);
    if (value == null) {
      return ALL;
    }
    for (PoolPolicies policies : values()) {
      if (policies.label().equals(value.trim())) {
        return policies;
      }
    }
    throw new IllegalArgumentException(
        "system property " + PROPERTY + " is '" + value + "', not all or reference");
  }

  /** In small letters. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
