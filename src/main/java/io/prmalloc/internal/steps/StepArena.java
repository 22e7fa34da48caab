package io.prmalloc.internal.steps;

import io.prmalloc.Chunk;
import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.AddressTable;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.block.StepMemory;
import io.prmalloc.internal.extent.SourceBesideHeap;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.planner.PlanMemory;
import io.prmalloc.internal.steps.StepPlan.Recording;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The memory of one plan for one step at a time. A step leases it, is served from it in the order
 * of the plan, and gives it back when it ends.
 *
 * <p>Threading: as each method says.
 */
public final class StepArena extends StepMemory implements Retirable {

  // Its states:
  //
  //   FREE        no step has it and every block is free; tryLease takes it by a compare-and-set
  //   LEASED      one step, that of the thread that owns it
  //   LINGERING   its step has ended, but some tensors are still allocated. Their release notifies
  //               no one; the next step that finds no free arena looks again
  //   GIVEN_UP    its step was ended by another thread than its own. The owner may be in the middle
  //               of a close that is about to write to a block, so the blocks are never used again.
  //               The memory is freed when the owner thread has ended, or ends another step: then
  //               it is in no close
  //   SPENT       its step departed and no tensor lies in it, so the memory is given back already,
  //               for memory is short; the step has all further requests served from elsewhere
  //   GONE        the memory is given back
  //
  // The state is written with release when a step ends and acquired by the compare-and-set of the
  // next lease, so that all plain fields change hands with it.

  // A step departs if a request is not as planned. From there on every request comes here and is
  // recorded, so that the plan can be raised. It is still served from the plan where possible, and
  // else by a block that reports its release. For that the following holds at any time: the block
  // of an allocated tensor was the last to be passed that has these bytes, or it is one of those
  // that are late. A block is passed when its request is served from it, or from elsewhere; those
  // that had its bytes before it are checked in both cases, and if they are allocated they are
  // late. So a request is served if its block is free, the ones that had its bytes before it are,
  // and no late one has bytes in common with it.

  private static final int FREE = 0;
  private static final int LEASED = 1;
  private static final int LINGERING = 2;
  private static final int GIVEN_UP = 3;
  private static final int GONE = 4;
  private static final int SPENT = 5;

  // If a request of a step is larger than its place, the plan is raised when the step ends. Until
  // then the heap serves the requests that do not fit: mostly all of a step with larger sizes. The
  // pages of the arena that no tensor lies in go back to the system at the first such request, so
  // that not both are in memory. An arena does so once: if its plan is not raised after all, for
  // instance because the step was a different one, later steps do not wait for its pages
  // repeatedly.

  private static final Logger LOGGER = SafeLog.logger(StepArena.class);

