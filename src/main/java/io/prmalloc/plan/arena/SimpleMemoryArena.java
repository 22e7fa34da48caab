package io.prmalloc.plan.arena;

import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.planner.BestFitOffsets;
import io.prmalloc.plan.TensorUsageRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Offsets for tensors that come one by one, and one buffer that is large enough for all of them.
 *
 * <p>A tensor takes the smallest gap that holds it between those that live at the same time, else a
 * place behind the last of them. Placing is arithmetic; memory is taken by {@link #commit}.
 *
 * <p>Source: TensorFlow Lite's {@code SimpleMemoryArena}, with its behaviour kept to the byte.
 *
 * <p>Threading: one thread at a time.
 */
public final class SimpleMemoryArena implements AutoCloseable {

  // `active` holds the placed tensors that new ones must keep away from, by offset; a tensor of no
  // bytes is never in it. A search walks all of it once; that is why those that ended are purged
  // while an engine goes forward. Placing n tensors at once would cost n² steps, so a list that
  // is long enough to pay for one gets an index of gaps (BestFitOffsets).
  //
  // The gap rule is odd, and offsets depend on it. Whether a gap is smaller than the best so far is
  // asked of its length behind the aligned offset, but what is remembered is its length behind the
  // unaligned one. So a gap can be remembered as larger than it was compared, and a later gap
  // between the two wins although it is no tighter. A remembered gap of 0 ends the walk.
  //
  // Where all offsets are multiples of one alignment, so are the compared lengths, and what is
  // remembered is longer by the padding, which is less than the alignment. So a later gap wins over
  // a smaller or equal one only if it is of equal length and the one before begins with padding: of
  // the smallest gaps the walk takes the first without padding, or the last. That is the rule the
  // index keeps.
  //
  // Among active tensors of one offset (their lives are apart) the order does not matter: the first
  // moves the running offset beyond it, so that no gap opens before the others.

  private static final Comparator<ArenaAlloc> BY_OFFSET =
      Comparator.comparingLong(ArenaAlloc::offset);

  // What it costs to bring one tensor into the index and find its place, in steps of the walk.
  private static final long INDEX_STEPS = 200;

  private final List<ArenaAlloc> active = new ArrayList<>();
  private final GrowingBuffer buffer;
  private long highWaterMark;
  private long reservedBytes;
  private boolean committed;
  // Fixed places may overlap and need not be aligned, which the index does not know.
  private boolean hasFixedPlaces;

  /**
   * An empty arena; takes no memory yet.
   *
   * <p>Threading: any thread.
   *
   * @param source where the memory comes from; stays the caller's
   * @param arenaAlignment what the arena's address is a multiple of: a power of two from 1 to 2^30
   * @throws IllegalArgumentException if the alignment is out of its bounds
   */
  public SimpleMemoryArena(SubAllocator source, long arenaAlignment) {
    Objects.requireNonNull(source, "source");
    Requests.checkAlignment(arenaAlignment);
    this.buffer = new GrowingBuffer(source, arenaAlignment);
  }

  /**
   * Finds a place for a tensor. The place is part of the plan at once, and has memory after the
   * next {@link #commit}.
   *
   * <p>Costs time in proportion to the active tensors.
   *
   * <p>Threading: one thread at a time.
   *
   * @param alignment what the offset is to be a multiple of: a power of two from 1 to the arena's
   *     alignment
   * @param bytes the tensor's size; 0 gets offset 0 and takes no place
   * @param tensor whose place it is; for the caller, not looked at
   * @param firstNode the first node it lives at
   * @param lastNode the last node it lives at, not before {@code firstNode}
   * @throws IllegalArgumentException if an argument is out of its bounds, or the place would end
   *     beyond 2^63 − 1; nothing changes then
   */
  public ArenaAlloc allocate(long alignment, long bytes, int tensor, int firstNode, int lastNode) {
    Requests.checkAlignment(alignment);
    if (alignment > buffer.alignment()) {
      throw new IllegalArgumentException(
          "alignment " + alignment + " exceeds the arena's, " + buffer.alignment());
    }
    if (bytes < 0) {
      throw new IllegalArgumentException("bytes " + bytes + " is negative; the least is 0");
    }
    if (lastNode < firstNode) {
      throw new IllegalArgumentException(
          "lastNode " + lastNode + " is before firstNode " + firstNode);
    }
    if (bytes == 0) {
      return new ArenaAlloc(tensor, 0, 0, firstNode, lastNode);
    }
    ArenaAlloc alloc;
    try {
      long offset = findOffset(alignment, bytes, firstNode, lastNode);
      alloc = new ArenaAlloc(tensor, offset, bytes, firstNode, lastNode);
      highWaterMark = Math.max(highWaterMark, Math.addExact(offset, bytes));
    } catch (ArithmeticException overflow) {
      throw new IllegalArgumentException(
          "bytes " + bytes + " of tensor " + tensor + " would end beyond 2^63 - 1", overflow);
    }
    active.add(insertionPoint(alloc.offset()), alloc);
    return alloc;
  }

  /**
   * Takes a place that is given, whatever lies there. Those placed from now on keep away from it.
   *
   * @param alloc the place; its end is at most 2^63 − 1
   */
  void placeAt(ArenaAlloc alloc) {
    if (alloc.bytes() > 0) {
      hasFixedPlaces = true;
      highWaterMark = Math.max(highWaterMark, alloc.endOffset());
      active.add(insertionPoint(alloc.offset()), alloc);
    }
  }

  /**
   * Finds places for tensors, one after the other, with the result of {@link #allocate}.
   *
   * @param alignment what all places of this arena are multiples of
   * @param unplaced the tensors; their offsets are not looked at
   * @return their places, in the same order
   */
  List<ArenaAlloc> allocateAll(long alignment, List<ArenaAlloc> unplaced) {
    return isIndexCheaper(unplaced.size())
        ? allocateByIndex(alignment, unplaced)
        : unplaced.stream()
            .map(a -> allocate(alignment, a.bytes(), a.tensor(), a.firstNode(), a.lastNode()))
            .toList();
  }

  /** As {@link #allocateAll}, with an index whatever the number of tensors. */
  List<ArenaAlloc> allocateByIndex(long alignment, List<ArenaAlloc> unplaced) {
    List<TensorUsageRecord> records = new ArrayList<>();
    active.forEach(alloc -> records.add(record(alloc)));
    unplaced.stream().filter(alloc -> alloc.bytes() > 0).forEach(a -> records.add(record(a)));
    long[] offsets =
        BestFitOffsets.extend(
            records, active.stream().mapToLong(ArenaAlloc::offset).toArray(), alignment);
    List<ArenaAlloc> allocs = new ArrayList<>(unplaced.size());
    int next = 0;
    for (ArenaAlloc alloc : unplaced) {
      long offset = alloc.bytes() > 0 ? offsets[next++] : 0;
      ArenaAlloc placed =
          new ArenaAlloc(
              alloc.tensor(), offset, alloc.bytes(), alloc.firstNode(), alloc.lastNode());
      allocs.add(placed);
      if (placed.bytes() > 0) {
        active.add(placed);
        highWaterMark = Math.max(highWaterMark, placed.endOffset());
      }
    }
    active.sort(BY_OFFSET);
    return allocs;
  }

  private static TensorUsageRecord record(ArenaAlloc alloc) {
    return new TensorUsageRecord(alloc.bytes(), alloc.firstNode(), alloc.lastNode());
  }

  /** Whether an index is quicker for so many tensors than to place each by a walk. */
  private boolean isIndexCheaper(long tensors) {
    return !hasFixedPlaces
        && tensors * (active.size() + tensors / 2) > INDEX_STEPS * (active.size() + tensors);
  }

  private long findOffset(long alignment, long bytes, int firstNode, int lastNode) {
    long best = -1;
    long bestGap = Long.MAX_VALUE;
    long running = 0;
    for (ArenaAlloc alloc : active) {
      if (alloc.lastNode() < firstNode || alloc.firstNode() > lastNode) {
        continue;
      }
      long aligned = align(running, alignment);
      long gap = alloc.offset() - aligned;
      if (gap >= bytes && gap < bestGap) {
        best = aligned;
        bestGap = alloc.offset() - running;
      }
      running = Math.max(running, alloc.endOffset());
      if (bestGap == 0) {
        break;
      }
    }
    return best >= 0 ? best : align(running, alignment);
  }

  private static long align(long offset, long alignment) {
    return Math.addExact(offset, alignment - 1) & -alignment;
  }

  /** Behind all that begin at the same offset or before. */
  private int insertionPoint(long offset) {
    int low = 0;
    int high = active.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (active.get(middle).offset() <= offset) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * Takes memory up to {@link #highWaterMark}, if there is less. What the buffer holds is kept,
   * byte by byte, at its offset; new bytes hold anything. A buffer never shrinks.
   *
   * <p>Threading: one thread at a time.
   *
   * @return whether the memory is another one now: buffers and addresses resolved before are void
   *     then and must not be used
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available, or the plan is
   *     larger than one buffer can be, some 2 GiB; nothing changes then
   */
  public boolean commit() {
    boolean moved = buffer.resize(Math.max(highWaterMark, reservedBytes));
    committed = true;
    return moved;
  }

  /**
   * The memory of a place, in native byte order, from position 0 to its size; empty for a tensor of
   * no bytes. Must not be used after a {@link #commit} that moved, nor after {@link
   * #releaseBuffer}.
   *
   * <p>Threading: one thread at a time.
   *
   * @param alloc what {@link #allocate} of this arena returned
   * @throws IllegalStateException if there was no {@link #commit} since the arena was made, cleared
   *     or released, or none since {@code alloc} was placed beyond the buffer's end
   */
  public Optional<ByteBuffer> resolve(ArenaAlloc alloc) {
    checkCommitted(alloc);
    return alloc.bytes() == 0
        ? Optional.empty()
        : Optional.of(buffer.slice(alloc.offset(), alloc.bytes()));
  }

  /**
   * The address of a place; empty for a tensor of no bytes.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IllegalStateException as for {@link #resolve}, or if this JVM cannot tell addresses
   *     (the message then holds the flag that helps)
   */
  public OptionalLong address(ArenaAlloc alloc) {
    checkCommitted(alloc);
    return alloc.bytes() == 0
        ? OptionalLong.empty()
        : OptionalLong.of(buffer.address() + alloc.offset());
  }

  private void checkCommitted(ArenaAlloc alloc) {
    if (!committed || alloc.endOffset() > buffer.bytes()) {
      throw new IllegalStateException(
          "tensor "
              + alloc.tensor()
              + " has no memory: "
              + (committed
                  ? "it ends at " + alloc.endOffset() + " of " + buffer.bytes() + " bytes committed"
                  : "the arena is not committed"));
    }
  }

  /**
   * Forgets every place and sets {@link #highWaterMark} to 0. Memory stays for the next plan, but
   * nothing resolves before the next {@link #commit}.
   *
   * <p>Threading: one thread at a time.
   */
  public void clearPlan() {
    committed = false;
    highWaterMark = 0;
    hasFixedPlaces = false;
    active.clear();
  }

  /**
   * Gives the memory back and keeps the plan; {@link #commit} takes memory again, whose content is
   * anything.
   *
   * <p>Threading: one thread at a time.
   */
  public void releaseBuffer() {
    committed = false;
    buffer.release();
  }

  /**
   * Forgets those that end before a node: what is placed from now on may overlap them. Their places
   * stay resolvable.
   *
   * <p>Threading: one thread at a time.
   */
  public void purgeActiveAllocs(int node) {
    active.removeIf(alloc -> alloc.lastNode() < node);
  }

  /**
   * Forgets those that begin after a node.
   *
   * <p>Threading: one thread at a time.
   */
  public void purgeAfter(int node) {
    active.removeIf(alloc -> alloc.firstNode() > node);
  }

  /** Forgets all of them, but not the mark. Threading: one thread at a time. */
  public void resetAllocs() {
    active.clear();
  }

  /**
   * Forgets all and takes up, of those given, the ones that live at a node.
   *
   * <p>Threading: one thread at a time.
   *
   * @param allocs places in this arena
   */
  public void calculateActiveAllocs(Collection<ArenaAlloc> allocs, int node) {
    activate(
        allocs.stream()
            .filter(alloc -> alloc.firstNode() <= node && alloc.lastNode() >= node)
            .toList());
  }

  /** Forgets all and takes up the ones given, but for those of no bytes. */
  void activate(Collection<ArenaAlloc> allocs) {
    List<ArenaAlloc> sorted =
        allocs.stream().filter(alloc -> alloc.bytes() > 0).sorted(BY_OFFSET).toList();
    active.clear();
    active.addAll(sorted);
  }

  /** Goes back to what {@link #highWaterMark} was before a plan that failed. */
  void restoreMark(long mark) {
    highWaterMark = mark;
  }

  /** Lets commits from now on take at least so many bytes, so that later ones need not move. */
  void reserve(long bytes) {
    reservedBytes = bytes;
  }

  /**
   * The most bytes any place ended at since the plan was cleared.
   *
   * <p>Threading: one thread at a time.
   */
  public long highWaterMark() {
    return highWaterMark;
  }

  /** Bytes of memory held; 0 before a commit and after a release. Threading: one thread. */
  public long bufferBytes() {
    return buffer.bytes();
  }

  /**
   * Forgets the plan and gives the memory back. May be called again.
   *
   * <p>Threading: one thread at a time.
   */
  @Override
  public void close() {
    clearPlan();
    releaseBuffer();
  }
}
