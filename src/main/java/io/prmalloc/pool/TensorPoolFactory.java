package io.prmalloc.pool;

import io.prmalloc.Allocator;
import io.prmalloc.AllocatorFactory;

/**
 * Registers the pool, with its default settings, as {@code tensorpool_cpu}: the default of the
 * {@link io.prmalloc.AllocatorRegistry}. Found by {@link java.util.ServiceLoader}.
 *
 * <p>Threading: any thread.
 */
public final class TensorPoolFactory implements AllocatorFactory {

  /** For {@link java.util.ServiceLoader}. Threading: any thread. */
  public TensorPoolFactory() {}

  @Override
  public String name() {
    return TensorPoolAllocator.NAME;
  }

  @Override
  public int priority() {
    return 300;
  }

  @Override
  public Allocator create() {
    return TensorPoolAllocator.builder().build();
  }
}
