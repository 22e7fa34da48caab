package io.prmalloc.plan;

import io.prmalloc.SubAllocator;
import io.prmalloc.os.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A plan in memory: one buffer for every tensor, at its offset. Made by {@link
 * OffsetsAssignment#open}; close it to give the memory back.
 *
 * <p>Buffers of tensors that are never alive together share bytes: what a tensor holds is gone once
 * the plan's tasks have moved on. The buffers must not be used after {@link #close}, which nobody
 * can check.
 *
 * <p>Threading: any thread; each buffer is as safe for threads as any byte buffer. {@link #close}
 * when no other thread uses a buffer any more.
 */
public final class PlannedArena implements AutoCloseable {

  // One region holds 2 GiB − 1 at most. A larger plan is cut at offsets where a tensor begins and
  // none is cut in two, as few times as that allows. Such an offset is aligned, so what is aligned
  // in the plan is aligned in its region.

  private final SubAllocator memory;
  private final List<MemoryRegion> regions;
  private final ByteBuffer[] buffers;
  private final long totalBytes;
  private boolean closed;

  private PlannedArena(
      SubAllocator memory, List<MemoryRegion> regions, ByteBuffer[] buffers, long totalBytes) {
    this.memory = memory;
    this.regions = regions;
    this.buffers = buffers;
    this.totalBytes = totalBytes;
  }

  /** As {@link OffsetsAssignment#open}. */
  static PlannedArena open(OffsetsAssignment plan, SubAllocator memory, long maxRegionBytes) {
    int[] byOffset =
        Arrays.stream(IndexSort.ascending(plan.offsets()))
            .filter(tensor -> plan.sizeBytes(tensor) > 0)
            .toArray();
    List<Long> cuts = cuts(plan, byOffset, maxRegionBytes);
    ByteBuffer[] buffers = new ByteBuffer[plan.tensorCount()];
    List<MemoryRegion> regions = new ArrayList<>();
    boolean done = false;
    try {
      int next = 0;
      for (int i = 0; i + 1 < cuts.size(); i++) {
        long start = cuts.get(i);
        long end = start;
        int behind = next;
        while (behind < byOffset.length && plan.offset(byOffset[behind]) < cuts.get(i + 1)) {
          int tensor = byOffset[behind++];
          end = Math.max(end, plan.offset(tensor) + plan.sizeBytes(tensor));
        }
        MemoryRegion region = memory.alloc(plan.alignment(), end - start);
        regions.add(region);
        for (; next < behind; next++) {
          int tensor = byOffset[next];
          buffers[tensor] =
              slice(region.buffer(), plan.offset(tensor) - start, plan.sizeBytes(tensor));
        }
      }
      done = true;
    } finally {
      if (!done) {
        regions.forEach(memory::free);
      }
    }
    for (int tensor = 0; tensor < buffers.length; tensor++) {
      if (buffers[tensor] == null) {
        buffers[tensor] = ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder());
      }
    }
    return new PlannedArena(memory, regions, buffers, plan.totalBytes());
  }

  private static ByteBuffer slice(ByteBuffer region, long offset, long bytes) {
    return region.slice((int) offset, (int) bytes).order(ByteOrder.nativeOrder());
  }

  /**
   * Where regions begin, and the end of the last. Each as long as it can be.
   *
   * @throws IllegalStateException if there is no place to cut
   */
  private static List<Long> cuts(OffsetsAssignment plan, int[] byOffset, long maxRegionBytes) {
    List<Long> cuts = new ArrayList<>();
    if (byOffset.length == 0) {
      return cuts;
    }
    long start = plan.offset(byOffset[0]);
    // The last place before here where a cut is possible; −1 if there is none since the last cut.
    long possible = -1;
    long end = start;
    cuts.add(start);
    for (int tensor : byOffset) {
      long offset = plan.offset(tensor);
      if (offset >= end && offset > start) {
        possible = offset;
      }
      long tensorEnd = offset + plan.sizeBytes(tensor);
      if (tensorEnd - start > maxRegionBytes) {
        if (possible < 0 || tensorEnd - possible > maxRegionBytes) {
          throw new IllegalStateException(
              "tensors that share bytes reach from offset "
                  + Math.max(start, possible)
                  + " to "
                  + tensorEnd
                  + ", but one region holds at most "
                  + maxRegionBytes
                  + " bytes");
        }
        start = possible;
        cuts.add(start);
        possible = -1;
      }
      end = Math.max(end, tensorEnd);
    }
    cuts.add(Math.max(end, start + 1));
    return cuts;
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
    return regions.size();
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
    regions.forEach(memory::free);
  }

  @Override
  public String toString() {
    return "PlannedArena[" + tensorCount() + " tensors, " + totalBytes + " bytes]";
  }
}
