package io.prmalloc.plan.arena;

import io.prmalloc.internal.block.Requests;

/**
 * How an {@link ArenaPlanner} places tensors.
 *
 * <p>Threading: immutable.
 *
 * @param preserveInputs whether the graph's inputs keep their memory to the end of a run, so that
 *     they can be read, or used again, afterwards
 * @param preserveIntermediates whether every tensor keeps its memory to the end of a run, so that
 *     all can be looked at afterwards; costs the sum of all sizes
 * @param tensorAlignment what every offset is a multiple of: a power of two from 1 to {@code
 *     arenaAlignment}
 * @param arenaAlignment what the address of the whole arena is a multiple of: a power of two from 1
 *     to 2^30
 */
public record ArenaOptions(
    boolean preserveInputs,
    boolean preserveIntermediates,
    long tensorAlignment,
    long arenaAlignment) {

  /** Nothing is preserved; tensors and arena are aligned to 64 bytes. */
  public static final ArenaOptions DEFAULT = new ArenaOptions(false, false, 64, 64);

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if an alignment is out of its bounds
   */
  public ArenaOptions {
    checkAlignment("tensorAlignment", tensorAlignment);
    checkAlignment("arenaAlignment", arenaAlignment);
    if (tensorAlignment > arenaAlignment) {
      throw new IllegalArgumentException(
          "tensorAlignment " + tensorAlignment + " exceeds arenaAlignment " + arenaAlignment);
    }
  }

  private static void checkAlignment(String name, long alignment) {
    try {
      Requests.checkAlignment(alignment);
    } catch (IllegalArgumentException refused) {
      throw new IllegalArgumentException(name + ": " + refused.getMessage(), refused);
    }
  }
}
