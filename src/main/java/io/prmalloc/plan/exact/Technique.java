package io.prmalloc.plan.exact;

/**
 * A technique by which the {@link ExactPlanner} searches less. Each can be left out: answers stay
 * right, and mostly take longer.
 *
 * <p>Threading: immutable.
 */
public enum Technique {
  /**
   * A state of the search that had no plan is remembered, and not searched again; nor is a part
   * with a plan.
   */
  FAILED_STATES,

  /**
   * A tensor that failed as the next one is not tried again before something lies under it that did
   * not when it failed.
   */
  SLEEPING,

  /** Parts of time that no unplaced tensor links are searched apart. */
  DECOMPOSITION,

  /**
   * The search goes on where the fewest tensors can come next; otherwise around the tensor that
   * ends lowest.
   */
  FEWEST_CHOICES,

  /** Of tensors with equal sizes and lives one order is tried only. */
  SYMMETRY,

  /** A search that takes long is given up and begun again with another order. */
  RESTARTS,

  /** Sections that often have no room left get their tensors placed earlier after a restart. */
  LEARNED_ORDERS,

  /**
   * Where there are thousands of tensors, best fit in orders that learn, before the search or
   * beside it.
   */
  GREEDY_ORDERS
}
