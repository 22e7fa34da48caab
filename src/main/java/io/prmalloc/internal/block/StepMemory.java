package io.prmalloc.internal.block;

import io.prmalloc.lifetime.ScopedMemoryCollector;

/**
 * The source of the tensors of one step, and the owner of their blocks. For authors of allocators;
 * users see a {@link ScopedMemoryCollector}.
 *
 * <p>The path of a planned request is written out here and not in a subclass, so that the JIT
 * always sees a single implementation.
 *
 * <p>One thread owns the memory for a time, and needs no atomic instructions for its blocks then.
 * Only the owner opens a confined block; any thread may close it, the owner at less cost. If two
 * threads close one handle at the same moment, and one of them is the owner, both closes may
 * succeed; the memory is freed once.
 *
 * <p>Threading: {@link #take} by the owner only; the rest as each method says.
 */
public abstract class StepMemory {

  // A planned step makes the same requests in the same order as the steps it was planned from, each
  // of at most the size that was planned for it. The plan gives every request a block beforehand;
  // blocks of tensors that never live together share bytes. So request number i
  //
  //   1. has at least one byte, and at most as many as the place that the plan has for i, and
  //   2. finds its block free, and those that had the same bytes last before it.
  //
  // The second condition keeps tensors apart whatever the user does: the plan's lifetimes are a
  // guess from earlier steps, and this check detects a tensor that is released late this time.
  // (Blocks that had the bytes still earlier were found free when those were handed out.) A request
  // for which one of the conditions does not hold is not served here; the subclass decides how to
  // serve it and those that follow.
  //
  // Addresses are freed in the same order, too. So the n-th release of a step is compared with the
  // block that was freed n-th in the step before. A lookup of the address would take longer than
  // all the rest: it misses the cache, and the processor mispredicts its branches.

  private static final Block[] NONE = {};

  /**
   * A plain field is enough. It equals the reader's own thread only if that thread wrote it, and
   * what a thread wrote last it reads, or something later.
   */
  private Thread owner;

  private final long[] placesBytes;
  private final Block[] blocks;
  private final Block[][] before;
  private int next;

  /**
   * The blocks that the owner freed, in the order of this step and, from the current position on,
   * in that of the step before.
   */
  private final Block[] returned;

  private int turn;

  /** Nothing is planned: every request goes to {@link #takeUnplanned}. Threading: any thread. */
  protected StepMemory() {
    this(new long[0], NONE, new Block[0][]);
  }

  /**
   * A planned step.
   *
   * <p>Threading: any thread.
   *
   * @param placesBytes the most bytes of each request, in order, from 1; not copied
   * @param blocks what each request gets, at least as large; confined to this; not copied
   * @param before the other blocks that have some of the same bytes and must be free; an entry may
   *     be null for none; not copied
   */
  @SuppressWarnings("this-escape") // no thread sees it before the constructor ends
  protected StepMemory(long[] placesBytes, Block[] blocks, Block[][] before) {
    this.placesBytes = placesBytes;
    this.blocks = blocks;
    this.before = before;
    this.returned = new Block[blocks.length];
  }

  /**
   * Makes the calling thread the owner.
   *
   * <p>Threading: a thread without competitors, while there is no owner.
   */
  protected final void takeOwnership() {
    owner = Thread.currentThread();
  }

  /** Ends what {@link #takeOwnership} began. Threading: the owner. */
  protected final void dropOwnership() {
    owner = null;
  }

  /** Whether the calling thread is the owner. Threading: any thread. */
  public final boolean isMine() {
    return owner == Thread.currentThread();
  }

  /**
   * A free block for the next request.
   *
   * <p>Threading: the owner.
   *
   * @param bytes its size, not checked yet
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory
   * @throws IllegalArgumentException if the size is out of its bounds
   */
  public final Block take(long bytes) {
    Block planned = takePlanned(bytes);
    return planned != null ? planned : takeOther(bytes);
  }

  /** Serves a request that is not as planned, or refuses an invalid one. */
  private Block takeOther(long bytes) {
    Requests.checkBytes(bytes);
    return takeUnplanned(bytes);
  }

  /** A free block for the next request if that is as planned; else null, and nothing changes. */
  final Block takePlanned(long bytes) {
    int request = next;
    return request < placesBytes.length && fits(bytes, placesBytes[request])
        ? takePlanned(request)
        : null;
  }

  /** Whether 0 < bytes <= placeBytes, by one question. No place is negative. */
  private static boolean fits(long bytes, long placeBytes) {
    return ((bytes - 1) | (placeBytes - bytes)) >= 0;
  }

  /**
   * The address of the next request; 0 if there is no memory.
   *
   * <p>Threading: the owner.
   *
   * @param bytes its size, not checked yet
   * @throws IllegalArgumentException if the size is out of its bounds
   */
  public final long takeRaw(long bytes) {
    Block planned = takePlanned(bytes);
    return planned != null ? planned.openAsOwner(bytes) : takeOtherRaw(bytes);
  }

  private long takeOtherRaw(long bytes) {
    Requests.checkBytes(bytes);
    return takeUnplannedRaw(bytes);
  }

  private Block takePlanned(int request) {
    Block block = blocks[request];
    if (block.isFree() && areFree(before[request])) {
      next = request + 1;
      return block;
    }
    return null;
  }

  private static boolean areFree(Block[] blocks) {
    return blocks == null || allFree(blocks);
  }

  private static boolean allFree(Block[] blocks) {
    for (Block block : blocks) {
      if (!block.isFree()) {
        return false;
      }
    }
    return true;
  }

  /** How many requests were served as planned before {@link #endPlan}. Threading: the owner. */
  protected final int served() {
    return next;
  }

  /**
   * Makes the next request the first one of the plan. Threading: the owner, or the thread that is
   * about to become it.
   */
  protected final void restart() {
    next = 0;
    turn = 0;
  }

  /** Sends every further request of this step to {@link #takeUnplanned}. Threading: the owner. */
  protected final void endPlan() {
    next = Integer.MAX_VALUE;
  }

  /**
   * A free block for a request that is not as planned.
   *
   * <p>Threading: the owner.
   *
   * @param bytes its size, from 0 to 2 GiB − 1
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory
   */
  protected abstract Block takeUnplanned(long bytes);

  /**
   * The address of a request that is not as planned; 0 if there is no memory.
   *
   * <p>Threading: the owner.
   *
   * @param bytes its size, from 0 to 2 GiB − 1
   * @throws IllegalArgumentException if it is more than that with a header
   */
  protected abstract long takeUnplannedRaw(long bytes);

  /** Takes an address back. Threading: any thread. */
  public final void release(long address) {
    if (!isMine() || !releaseExpected(address)) {
      releaseUnexpected(address);
    }
  }

  private boolean releaseExpected(long address) {
    int now = turn;
    return now < returned.length && closeExpected(returned[now], address, now);
  }

  private boolean closeExpected(Block expected, long address, int now) {
    if (expected == null || !expected.closeAsOwner(address)) {
      return false;
    }
    turn = now + 1;
    return true;
  }

  /** Expects a block in this turn from now on. Threading: the owner, which freed it. */
  protected final void expect(Block released) {
    if (turn < returned.length) {
      returned[turn++] = released;
    }
  }

  /**
   * Frees an address that was not expected.
   *
   * <p>Threading: any thread.
   *
   * @param address one that this step gave out, or any other of its allocator
   * @throws IllegalArgumentException if it is neither, or is already freed
   */
  protected abstract void releaseUnexpected(long address);

  /**
   * The step is over; tensors may still be allocated. Called once.
   *
   * <p>Threading: any thread.
   */
  public abstract void end();
}