  /** For a smaller arena no native library is loaded, unless sizes vary. */
  private static final long MIN_DISCARDED_BYTES = 32L << 20;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(StepArena.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** A block of an arena. */
  public static final class PlannedBlock extends Block {
    private long numberedStamp;
    private long id;

    PlannedBlock(
        MemoryRegion region, long offset, long bytes, StepArena arena, BlockIsolation isolation) {
      super(region, offset, bytes, arena, isolation);
    }

    /** For a block that is not confined, because it is isolated: it is free by its state alone. */
    @Override
    protected boolean onFreed() {
      return false;
    }

    @Override
    protected void settle() {
      throw new IllegalStateException("nothing was left to do");
    }

    /** What is known of the use by an address; null if it has ended. */
    public synchronized Chunk chunk(LongSupplier nextId) {
      long stamp = stamp();
      long bytes = bytesIn(stamp);
      if (bytes < 0) {
        return null;
      }
      if (numberedStamp != stamp) {
        numberedStamp = stamp;
        id = nextId.getAsLong();
      }
      return new Chunk(bytes, capacityBytes(), id);
    }
  }

  private final StepSequence sequence;
  private final StepPlan plan;
  private final PlanMemory memory;
  private final PlannedBlock[] blocks;

  /** Whether its pages go before its memory does, for the library behind would keep them. */
  private final boolean discardsAtEnd;

  /** Whether the pages that are free are still to go when a request is too large. */
  private boolean discards;

  /** Made when the first address is freed. */
  private volatile AddressTable addresses;

  @SuppressWarnings("UnusedVariable") // through STATE
  private int state;

  private long firstBytes;
  private Thread lessee;
  private long steps;
  private long lastStepNanos;
  private long lastLookNanos;

  /** The most bytes of a use before {@link Block#clearLargest} was called to look at others. */
  private long largestBefore;

  /** The requests of the step from its departure on; null before. */
  private LearningStep seen;

  /** The next request of the step that departed. */
  private int request;

  // Blocks that are late, and the requests of which they are.
  private int[] late = new int[4];
  private int[] lateRequests = new int[4];
  private int lateBlocks;

  private StepArena(
      StepSequence sequence,
      StepPlan plan,
      PlanMemory memory,
      boolean discards,
      Block[] taken,
      Block[][] before) {
    super(plan.recording().sizesBytes(), taken, before);
    this.sequence = sequence;
    this.plan = plan;
    this.memory = memory;
    this.discards = discards;
    this.discardsAtEnd = discards && sequence.owner().source().isResident();
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
    this.lastLookNanos = lastStepNanos;
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
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory cannot be reserved
   * @throws IllegalStateException if the plan is larger than a region and has no place to cut
   */
  static StepArena reserve(StepSequence sequence, StepPlan plan, SubAllocator source) {
    // Checked as a whole: else the first regions would be reserved although the last cannot be.
    long bytes = PlanMemory.bytes(plan.offsets());
    if (bytes > source.bytesAvailable()) {
      throw SourceBesideHeap.refusal(source, bytes);
    }
    PlanMemory memory = PlanMemory.reserve(plan.offsets(), source);
    try {
      boolean varies = sequence.varies();
      boolean discards =
          (varies || bytes >= MIN_DISCARDED_BYTES)
              && !source.isGuarded()
              && OperatingSystem.callsNativeSilently();
      if (discards && varies && source.isResident()) {
        // Then the part that smaller steps do not touch costs no memory.
        discardAll(memory);
      }
      int requests = plan.requests();
      return new StepArena(
          sequence, plan, memory, discards, new Block[requests], new Block[requests][]);
    } catch (Throwable e) {
      memory.free();
      throw e;
    }
  }

  /** Takes no heap but for the native call. */
  private static void discardAll(PlanMemory memory) {
    List<MemoryRegion> regions = memory.regions();
    for (int i = 0; i < regions.size(); i++) {
      discard(regions.get(i), 0, regions.get(i).sizeBytes());
    }
  }

  private static void discard(MemoryRegion region, long from, long to) {
    if (from >= to) {
      return;
    }
    try {
      region.discard(from, to - from);
    } catch (IllegalStateException | UnsupportedOperationException | OutOfMemoryError refused) {
      // A cause is locked memory, which is to stay resident.
      SafeLog.log(LOGGER, Level.DEBUG, "the arena of a step stays in memory", refused);
    }
  }

  /** Gives back the pages that no tensor lies in, the first time. Threading: the owner. */
  private void discardFree() {
    if (!discards) {
      return;
    }
    discards = false;
    // Blocks that are freed meanwhile stay resident, and none is allocated: only this thread could
    // do that.
    PlannedBlock[] allocated =
        Arrays.stream(blocks)
            .filter(block -> !block.isFree())
            .sorted(Comparator.comparingLong(PlannedBlock::offset))
            .toArray(PlannedBlock[]::new);
    for (MemoryRegion region : memory.regions()) {
      long end = 0;
      for (PlannedBlock block : allocated) {
        if (block.region() == region) {
          discard(region, end, block.offset());
          end = Math.max(end, block.offset() + block.capacityBytes());
        }
      }
      discard(region, end, region.sizeBytes());
    }
  }

  StepPlan plan() {
    return plan;
  }

  long bytes() {
    return memory.totalBytes();
  }

  /** Leases this arena for the calling thread, if it is free. Threading: any thread. */
  boolean tryLease() {
    return start(FREE);
  }

  /** Leases this arena if its last tensors are freed. Threading: any thread. */
  boolean tryLeaseAgain() {
    return start(LINGERING);
  }

  /**
   * Makes an arena the calling thread's, if it is in a state and its blocks are free. If not, or if
   * something is thrown, it stays in that state.
   */
  private boolean start(int before) {
    if ((int) STATE.getOpaque(this) != before || !STATE.compareAndSet(this, before, LEASED)) {
      return false;
    }
    boolean started = false;
    try {
      if (before == LINGERING && !allFree()) {
        return false;
      }
      lessee = Thread.currentThread();
      seen = null;
      restart();
      takeOwnership();
      started = true;
      return true;
    } finally {
      if (!started) {
        STATE.setRelease(this, before);
      }
    }
  }

  /** Sets the size of the first request. Threading: the owner. */
  void begin(long bytes) {
    firstBytes = bytes;
  }

  /**
   * The size that {@link #begin} was told of the last step. Threading: the thread that ended it.
   */
  long firstBytes() {
    return firstBytes;
  }

  // No bytes lie nowhere, and what is too large for a buffer has a mapping of its own. Neither is
  // planned, and a step that requests it continues.

  @Override
  protected Block takeUnplanned(long bytes) {
    if (!StepPlan.canPlan(bytes)) {
      return sequence.owner().takeShared(bytes, StepPlan.ALIGNMENT);
    }
    Block block = takeDeparted(bytes);
    if (block == null) {
      giveBackIfShort(bytes);
      block = seen.takeUnplanned(bytes);
      sequence.countDeparted();
    } else {
      seen.pass(bytes, plan.recording().end(request));
    }
    request++;
    return block;
  }

  @Override
  protected long takeUnplannedRaw(long bytes) {
    if (!StepPlan.canPlan(bytes)) {
      return sequence.owner().takeSharedRaw(bytes);
    }
    Block block = takeDeparted(bytes);
    long address;
    if (block == null) {
      giveBackIfShort(bytes);
      address = seen.takeUnplannedRaw(bytes);
      sequence.countDeparted();
    } else {
      address = block.openAsOwner(bytes);
      seen.pass(bytes, plan.recording().end(request));
    }
    if (address != 0) {
      request++;
    }
    return address;
  }

  /** The block of the next request of a step that departs or has departed; null for none. */
  private Block takeDeparted(long bytes) {
    if (seen == null) {
      depart();
    }
    seen.makeRoom();
    if (isSpent() || request >= plan.requests()) {
      return null;
    }
    int block = plan.blockOf(request);
    lookAtLate();
    noteLate(block);
    int[] before = plan.before(request);
    if (before != null) {
      for (int other : before) {
        noteLate(other);
      }
    }
    if (bytes > plan.recording().sizeBytes(request)) {
      discardFree();
      return null;
    }
    return isClear(block) ? blocks[block] : null;
  }

  private boolean isSpent() {
    return (int) STATE.getOpaque(this) == SPENT;
  }

  /**
   * Where memory is short, a step that departed does not hold an arena beside what it is served
   * from: gives the memory back if no tensor lies in it. Threading: the owner.
   *
   * @param requestedBytes the size of a request that is about to be served from elsewhere
   */
  private void giveBackIfShort(long requestedBytes) {
    if (isSpent() || !sequence.owner().isShort(bytes() + requestedBytes) || !allFree()) {
      return;
    }
    sequence.owner().gate().beginMove();
    try {
      if (sequence.letGo(this)) {
        memory.free();
      }
    } finally {
      sequence.owner().gate().endMove();
    }
  }

  /** Its step serves no more from it; false if another thread has ended the step. */
  boolean spend() {
    boolean spent = STATE.compareAndSet(this, LEASED, SPENT);
    if (spent) {
      steps++;
    }
    return spent;
  }

  /** The sizes of the requests that were served as planned are those of the blocks' last uses. */
  private void depart() {
    int served = served();
    LearningStep learning = new LearningStep(sequence.owner(), sequence.kind());
    for (int i = 0; i < served; i++) {
      long bytes = blocks[plan.blockOf(i)].sizeBytes();
      long most = plan.recording().sizeBytes(i);
      learning.pass(Math.max(1, Math.min(bytes, most)), plan.recording().end(i));
    }
    // Nothing takes heap from here on: if there was none, the step has not departed yet.
    endPlan();
    lateBlocks = 0;
    request = served;
    seen = learning;
  }

  /** Those that are still allocated live longer; the others are no longer late. */
  private void lookAtLate() {
    int kept = 0;
    for (int i = 0; i < lateBlocks; i++) {
      if (!blocks[late[i]].isFree()) {
        seen.extend(lateRequests[i], request + 1);
        late[kept] = late[i];
        lateRequests[kept++] = lateRequests[i];
      }
    }
    lateBlocks = kept;
  }

  private void noteLate(int block) {
    if (blocks[block].isFree() || isLate(block)) {
      return;
    }
    if (lateBlocks == late.length) {
      // The array whose length is compared comes last: there may be no heap for the second one.
      lateRequests = Arrays.copyOf(lateRequests, 2 * lateBlocks);
      late = Arrays.copyOf(late, 2 * lateBlocks);
    }
    int its = request - 1;
    while (plan.blockOf(its) != block) {
      its--;
    }
    seen.extend(its, request + 1);
    late[lateBlocks] = block;
    lateRequests[lateBlocks++] = its;
  }

  private boolean isLate(int block) {
    for (int i = 0; i < lateBlocks; i++) {
      if (late[i] == block) {
        return true;
      }
    }
    return false;
  }

  /** Whether no late block has bytes in common with this one, nor is it. */
  private boolean isClear(int block) {
    long begin = plan.blockOffset(block);
    long end = begin + plan.blockBytes(block);
    for (int i = 0; i < lateBlocks; i++) {
      long lateBegin = plan.blockOffset(late[i]);
      if (lateBegin < end && begin < lateBegin + plan.blockBytes(late[i])) {
        return false;
      }
    }
    return true;
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

  /**
   * Frees the block at an address.
   *
   * @return how many bytes were asked for; −1 if no allocated block of this arena has it
   */
  long closeRaw(long address) {
    return closeRaw(find(address));
  }

  /** As {@link #closeRaw(long)}, of a block that was found; it may be null. */
  static long closeRaw(Block block) {
    if (block == null) {
      return -1;
    }
    long stamp = block.stamp();
    long bytes = block.bytesIn(stamp);
    return bytes >= 0 && block.closeRaw(stamp) ? bytes : -1;
  }

  /** The allocated block at an address, or null. */
  PlannedBlock find(long address) {
    int now = (int) STATE.getAcquire(this);
    if (now == SPENT || now == GONE) {
      return null;
    }
    AddressTable table = addresses;
    return (PlannedBlock) (table != null ? table : listAddresses()).find(address);
  }

  /** Two threads may do it at the same time, with the same result. */
  private AddressTable listAddresses() {
    Block[] requests = new Block[plan.requests()];
    Arrays.setAll(requests, request -> blocks[plan.blockOf(request)]);
    AddressTable made = new AddressTable(requests);
    addresses = made;
    return made;
  }

  @Override
  public void end() {
    if (!isMine()) {
      // Else the pool was closed forcibly, and the memory is gone.
      if (STATE.compareAndSet(this, LEASED, GIVEN_UP)) {
        sequence.gaveUp(this);
      }
      return;
    }
    boolean spent = isSpent();
    steps += spent ? 0 : 1;
    lastStepNanos = System.nanoTime();
    boolean departed = seen != null;
    Recording recording = null;
    try {
      recording = departed ? seen.recording() : null;
      if (lastStepNanos - lastLookNanos > sequence.lookNanos()) {
        lastLookNanos = lastStepNanos;
        sequence.used(plan, takeLargest(), lastStepNanos);
      }
    } finally {
      if (spent) {
        dropOwnership();
        STATE.setRelease(this, GONE);
      } else {
        endLease(departed);
      }
    }
    sequence.ended(this, departed, recording);
  }

  /** Even if an exception is thrown, the next step may have the arena. */
  private void endLease(boolean departed) {
    boolean free = false;
    try {
      dropOwnership();
      lessee = null;
      boolean whole = !departed && served() == plan.requests();
      free = whole ? areFree(plan.last()) : allFree();
    } finally {
      STATE.setRelease(this, free ? FREE : LINGERING);
    }
  }

  /** The most bytes of each block's uses since this was asked last. */
  private long[] takeLargest() {
    long[] most = new long[blocks.length];
    for (int block = 0; block < most.length; block++) {
      most[block] = blocks[block].largestBytes();
      largestBefore = Math.max(largestBefore, most[block]);
      blocks[block].clearLargest();
    }
    return most;
  }

  private boolean areFree(int[] numbers) {
    for (int block : numbers) {
      if (!blocks[block].isFree()) {
        return false;
      }
    }
    return true;
  }

  private boolean allFree() {
    for (Block block : blocks) {
      if (!block.isFree()) {
        return false;
      }
    }
    return true;
  }

  /** Whether {@link #claim} would do it. Threading: any thread; true of the moment. */
  boolean isReleasable() {
    int now = (int) STATE.getAcquire(this);
    return now == FREE || (now == LINGERING && allFree()) || isAbandoned();
  }

  /**
   * Ensures that no step has this arena or can get it, that no tensor is allocated, and that no
   * thread is about to write to it, so that it can be freed. Threading: any thread.
   */
  boolean claim() {
    return tryLease() || tryLeaseAgain() || tryTakeOver();
  }

  /**
   * For an arena that was given up: if its thread is the calling one, or has ended, it is not in a
   * request or a close.
   */
  private boolean isAbandoned() {
    if ((int) STATE.getAcquire(this) != GIVEN_UP) {
      return false;
    }
    // Read after the state: before, it may be the one of an earlier step.
    Thread owner = lessee;
    return (owner == null || owner == Thread.currentThread() || !owner.isAlive()) && allFree();
  }

  private boolean tryTakeOver() {
    return isAbandoned() && STATE.compareAndSet(this, GIVEN_UP, LEASED);
  }

  /** If the calling thread had this arena until it was given up, it is not in a request now. */
  void noteThread() {
    if ((int) STATE.getAcquire(this) == GIVEN_UP && lessee == Thread.currentThread()) {
      lessee = null;
    }
  }

  /**
   * Ensures that no step has this arena or can get it, and that no tensor is allocated. A thread
   * whose step another one has ended may be in a request all the same, unless the pool is not used
   * any more. Threading: any thread.
   */
  @Override
  public boolean retire() {
    return tryLease() || tryLeaseAgain() || ((int) STATE.getAcquire(this) == GIVEN_UP && allFree());
  }

  /** As {@link #retire}, and also that no thread is in a request. Threading: any thread. */
  boolean retireWhileOpen() {
    return tryLease() || tryLeaseAgain() || isAbandoned();
  }

  /** Undoes {@link #retire}. Threading: the thread that did it. */
  @Override
  public void reopen() {
    if (isMine()) {
      dropOwnership();
      STATE.setRelease(this, FREE);
    }
  }

  /**
   * Ends every use and gives the memory back. Threading: the last to have it, and the thread that
   * closes the pool; the second waits for the first.
   */
  synchronized void free() {
    if ((int) STATE.getAndSet(this, GONE) != GONE) {
      try {
        dropOwnership();
        for (Block block : blocks) {
          block.revoke();
        }
        if (discardsAtEnd) {
          discardAll(memory);
        }
      } finally {
        memory.free();
      }
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

  /** Adds the counts that remain of a freed arena. */
  void addUsesTo(PoolCounts counts) {
    counts.largestBytes = Math.max(counts.largestBytes, largestBefore);
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
    counts.largestBytes = Math.max(counts.largestBytes, largestBefore);
  }

  void clearLargest() {
    largestBefore = 0;
    for (Block block : blocks) {
      block.clearLargest();
    }
  }
}
