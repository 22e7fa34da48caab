package io.prmalloc.lifetime;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * One way to divide sizes into classes, and the blocks that hold all lives seen so far under it.
 *
 * <p>Sizes are rounded up to a multiple of the interval; sizes up to {@link #SMALL_BYTES} are not
 * planned. Lives are added by {@link #add} and packed by {@link #bestFit}, which does exactly what
 * DeepRec's {@code LifetimePolicy::BestFit} does: the same blocks and virtual blocks in the same
 * order.
 *
 * <p>Threading: not safe; the planner packs on one thread at a time.
 */
public final class LifetimePolicy {

  // Bins with an index up to that of 32 MiB lie in an array, so that the way to them is one look;
  // larger ones are few and lie in a sorted map. Both are filled as sizes are first seen.
  //
  // Packing a life asks the bin's own blocks first, then those of all bins above, in order;
  // FirstFitTree answers for ranges of blocks within a bin, and a second one here for ranges of
  // bins. A step of n lives then costs O(n log n) but for lives that look for a gap in the past of
  // larger bins' blocks, which ask those blocks one by one.

  /** Requests of up to this many bytes (32 KiB) are small and never planned. */
  public static final int SMALL_BYTES = 32 * 1024;

  private static final long LARGE_BYTES = 32L * 1024 * 1024;
  private static final int[] REFERENCE_INTERVALS = {4 * 1024, 8 * 1024, 16 * 1024};

  private final int intervalBytes;
  private final LifetimeBin[] bins;
  private final FirstFitTree binsInOrder;
  private final NavigableMap<Integer, LifetimeBin> largeBins = new TreeMap<>();
  private boolean stable;

  /**
   * A policy that has seen nothing.
   *
   * <p>Threading: any thread.
   *
   * @param intervalBytes the step between size classes: a power of two from 64 bytes to 32 KiB
   * @throws IllegalArgumentException if {@code intervalBytes} is none of these
   */
  public LifetimePolicy(int intervalBytes) {
    if (intervalBytes < 64 || intervalBytes > SMALL_BYTES || Integer.bitCount(intervalBytes) != 1) {
      throw new IllegalArgumentException(
          "intervalBytes " + intervalBytes + " is not a power of two from 64 to " + SMALL_BYTES);
    }
    this.intervalBytes = intervalBytes;
    this.bins = new LifetimeBin[index(LARGE_BYTES, intervalBytes) + 1];
    this.binsInOrder = new FirstFitTree(bins.length);
  }

  /**
   * The three candidates of the reference, 4, 8 and 16 KiB, in that order. Threading: any thread.
   */
  public static List<LifetimePolicy> referencePolicies() {
    List<LifetimePolicy> policies = new ArrayList<>();
    for (int intervalBytes : REFERENCE_INTERVALS) {
      policies.add(new LifetimePolicy(intervalBytes));
    }
    return policies;
  }

  /**
   * The policy with the smallest {@link #totalBytes}; the first of equals.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if there is none to choose from
   */
  public static LifetimePolicy best(List<LifetimePolicy> policies) {
    LifetimePolicy best = null;
    for (LifetimePolicy policy : policies) {
      if (best == null || policy.totalBytes() < best.totalBytes()) {
        best = policy;
      }
    }
    if (best == null) {
      throw new IllegalArgumentException("policies is empty; the least is 1");
    }
    return best;
  }

  /**
   * The size class of a size.
   *
   * <p>Threading: any thread.
   *
   * @param totalBytes the size, header included, over {@link #SMALL_BYTES}
   * @param intervalBytes the step between size classes
   * @return the number of the class, from 0
   */
  public static int index(long totalBytes, int intervalBytes) {
    long rounded = (totalBytes + intervalBytes - 1) & -(long) intervalBytes;
    return (int) ((rounded - SMALL_BYTES) / intervalBytes) - 1;
  }

  /** Bytes of the chunks of a size class. Threading: any thread. */
  public static long chunkBytes(int index, int intervalBytes) {
    return SMALL_BYTES + (long) intervalBytes * (index + 1);
  }

  /** The step between size classes in bytes. Threading: any thread. */
  public int intervalBytes() {
    return intervalBytes;
  }

  /**
   * Collects a life; {@link #bestFit} packs it.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if its size is at most {@link #SMALL_BYTES}
   */
  public void add(AllocStats stats) {
    if (stats.sizeBytes() <= SMALL_BYTES) {
      throw new IllegalArgumentException(
          "sizeBytes "
              + stats.sizeBytes()
              + " is small; the least planned is "
              + (SMALL_BYTES + 1));
    }
    bin(index(stats.sizeBytes(), intervalBytes)).collect(stats);
  }

  private LifetimeBin bin(int index) {
    if (index >= bins.length) {
      return largeBins.computeIfAbsent(index, this::newBin);
    }
    if (bins[index] == null) {
      bins[index] = newBin(index);
    }
    return bins[index];
  }

  private LifetimeBin newBin(int index) {
    return new LifetimeBin(index, chunkBytes(index, intervalBytes));
  }

  /**
   * Packs the lives collected since the last call on top of all earlier ones, largest size class
   * first. For each life: the first of the bin's own blocks that can take it, else the first of the
   * bins above (a virtual block of this bin), else a new block of this bin.
   *
   * <p>Threading: not safe.
   *
   * @return whether the packing is stable: no block had to be made
   */
  public boolean bestFit() {
    stable = true;
    for (LifetimeBin bin : largeBins.descendingMap().values()) {
      pack(bin);
    }
    for (int index = bins.length - 1; index >= 0; index--) {
      if (bins[index] != null) {
        pack(bins[index]);
      }
    }
    return stable;
  }

  private void pack(LifetimeBin bin) {
    for (AllocStats stats : bin.takeCollected()) {
      if (tryInsert(bin, stats)) {
        continue;
      }
      LifetimeBin above = insertAbove(bin, stats);
      if (above != null) {
        bin.addVirtualBlock(above);
      } else {
        bin.addBlock(stats);
        updateOrder(bin);
        stable = false;
      }
    }
  }

  private boolean tryInsert(LifetimeBin bin, AllocStats stats) {
    if (!bin.tryInsert(stats)) {
      return false;
    }
    updateOrder(bin);
    return true;
  }

  private void updateOrder(LifetimeBin bin) {
    if (bin.index() < bins.length) {
      binsInOrder.update(bin.index(), bin.maxLastBegin(), bin.minLastEnd());
    }
  }

  private LifetimeBin insertAbove(LifetimeBin bin, AllocStats stats) {
    int index = bin.index() + 1;
    while (index < bins.length) {
      index = binsInOrder.next(index, stats.beginTick(), stats.endTick());
      if (index < 0) {
        break;
      }
      if (tryInsert(bins[index], stats)) {
        return bins[index];
      }
      index++;
    }
    for (LifetimeBin large : largeBins.tailMap(bin.index(), false).values()) {
      if (tryInsert(large, stats)) {
        return large;
      }
    }
    return null;
  }

  /**
   * Whether the last {@link #bestFit} made no block; false before the first. Threading: not safe.
   */
  public boolean stable() {
    return stable;
  }

  /**
   * Sum over the bins of blocks times chunk size: what this policy would reserve. Threading: not
   * safe.
   */
  public long totalBytes() {
    long total = 0;
    for (LifetimeBin bin : bins()) {
      total += bin.blocks().size() * bin.chunkBytes();
    }
    return total;
  }

  /** The bins that have blocks or virtual blocks, by index. Threading: not safe. */
  public List<LifetimeBin> bins() {
    List<LifetimeBin> used = new ArrayList<>();
    for (LifetimeBin bin : bins) {
      addIfUsed(bin, used);
    }
    for (LifetimeBin bin : largeBins.values()) {
      addIfUsed(bin, used);
    }
    return used;
  }

  private static void addIfUsed(LifetimeBin bin, List<LifetimeBin> used) {
    if (bin != null && !(bin.blocks().isEmpty() && bin.virtualBlocks().isEmpty())) {
      used.add(bin);
    }
  }

  /**
   * Drops the lives that ended before a tick, to bound memory over many steps. Changes no packing
   * as long as no life that begins before {@code tick} is added afterwards.
   *
   * <p>Threading: not safe.
   */
  public void forgetBefore(long tick) {
    for (LifetimeBin bin : bins()) {
      bin.forgetBefore(tick);
    }
  }
}
