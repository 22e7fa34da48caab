package io.prmalloc.lifetime;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One size class of a {@link LifetimePolicy}: the blocks of its own, and the uses it makes of
 * blocks of larger bins.
 *
 * <p>Threading: not safe; a bin belongs to its policy.
 */
public final class LifetimeBin {

  /** The least alignment of a bin, in bytes. */
  public static final long MIN_ALIGNMENT = 64;

  private final int index;
  private final long chunkBytes;

  private final List<AllocBlock> blocks = new ArrayList<>();
  private final FirstFitTree blocksInOrder = new FirstFitTree(1);
  private final List<LifetimeBin> virtualBlocks = new ArrayList<>();
  private List<AllocStats> collected = new ArrayList<>();
  private long alignment = MIN_ALIGNMENT;

  LifetimeBin(int index, long chunkBytes) {
    this.index = index;
    this.chunkBytes = chunkBytes;
  }

  /** Number of this size class in its policy, from 0. Threading: not safe. */
  public int index() {
    return index;
  }

  /** Bytes of a block of this bin. Threading: not safe. */
  public long chunkBytes() {
    return chunkBytes;
  }

  /**
   * The largest alignment asked of this bin, at least {@link #MIN_ALIGNMENT}. Threading: not safe.
   */
  public long alignment() {
    return alignment;
  }

  /** The bin's own blocks, in the order they were made. Threading: not safe. */
  public List<AllocBlock> blocks() {
    return Collections.unmodifiableList(blocks);
  }

  /**
   * The larger bins whose blocks are used, one entry per use and in order, over all steps, as the
   * reference keeps them. A use costs nothing: the block is counted where it lies.
   *
   * <p>Threading: not safe.
   */
  public List<LifetimeBin> virtualBlocks() {
    return Collections.unmodifiableList(virtualBlocks);
  }

  void collect(AllocStats stats) {
    collected.add(stats);
    alignment = Math.max(alignment, stats.alignment());
  }

  /** The stats collected since the last call, in the order they came. */
  List<AllocStats> takeCollected() {
    if (collected.isEmpty()) {
      return List.of();
    }
    List<AllocStats> taken = collected;
    collected = new ArrayList<>();
    return taken;
  }

  /** Puts a life into the first of the bin's own blocks that can take it; false if none can. */
  boolean tryInsert(AllocStats stats) {
    int block = blocksInOrder.next(0, stats.beginTick(), stats.endTick());
    while (block >= 0 && block < blocks.size()) {
      if (blocks.get(block).tryInsert(stats)) {
        updateOrder(block);
        return true;
      }
      block = blocksInOrder.next(block + 1, stats.beginTick(), stats.endTick());
    }
    return false;
  }

  void addBlock(AllocStats stats) {
    AllocBlock block = new AllocBlock();
    block.insert(stats);
    blocks.add(block);
    updateOrder(blocks.size() - 1);
  }

  private void updateOrder(int block) {
    blocksInOrder.update(block, blocks.get(block).lastBeginTick(), blocks.get(block).lastEndTick());
  }

  void addVirtualBlock(LifetimeBin target) {
    virtualBlocks.add(target);
  }

  void forgetBefore(long tick) {
    for (AllocBlock block : blocks) {
      block.forgetBefore(tick);
    }
  }

  /** Largest begin of a latest life over the blocks; see {@link FirstFitTree}. */
  long maxLastBegin() {
    return blocksInOrder.maxLastBegin();
  }

  /** Smallest end of a latest life over the blocks; see {@link FirstFitTree}. */
  long minLastEnd() {
    return blocksInOrder.minLastEnd();
  }
}
