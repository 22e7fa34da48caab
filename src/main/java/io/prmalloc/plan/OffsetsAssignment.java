package io.prmalloc.plan;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.planner.index.Sums;
import java.util.Arrays;
import java.util.List;

/**
 * A plan by which every tensor lies at an offset of one arena.
 *
 * <p>This type holds a planner's answer; {@link PlanValidator} checks whether it is valid for given
 * records.
 *
 * <p>Threading: immutable.
 */
public final class OffsetsAssignment {

  private final long[] offsets;
  private final long[] sizesBytes;
  private final long alignment;
  private final long memoryAlignment;
  private final long totalBytes;

  private OffsetsAssignment(
      long[] offsets, long[] sizesBytes, long alignment, long memoryAlignment, long totalBytes) {
    this.offsets = offsets;
    this.sizesBytes = sizesBytes;
    this.alignment = alignment;
    this.memoryAlignment = memoryAlignment;
    this.totalBytes = totalBytes;
  }

  /**
   * A plan whose total is the largest end of a tensor, 0 if there is none.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors
   * @param offsets where each of them lies, from 0; copied
   * @param alignment what every offset is a multiple of, a power of two from 1 to 2^30
   * @throws IllegalArgumentException if there are more or fewer offsets than records, one is
   *     negative or not a multiple of the alignment, an end passes 2^63 − 1, or the alignment is
   *     out of its bounds
   */
  public static OffsetsAssignment of(
      List<TensorUsageRecord> records, long[] offsets, long alignment) {
    return of(records, offsets, alignment, 0);
  }

  /**
   * As {@link #of(List, long[], long)}, for a planner that counts more than the tensors themselves,
   * such as what they are rounded up to.
   *
   * <p>Threading: any thread.
   *
   * @param atLeastBytes the total is not less
   * @throws IllegalArgumentException as above
   */
  public static OffsetsAssignment of(
      List<TensorUsageRecord> records, long[] offsets, long alignment, long atLeastBytes) {
    Requests.checkAlignment(alignment);
    if (records.size() != offsets.length) {
      throw new IllegalArgumentException(
          "there are " + offsets.length + " offsets for " + records.size() + " tensors");
    }
    long[] sizesBytes = new long[offsets.length];
    long memoryAlignment = alignment;
    long totalBytes = atLeastBytes;
    for (int tensor = 0; tensor < offsets.length; tensor++) {
      long offset = offsets[tensor];
      if (offset < 0 || (offset & (alignment - 1)) != 0) {
        throw new IllegalArgumentException(
            "offset "
                + offset
                + " of tensor "
                + tensor
                + " is not a multiple of "
                + alignment
                + " from 0");
      }
      sizesBytes[tensor] = records.get(tensor).sizeBytes();
      memoryAlignment =
          Math.max(
              memoryAlignment, Long.lowestOneBit(records.get(tensor).constraints().alignment()));
      totalBytes = Math.max(totalBytes, Sums.add(offset, sizesBytes[tensor]));
    }
    return new OffsetsAssignment(
        offsets.clone(), sizesBytes, alignment, memoryAlignment, totalBytes);
  }

  /** How many tensors have an offset. Threading: any thread. */
  public int tensorCount() {
    return offsets.length;
  }

  /**
   * Where a tensor lies, in bytes from the start of the arena.
   *
   * <p>Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   */
  public long offset(int tensor) {
    return offsets[tensor];
  }

  /**
   * The size of a tensor in bytes.
   *
   * <p>Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   */
  public long sizeBytes(int tensor) {
    return sizesBytes[tensor];
  }

  /** The offsets of all tensors, a new array. Threading: any thread. */
  public long[] offsets() {
    return offsets.clone();
  }

  /** What every offset is a multiple of. Threading: any thread. */
  public long alignment() {
    return alignment;
  }

  /**
   * What the address of the arena must be a multiple of so that every tensor's address is as its
   * offset: the largest power of two in {@link #alignment} and the tensors' own alignments.
   *
   * <p>Threading: any thread.
   */
  public long memoryAlignment() {
    return memoryAlignment;
  }

  /** How large the arena is in bytes. Threading: any thread. */
  public long totalBytes() {
    return totalBytes;
  }

  /**
   * Takes the memory of this plan and gives every tensor its buffer there. In a try-with-resources:
   *
   * <pre>{@code
   * try (PlannedArena arena = plan.open(SubAllocator.direct())) {
   *   ByteBuffer input = arena.byteBuffer(0);
   * }
   * }</pre>
   *
   * <p>A plan of more than 2 GiB − 1 bytes comes in several regions, cut where no tensor lies
   * across.
   *
   * <p>Threading: any thread.
   *
   * @param memory where it comes from and goes back to
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available; nothing is held
   *     then
   * @throws IllegalStateException if the plan is larger than a region and has no place to cut
   */
  public PlannedArena open(SubAllocator memory) {
    return PlannedArena.open(this, memory, MemoryRegion.MAX_BYTES);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof OffsetsAssignment that
        && Arrays.equals(offsets, that.offsets)
        && Arrays.equals(sizesBytes, that.sizesBytes)
        && alignment == that.alignment
        && totalBytes == that.totalBytes;
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(offsets) + Arrays.hashCode(sizesBytes);
  }

  @Override
  public String toString() {
    return "OffsetsAssignment[" + tensorCount() + " tensors, " + totalBytes + " bytes]";
  }
}
