package io.prmalloc.jmh.rival;

import io.prmalloc.Allocation;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Our pool through checked handles and their byte buffers, with steps or without.
 *
 * <p>Threading: as {@link Strategy} says.
 */
class PoolHandles extends HandleStrategy<Allocation> {

  final TensorPoolAllocator pool;
  private final boolean inSteps;

  private PoolHandles(TensorPoolAllocator pool, boolean inSteps) {
    this.pool = pool;
    this.inSteps = inSteps;
  }

  PoolHandles(TensorPoolAllocator pool) {
    this(pool, true);
  }

  /** As a caller that tells the pool of no steps. It never plans. */
  static PoolHandles withoutSteps(TensorPoolAllocator pool) {
    return new PoolHandles(pool, false);
  }

  @Override
  Allocation take(long bytes) {
    return pool.allocate(bytes);
  }

  @Override
  long touch(Allocation handle, long value) {
    ByteBuffer buffer = handle.byteBuffer();
    buffer.putLong(0, value);
    return buffer.getLong(0);
  }

  @Override
  long address(Allocation handle) {
    return handle.address();
  }

  @Override
  void giveBack(Allocation handle) {
    handle.close();
  }

  @Override
  public ScopedMemoryCollector openStep() {
    return inSteps ? pool.collect() : null;
  }

  @Override
  public boolean isWarm() {
    return !inSteps || pool.isPooling();
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
