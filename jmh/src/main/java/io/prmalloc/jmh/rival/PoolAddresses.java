package io.prmalloc.jmh.rival;

import io.prmalloc.Allocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Optional;

/**
 * Our pool through raw addresses.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class PoolAddresses extends AddressStrategy {

  private final TensorPoolAllocator pool;

  PoolAddresses(TensorPoolAllocator pool) {
    this.pool = pool;
  }

  @Override
  long take(long bytes) {
    return Pools.had(pool.allocateRaw(Allocator.DEFAULT_ALIGNMENT, bytes), bytes);
  }

  @Override
  void giveBack(long address) {
    pool.deallocateRaw(address);
  }

  @Override
  public ScopedMemoryCollector openStep() {
    return pool.collect();
  }

  @Override
  public boolean isWarm() {
    return pool.isPooling();
  }

  @Override
  public Optional<String> report() {
    return Optional.of(Pools.report(pool));
  }

  @Override
  public void close() {
    pool.close();
  }
}
