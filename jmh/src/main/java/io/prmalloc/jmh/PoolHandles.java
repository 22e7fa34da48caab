package io.prmalloc.jmh;

import io.prmalloc.Allocation;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Our pool through checked handles and their byte buffers.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class PoolHandles extends HandleStrategy<Allocation> {

  private final TensorPoolAllocator pool = Pools.learning();

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
