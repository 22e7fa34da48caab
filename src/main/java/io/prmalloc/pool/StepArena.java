package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.Isolation;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.StepMemory;
import io.prmalloc.os.MemoryRegion;
import io.prmalloc.plan.PlanMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The memory of one plan for one step at a time. A step leases it, is served from it in the order
 * of the plan, and gives it back when it ends.
 *
 * <p>Threading: as each method says.
 */
final class StepArena extends StepMemory {

  // Who may have it:
  //
  //   FREE        nobody has it and every block is home; tryLease takes it by a compare-and-set
  //   LEASED      one step, that of the thread that owns it
  //   LINGERING   its step has ended, but some tensors are still out. Whoever closes one of them
  //               says nothing to anybody; the next step that finds no free arena looks again
  //   GIVEN_UP    its step was ended by another thread than its own. The owner may be in the middle
  //               of a close that is about to write to a block, so the blocks are never used
  //               again, and the memory goes when the owner is seen elsewhere
  //   GONE        the memory is given back
  //
  // The state is written with release when a step ends and acquired by the compare-and-set of the
  // next lease, so that all plain fields change hands with it.

  private static final int FREE = 0;
  private static final int LEASED = 1;
  private static final int LINGERING = 2;
  private static final int GIVEN_UP = 3;
  private static final int GONE = 4;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(StepArena.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** A block of an arena. */
  private static final class PlannedBlock extends Block {
    PlannedBlock(
        MemoryRegion region, long offset, long bytes, StepArena arena, Isolation isolation) {
      super(region, offset, bytes, arena, isolation);
    }

    /** Of one that is not confined, because it is isolated: it is home by its state alone. */
    @Override
    protected int goHome() {
      return 0;
    }

    @Override
    protected void settle(int news) {
      throw new IllegalStateException("a confined block has no news");
    }
  }

  private final StepSequence sequence;
  private final StepPlan plan;
  private final PlanMemory memory;
  private final PlannedBlock[] blocks;

  /** Made when the first address comes back. */
  private volatile AddressTable addresses;

  @SuppressWarnings("UnusedVariable") // through STATE
  private int state;

  private boolean departed;
  private Thread lessee;
  private long steps;
  private long lastStepNanos;

  private StepArena(
      StepSequence sequence, StepPlan plan, PlanMemory memory, Block[] taken, Block[][] before) {
    super(plan.recording().sizesBytes(), taken, before);
    this.sequence = sequence;
    this.plan = plan;
    this.memory = memory;
    this.blocks = new PlannedBlock[plan.blocks()];
    for (int block = 0; block < blocks.length; block++) {
      long offset = plan.blockOffset(block);
      blocks[block] =
          new PlannedBlock(
              memory.regionAt(offset),
              memory.withinRegion(offset),
              plan.blockBytes(block),
              this,
              sequence.owner().isolation());
    }
    for (int request = 0; request < taken.length; request++) {
      taken[request] = blocks[plan.blockOf(request)];
      before[request] = blocksOf(plan.before(request));
    }
    this.lastStepNanos = System.nanoTime();
  }

  private Block[] blocksOf(int[] numbers) {
    if (numbers == null) {
      return null;
    }
    Block[] found = new Block[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      found[i] = blocks[numbers[i]];
    }
    return found;
  }

  /**
   * A free arena.
   *
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not to be had
   * @throws IllegalStateException if the plan is larger than a region and has no place to cut
   */
  static StepArena reserve(StepSequence sequence, StepPlan plan, SubAllocator source) {
    PlanMemory memory = PlanMemory.reserve(plan.offsets(), source);
    int requests = plan.requests();
    return new StepArena(sequence, plan, memory, new Block[requests], new Block[requests][]);
  }

  StepPlan plan() {
    return plan;
  }

  long bytes() {
    return memory.totalBytes();
  }

  /** Leases this arena for the calling thread, if it is free. Threading: any thread. */
  boolean tryLease() {
    if ((int) STATE.getOpaque(this) != FREE || !STATE.compareAndSet(this, FREE, LEASED)) {
      return false;
    }
    start();
    return true;
  }

  /** Leases this arena if its last tensors have come back. Threading: any thread. */
  boolean tryLeaseAgain() {
    if ((int) STATE.getOpaque(this) != LINGERING || !STATE.compareAndSet(this, LINGERING, LEASED)) {
      return false;
    }
    if (!allHome()) {
      STATE.setRelease(this, LINGERING);
      return false;
    }
    start();
    return true;
  }

  private void start() {
    lessee = Thread.currentThread();
    departed = false;
    restart();
    takeOwnership();
  }

  @Override
  protected Block takeUnplanned(long bytes) {
    depart(bytes);
    return sequence.owner().takeShared(bytes, StepPlan.ALIGNMENT);
  }

  @Override
  protected long takeUnplannedRaw(long bytes) {
    depart(bytes);
    return sequence.owner().takeSharedRaw(bytes);
  }

  /** No bytes lie nowhere, so they are not planned, and a step that wants them goes on. */
  private void depart(long bytes) {
    if (bytes > 0 && !departed) {
      departed = true;
      // What was served is looked at once more at the end, for then the blocks that were to follow
      // have not vouched for it.
      endPlan();
    }
  }

  @Override
  protected void releaseUnexpected(long address) {
    Block block = find(address);
    if (block == null || !block.closeRaw()) {
      sequence.owner().releaseShared(address);
    } else if (isMine()) {
      expect(block);
    }
  }

  /** Closes the block at an address; false if there is none of this arena that is out. */
  boolean closeRaw(long address) {
    Block block = find(address);
    return block != null && block.closeRaw();
  }

  /** The block at an address that is out, or null. */
  private Block find(long address) {
    AddressTable table = addresses;
    return (table != null ? table : listAddresses()).find(address);
  }

  /** Two threads may do it at the same time, and come to the same result. */
  private AddressTable listAddresses() {
    Block[] requests = new Block[plan.requests()];
    Arrays.setAll(requests, request -> blocks[plan.blockOf(request)]);
    AddressTable made = new AddressTable(requests);
    addresses = made;
    return made;
  }

  @Override
  protected void end() {
    if (!isMine()) {
      STATE.setRelease(this, GIVEN_UP);
      sequence.gaveUp(this);
      return;
    }
    boolean whole = !departed && served() == plan.requests();
    steps++;
    lastStepNanos = System.nanoTime();
    dropOwnership();
    lessee = null;
    boolean home = whole ? areHome(plan.last()) : allHome();
    STATE.setRelease(this, home ? FREE : LINGERING);
    sequence.ended(this, whole);
  }

  private boolean areHome(int[] numbers) {
    for (int block : numbers) {
      if (!blocks[block].isAtHome()) {
        return false;
      }
    }
    return true;
  }

  private boolean allHome() {
    for (Block block : blocks) {
      if (!block.isAtHome()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Gives the memory back if no step has this arena and no tensor is out; it serves no more then.
   *
   * <p>Threading: any thread.
   */
  boolean tryRelease() {
    boolean mine = tryLease() || tryLeaseAgain() || tryTakeOver();
    if (mine) {
      free();
    }
    return mine;
  }

  /** Of an arena that was given up: when its thread is here, or nowhere, it is not in a close. */
  private boolean tryTakeOver() {
    return (int) STATE.getAcquire(this) == GIVEN_UP
        && (lessee == Thread.currentThread() || !lessee.isAlive())
        && allHome()
        && STATE.compareAndSet(this, GIVEN_UP, LEASED);
  }

  /**
   * Makes sure that no step has this arena or can have it, and that no tensor is out. Threading:
   * any thread.
   */
  boolean retire() {
    return tryLease() || tryLeaseAgain() || ((int) STATE.getAcquire(this) == GIVEN_UP && allHome());
  }

  /** Undoes {@link #retire}. Threading: the thread that did it. */
  void reopen() {
    if (isMine()) {
      dropOwnership();
      STATE.setRelease(this, FREE);
    }
  }

  /** Ends every use and gives the memory back. Threading: the last to have it. */
  void free() {
    if ((int) STATE.getAndSet(this, GONE) != GONE) {
      dropOwnership();
      for (Block block : blocks) {
        block.revoke();
      }
      memory.free();
    }
  }

  boolean isFree() {
    return (int) STATE.getAcquire(this) == FREE;
  }

  /** When the last step ended. Threading: a guess while a step has it. */
  long lastStepNanos() {
    return lastStepNanos;
  }

  /** How many steps it served. Threading: a guess while a step has it. */
  long steps() {
    return steps;
  }

  /** Makes the memory resident as far as the system does so. */
  void populate() {
    memory.regions().forEach(MemoryRegion::populate);
  }

  /** Adds what stays to be known of an arena that is gone. */
  void addUsesTo(PoolCounts counts) {
    for (Block block : blocks) {
      counts.uses += block.uses();
      counts.largestBytes = Math.max(counts.largestBytes, block.largestBytes());
    }
  }

  void addTo(PoolCounts counts) {
    for (Block block : blocks) {
      counts.add(block);
    }
    counts.peakBytes += bytes();
  }

  void clearLargest() {
    for (Block block : blocks) {
      block.clearLargest();
    }
  }
}
