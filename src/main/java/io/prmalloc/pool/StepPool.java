package io.prmalloc.pool;

import io.prmalloc.Allocator;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.steps.PlannedSteps;
import io.prmalloc.lifetime.MemoryPlanner;

/** The pool as planned steps use it. Threading: any thread. */
record StepPool(TensorPoolAllocator pool) implements PlannedSteps.Pool {

  @Override
  public Block take(long bytes, long alignment) {
    Requests.checkBytes(bytes);
    return pool.take(bytes, (int) alignment);
  }

  @Override
  public long allocateRaw(long bytes) {
    return pool.allocateRaw(Allocator.DEFAULT_ALIGNMENT, bytes);
  }

  @Override
  public void deallocateRaw(long address) {
    pool.deallocateRaw(address);
  }

  @Override
  public Block takeOutside(long bytes, Object ticket) {
    return pool.takeOutside(bytes, 0, ticket);
  }

  @Override
  public long allocateRawOutside(long bytes, Object ticket) {
    return pool.allocateRawOutside(bytes, ticket);
  }

  @Override
  public boolean isPooling() {
    return pool.bins() != null;
  }

  @Override
  public boolean isPlanned() {
    return pool.planner().phase() != MemoryPlanner.Phase.DISABLED;
  }

  @Override
  public boolean tryAdjust(Runnable change) {
    return pool.tryAdjust(change);
  }
}
