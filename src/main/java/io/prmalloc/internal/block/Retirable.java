package io.prmalloc.internal.block;

import java.util.List;
import java.util.function.Predicate;

/**
 * A part of a pool that can be closed if nothing of it is in use, and opened again if that turns
 * out to be too early for another part.
 *
 * <p>Threading: under the pool's lifecycle lock, unless a class says more.
 */
public interface Retirable {

  /**
   * Ensures that nothing is allocated and nothing can be. If something is allocated, or an
   * exception is thrown, nothing has changed.
   */
  boolean retire();

  /** Undoes {@link #retire}. Threading: the thread that did it. */
  void reopen();

  /** Retires all parts, in this order, or none. */
  static boolean retireAll(List<? extends Retirable> parts) {
    return retireAll(parts, Retirable::retire);
  }

  /**
   * Retires all parts, in this order, or none.
   *
   * @param retires retires one, or does nothing
   */
  static <T extends Retirable> boolean retireAll(List<T> parts, Predicate<T> retires) {
    int retired = 0;
    try {
      while (retired < parts.size() && retires.test(parts.get(retired))) {
        retired++;
      }
      return retired == parts.size();
    } finally {
      for (int i = retired - 1; retired < parts.size() && i >= 0; i--) {
        parts.get(i).reopen();
      }
    }
  }
}
