package io.prmalloc.plan;

import io.prmalloc.SubAllocator;
import io.prmalloc.internal.planner.PlanMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The memory of a plan: one buffer for every tensor, at its offset. Made by {@link
 * OffsetsAssignment#open}; close it to give the memory back.
 *
 * <p>Buffers of tensors that are never alive together share bytes: what a tensor holds is gone once
 * the plan's tasks have moved on. The buffers must not be used after {@link #close}; this is not
 * checked.
 *
 * <p>Threading: any thread; each buffer is as safe for threads as any byte buffer. {@link #close}
 * when no other thread uses a buffer any more.
 */
public final class PlannedArena implements AutoCloseable {

  private final PlanMemory memory;
  private final ByteBuffer[] buffers;
  private final long totalBytes;
  private boolean closed;

  private PlannedArena(PlanMemory memory, ByteBuffer[] buffers, long totalBytes) {
    this.memory = memory;
    this.buffers = buffers;
    this.totalBytes = totalBytes;
  }

  /** As {@link OffsetsAssignment#open}. */
  static PlannedArena open(OffsetsAssignment plan, SubAllocator source, long maxRegionBytes) {
    PlanMemory memory = PlanMemory.reserve(plan, source, maxRegionBytes);
    ByteBuffer[] buffers = new ByteBuffer[plan.tensorCount()];
    for (int tensor = 0; tensor < buffers.length; tensor++) {
      buffers[tensor] = buffer(plan.offset(tensor), plan.sizeBytes(tensor), memory);
    }
    return new PlannedArena(memory, buffers, plan.totalBytes());
  }

  private static ByteBuffer buffer(long offset, long bytes, PlanMemory memory) {
    ByteBuffer buffer =
        bytes == 0
            ? ByteBuffer.allocateDirect(0)
            : memory
                .regionAt(offset)
                .buffer()
                .slice((int) memory.withinRegion(offset), (int) bytes);
    return buffer.order(ByteOrder.nativeOrder());
  }

  /** How many tensors have a buffer. Threading: any thread. */
  public int tensorCount() {
    return buffers.length;
  }

  /** How large the plan is in bytes. Threading: any thread. */
  public long totalBytes() {
    return totalBytes;
  }

  /**
   * How many pieces the memory came in: 0 for a plan without bytes, 1 up to 2 GiB − 1. Threading:
   * any thread.
   */
  public int regionCount() {
    return memory.regions().size();
  }

  /**
   * The memory of a tensor as a direct byte buffer in native byte order: capacity and limit are its
   * size, 0 for a tensor without bytes. The same object every time, position and all.
   *
   * <p>Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   * @throws IllegalStateException if this arena is closed
   */
  public synchronized ByteBuffer byteBuffer(int tensor) {
    if (closed) {
      throw new IllegalStateException("the planned arena is closed");
    }
    return buffers[tensor];
  }

  /**
   * Gives the memory back to where it came from.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this arena was closed before; nothing changes then
   */
  @Override
  public synchronized void close() {
    if (closed) {
      throw new IllegalStateException("the planned arena was closed before");
    }
    closed = true;
    memory.free();
  }

  @Override
  public String toString() {
    return "PlannedArena[" + tensorCount() + " tensors, " + totalBytes + " bytes]";
  }
}
