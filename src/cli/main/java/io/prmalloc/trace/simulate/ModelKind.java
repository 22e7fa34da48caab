package io.prmalloc.trace.simulate;

import java.util.Locale;

/**
 * The reference allocators.
 *
 * <p>Threading: immutable.
 */
public enum ModelKind {
  /** Every tensor straight from the system, which takes it back at once: the oracle. */
  OS,
  /** The buffer pool of MNN; a part that is given back waits for its siblings. */
  POOL,
  /** The same, but a part that is given back can be reused at once. */
  POOL_REUSING_CHILDREN;

  /** Its name: {@code os}, {@code pool}. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * A model that holds nothing yet.
   *
   * <p>Threading: any thread.
   *
   * @param tensors how many there are, from 0
   */
  public MemoryModel create(int tensors) {
    return this == OS ? new SystemModel(tensors) : new PoolModel(tensors, this != POOL);
  }
}
