package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.block.PoolObserver;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.function.IntSupplier;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * Reports the allocations of a pool that already has a plan to its planner, so that there will be
 * another plan.
 *
 * <p>Threading: any thread.
 */
final class ReplanObserver implements PoolObserver {

  private final MemoryPlanner planner;
  private final IntSupplier headerBytes;
  private final Long2ObjectHashMap<Tracked> lives = new Long2ObjectHashMap<>();
  private final Long2ObjectHashMap<ScopedMemoryCollector> steps = new Long2ObjectHashMap<>();
  private long lastTicket;

  /**
   * @param headerBytes what an allocation of this pool needs beside the bytes asked for
   */
  ReplanObserver(MemoryPlanner planner, IntSupplier headerBytes) {
    this.planner = planner;
    this.headerBytes = headerBytes;
  }

  @Override
  public boolean seesSteps() {
    return false;
  }

  @Override
  public long allocated(long bytes, long alignment) {
    if (bytes <= LifetimePolicy.SMALL_BYTES) {
      return 0;
    }
    Tracked tracked = planner.trackAllocate(alignment, bytes + headerBytes.getAsInt());
    if (tracked == null) {
      return 0;
    }
    synchronized (this) {
      lives.put(++lastTicket, tracked);
      return lastTicket;
    }
  }

  @Override
  public void released(long ticket) {
    Tracked tracked;
    synchronized (this) {
      tracked = lives.remove(ticket);
    }
    if (tracked != null) {
      planner.trackFree(tracked);
    }
  }

  @Override
  public long stepOpened() {
    ScopedMemoryCollector step = planner.collect();
    synchronized (this) {
      steps.put(++lastTicket, step);
      return lastTicket;
    }
  }

  @Override
  public void stepClosed(long ticket) {
    ScopedMemoryCollector step;
    synchronized (this) {
      step = steps.remove(ticket);
    }
    if (step != null) {
      step.close();
    }
  }
}
