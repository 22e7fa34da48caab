package io.prmalloc.internal.block;

import io.prmalloc.Allocation;
import java.lang.invoke.MethodHandles;

/**
 * Makes handles, and knows the block behind one: what {@link Allocation} shows to the library and
 * not to its users.
 *
 * <p>Threading: any thread.
 */
public abstract class Handles {

  /** Written once, by the static initializer of {@link Allocation}. */
  private static Handles instance;

  /** For {@link Allocation} only. */
  protected Handles() {}

  /** Called by the static initializer of {@link Allocation}. */
  public static void provide(Handles handles) {
    instance = handles;
  }

  // Block is initialized after Allocation, and Allocation needs nothing of Block for it. So two
  // threads that initialize one of them each do not wait for each other.

  /** For the static initializer of {@link Block}. */
  static Handles initialize(MethodHandles.Lookup lookup) throws IllegalAccessException {
    lookup.ensureInitialized(Allocation.class);
    return instance;
  }

  /**
   * The handle of a use that has begun.
   *
   * <p>Threading: the thread that began the use.
   *
   * @param stamp of the use
   * @param sizeBytes how many bytes the user asked for, from 0
   */
  protected abstract Allocation handle(Block block, long stamp, long sizeBytes);

  /** The block behind a handle. Threading: any thread. */
  protected abstract Block block(Allocation allocation);
}
