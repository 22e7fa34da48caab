package io.prmalloc.internal.planner;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.planner.index.IndexSort;
import io.prmalloc.plan.OffsetsAssignment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The memory of a plan: one region, or as few as it takes, and where in them an offset lies.
 *
 * <p>Threading: any thread; {@link #free} when no other thread uses the memory any more.
 */
public final class PlanMemory {

  // One region holds 2 GiB − 1 at most. A larger plan is cut at offsets where a tensor begins and
  // none is cut in two, as few times as that allows, rounded down to what the start of a region is
  // aligned to: what is aligned in the plan is aligned in its region.

  private final SubAllocator source;
  private final List<MemoryRegion> regions;

  /** Offset in the plan of each region's first byte. */
  private final long[] starts;

  private PlanMemory(SubAllocator source, List<MemoryRegion> regions, long[] starts) {
    this.source = source;
    this.regions = regions;
    this.starts = starts;
  }

  /**
   * Takes the memory of a plan.
   *
   * <p>Threading: any thread.
   *
   * @param source where it comes from and goes back to
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available; nothing is held
   *     then
   * @throws IllegalStateException if the plan is larger than a region and has no place to cut
   */
  public static PlanMemory reserve(OffsetsAssignment plan, SubAllocator source) {
    return reserve(plan, source, MemoryRegion.MAX_BYTES);
  }

  public static PlanMemory reserve(
      OffsetsAssignment plan, SubAllocator source, long maxRegionBytes) {
    List<Piece> pieces = pieces(plan, maxRegionBytes);
    MemoryRegion[] regions = new MemoryRegion[pieces.size()];
    long[] starts = pieces.stream().mapToLong(Piece::start).toArray();
    // Made before there is anything to lose: it takes heap, which may be exhausted.
    PlanMemory made =
        new PlanMemory(source, Collections.unmodifiableList(Arrays.asList(regions)), starts);
    try {
      for (int i = 0; i < regions.length; i++) {
        regions[i] = source.alloc(plan.memoryAlignment(), pieces.get(i).bytes());
      }
    } catch (Throwable e) {
      made.free();
      throw e;
    }
    return made;
  }

  /**
   * How many bytes {@link #reserve(OffsetsAssignment, SubAllocator)} takes, 0 for a plan without.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if the plan is larger than a region and has no place to cut
   */
  public static long bytes(OffsetsAssignment plan) {
    return pieces(plan, MemoryRegion.MAX_BYTES).stream().mapToLong(Piece::bytes).sum();
  }

  /** What is to be one region. */
  private record Piece(long start, long bytes) {}

  private static List<Piece> pieces(OffsetsAssignment plan, long maxRegionBytes) {
    int[] byOffset =
        Arrays.stream(IndexSort.ascending(plan.offsets()))
            .filter(tensor -> plan.sizeBytes(tensor) > 0)
            .toArray();
    List<Long> cuts = cuts(plan, byOffset, maxRegionBytes);
    List<Piece> pieces = new ArrayList<>();
    int next = 0;
    for (int i = 0; i + 1 < cuts.size(); i++) {
      long end = cuts.get(i);
      for (; next < byOffset.length && plan.offset(byOffset[next]) < cuts.get(i + 1); next++) {
        end = Math.max(end, plan.offset(byOffset[next]) + plan.sizeBytes(byOffset[next]));
      }
      pieces.add(new Piece(cuts.get(i), end - cuts.get(i)));
    }
    return pieces;
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
    long start = plan.offset(byOffset[0]) & -plan.memoryAlignment();
    // The last place before here where a cut is possible; −1 if there is none since the last cut.
    long possible = -1;
    long end = start;
    cuts.add(start);
    for (int tensor : byOffset) {
      long offset = plan.offset(tensor);
      long place = offset & -plan.memoryAlignment();
      if (place >= end && place > start) {
        possible = place;
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

  /**
   * The pieces, by offset: none for a plan without bytes, one up to 2 GiB − 1. Threading: any
   * thread.
   */
  public List<MemoryRegion> regions() {
    return regions;
  }

  private int pieceAt(long offset) {
    int found = Arrays.binarySearch(starts, offset);
    int piece = found >= 0 ? found : -found - 2;
    if (piece < 0 || offset - starts[piece] >= regions.get(piece).sizeBytes()) {
      throw new IllegalArgumentException("offset " + offset + " is not in this memory");
    }
    return piece;
  }

  /**
   * The region in which the byte at an offset of the plan lies.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if no tensor with bytes lies there
   */
  public MemoryRegion regionAt(long offset) {
    return regions.get(pieceAt(offset));
  }

  /**
   * Where in its region the byte at an offset of the plan lies.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if no tensor with bytes lies there
   */
  public long withinRegion(long offset) {
    return offset - starts[pieceAt(offset)];
  }

  /** Bytes of all regions. Threading: any thread. */
  public long totalBytes() {
    return regions.stream().mapToLong(MemoryRegion::sizeBytes).sum();
  }

  /** Gives everything back to where it came from. Threading: any thread, once. */
  public void free() {
    source.freeAll(regions);
  }
}
