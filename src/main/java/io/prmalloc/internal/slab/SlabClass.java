package io.prmalloc.internal.slab;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.SpinLock;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.FreeIndex;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The slabs of one size class: grown on demand, given back when empty.
 *
 * <p>Threading: any thread.
 */
final class SlabClass implements Retirable {

  // Each stripe of threads is served from a slab of its own, without a lock; its front is open (see
  // BlockStack), and threads find it in `fronts`. When that has no free slot, the next slab that
  // has one takes its place, under the lock, and a new one is made only if no other stripe's slab
  // has a slot either, not even one whose bit was lost. If threads of other stripes free its slots,
  // a stripe keeps some exhausted slabs (see StripeSlabs). Otherwise the thread that frees the
  // first slot of an exhausted slab queues the slab. The thread that frees the last slot of a slab
  // without a stripe gives the slab back, except for some spares: so a server whose use rises and
  // falls by some slots does not call the system each time.
  //
  // No slab is lost between the two: a slab leaves its stripe only under the lock, by shutting its
  // front, and what was freed by then is looked at right after. The push that next frees a slot in
  // it sees 1 and then takes the lock.
  //
  // While allocations are observed, `fronts` has none of them: a search there finds nothing and
  // takes the slow path, which tells the observers.
  //
  // A trim takes slabs away that serve or are retained. Their stacks are closed then, so a thread
  // that still sees one finds nothing in it and takes the lock.
  //
  // Memory is reserved and given back without the lock, or requests and closes of other threads
  // would wait for the system. Meanwhile the gate knows that it is on its way.

  private static final int SLAB_BYTES = 32 * 1024;

  private static final int MIN_SLOTS = 32;

  /**
   * A slab has fewer slots if they are large, so that each stripe can have a slab. Two threads on
   * one slab would take the line with its bits from each other at each request and each close.
   */
  private static final int MAX_SLAB_BYTES = 256 * 1024;

  /**
   * Where many slabs are exhausted already, the next one is larger, up to one word of bits:
   * allocating and freeing threads take the lock for each slab, and allocation by one thread with
   * release by another took twice as long with slabs of eight. No larger than half of what is
   * exhausted, so that no more than a third is idle.
   */
  private static final int MAX_GROWN_SLOTS = Long.SIZE;

  // If one thread allocates and another one frees, slots are allocated and freed in bursts, as the
  // two overtake each other. If all slots in a queue of usual length between them can be freed
  // without giving a slab back to the system, the next burst needs no new slab.

  /** How many slots the spares of a class have together; fewer if they are too large. */
  private static final int SPARE_SLOTS = 256;

  /** How many bytes they have at most, if they are several. */
  private static final int SPARE_BYTES = 1 << 20;

  private final int sizeClass;
  private final SlabFronts fronts;
  private final int slotBytes;

  /** How many slots the first slabs have. */
  private final int leastSlots;

  private final int spareSlots;

  private final SubAllocator source;
  private final AddressDirectory directory;
  private final BlockIsolation isolation;
  private final ReservationGate gate;
  private final Runnable grown;

  private final Stripes stripes;

  /** The slabs that serve, and those that are retained. Written under the lock. */
  private final StripeSlabs byStripe;

  /** Whether they are hidden from the fronts. Under the lock. */
  private boolean observed;

  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Slab> withFreeSlots = new ArrayDeque<>();
  private final Set<Slab> slabs = new LinkedHashSet<>();

  /** How many slots all slabs have together. Under the lock. */
  private long allSlots;

  /** Slabs whose memory goes back as soon as the lock is released. Under the lock. */
  private Slab leaving;

  private boolean closed;
  private final PoolCounts returned = new PoolCounts();
  private long bytesReserved;
  private long peakBytesReserved;

  /**
   * @param fronts where the slabs that serve are found
   * @param gate told while memory is reserved or given back
   * @param grown told after every slab that is taken from the source
   */
  SlabClass(
      int sizeClass,
      SlabFronts fronts,
      SubAllocator source,
      BlockIsolation isolation,
      AddressDirectory directory,
      ReservationGate gate,
      Runnable grown) {
    this.gate = gate;
    this.grown = grown;
    this.isolation = isolation;
    this.sizeClass = sizeClass;
    this.fronts = fronts;
    this.slotBytes = SizeClasses.slotBytes(sizeClass);
    this.leastSlots = leastSlots(slotBytes);
    this.spareSlots = spareSlots(slotBytes);
    this.source = source;
    this.directory = directory;
    this.stripes = fronts.stripes();
    this.byStripe = new StripeSlabs(stripes, Math.max(spareSlots, leastSlots));
  }

  private static int leastSlots(int slotBytes) {
    return Math.min(Math.max(MIN_SLOTS, SLAB_BYTES / slotBytes), MAX_SLAB_BYTES / slotBytes);
  }

  /**
   * How many slots of a size the slabs have together that are kept though they have all their slots
   * and do not serve. One of them is kept in any case.
   */
  static int spareSlots(int slotBytes) {
    return Math.min(SPARE_SLOTS, SPARE_BYTES / slotBytes);
  }

  /** Takes a slot of the slab that serves this thread's stripe, observed or not, or gives null. */
  PooledBlock takeServed() {
    return takeServed(stripes.current());
  }

  private PooledBlock takeServed(int stripe) {
    Slab slab = byStripe.serving(stripe);
    return slab == null ? null : slab.allocateServed();
  }

  /** Hides the serving slabs from all threads, or shows them again. */
  void observe(boolean begin) {
    lock.lock();
    try {
      observed = begin;
      for (int stripe = 0; stripe < stripes.count(); stripe++) {
        show(stripe);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Has the slab that serves a stripe found, unless it is observed. */
  private void show(int stripe) {
    Slab slab = byStripe.serving(stripe);
    // A thread that finds a slot there begins a use without telling observers and without room for
    // isolation.
    boolean open = slab != null && !observed && isolation.isNone();
    FreeIndex front = open ? slab.front() : FreeIndex.NONE;
    fronts.set(stripe, sizeClass, front);
  }

  /**
   * Takes a slot of the next slab that has one.
   *
   * @throws OutOfNativeMemoryException if a slab is needed and cannot be reserved
   * @throws IllegalStateException if the allocator is closed
   */
  PooledBlock allocateFromNext() {
    PooledBlock block;
    SpinLock.lock(lock);
    try {
      block = takeNext();
    } finally {
      unlock();
    }
    while (block == null) {
      block = takeFromNew();
    }
    return block;
  }

  /** Takes a slot of a slab that is there, or gives null. Under the lock. */
  private PooledBlock takeNext() {
    if (closed) {
      throw new IllegalStateException("allocator is closed");
    }
    int stripe = stripes.current();
    PooledBlock block = takeServed(stripe);
    while (block == null) {
      Slab retained = byStripe.readiest(stripe);
      if (retained != null) {
        serveRetained(stripe, retained);
      } else {
        Slab next = nextFree(stripe);
        if (next == null) {
          return byStripe.serving(stripe) == null ? null : byStripe.takeFromAny(stripe);
        }
        serveOrQueue(stripe, next);
      }
      block = takeServed(stripe);
    }
    return block;
  }

  /** Makes a slab and takes a slot; null if other threads took all of them. */
  private PooledBlock takeFromNew() {
    gate.beginMove();
    try {
      return addAndTake(regionOf(slotsOfNext()));
    } finally {
      gate.endMove();
    }
  }

  private PooledBlock addAndTake(MemoryRegion region) {
    boolean added = false;
    SpinLock.lock(lock);
    try {
      if (!closed) {
        add(region);
        added = true;
      }
      return takeNext();
    } finally {
      unlock();
      if (!added) {
        source.free(region);
      }
    }
  }

  /** Releases the lock, and gives back the memory of the slabs that have left. */
  private void unlock() {
    Slab gone = lock.getHoldCount() == 1 ? leaving : null;
    if (gone == null) {
      lock.unlock();
      return;
    }
    leaving = null;
    boolean moves = false;
    try {
      gate.beginMove();
      moves = true;
    } finally {
      lock.unlock();
      try {
        freeAll(gone);
      } finally {
        if (moves) {
          gate.endMove();
        }
      }
    }
  }

  private void freeAll(Slab gone) {
    for (Slab slab = gone; slab != null; slab = slab.nextLeaving) {
      source.free(slab.region());
    }
  }

  /** A slab with free slots that is no stripe's, or one that is retained for another; or null. */
  private Slab nextFree(int stripe) {
    Slab next = withFreeSlots.poll();
    for (int i = 1; i < stripes.count() && next == null; i++) {
      next = takeRetained(stripes.after(stripe, i));
    }
    return next;
  }

  /**
   * Takes a slab from a stripe for which it is retained, if half of its slots are ready; or null.
   */
  private Slab takeRetained(int stripe) {
    Slab slab = byStripe.readiest(stripe);
    if (slab == null || 2 * slab.readyBlocks() < slab.slots()) {
      return null;
    }
    leaveStripe(slab);
    return slab;
  }

  private void serveOrQueue(int stripe, Slab slab) {
    try {
      serve(stripe, slab);
    } catch (Throwable noHeap) {
      // If it serves the stripe all the same, it is where the next request looks.
      if (byStripe.serving(stripe) != slab) {
        slab.shutFront();
        queueOrGiveBack(slab);
      }
      throw noHeap;
    }
  }

  private void serve(int stripe, Slab slab) {
    slab.queued = false;
    slab.openFront();
    List<Slab> left = byStripe.serve(stripe, slab);
    showAfter(stripe, left);
  }

  private void serveRetained(int stripe, Slab slab) {
    slab.front().collect();
    showAfter(stripe, byStripe.serve(stripe, slab));
  }

  /** Has the slab found that serves a stripe now, and shuts those that left it. */
  private void showAfter(int stripe, List<Slab> left) {
    show(stripe);
    for (Slab exhausted : left) {
      exhausted.shutFront();
      queueOrGiveBack(exhausted);
    }
  }

  private void add(MemoryRegion region) {
    // First, for it asks the sub-allocator, which may throw: then nothing has changed.
    grown.run();
    int slots = (int) (region.sizeBytes() / slotBytes);
    Slab slab = new Slab(this, region, slotBytes, slots, isolation, stripes);
    directory.add(slab);
    try {
      slabs.add(slab);
      slab.queued = true;
      withFreeSlots.add(slab);
    } catch (Throwable e) {
      slabs.remove(slab);
      directory.remove(slab);
      throw e;
    }
    allSlots += slots;
    bytesReserved += region.sizeBytes();
    peakBytesReserved = Math.max(peakBytesReserved, bytesReserved);
  }

  /** As many as the first slabs have, or a multiple. */
  private int slotsOfNext() {
    long exhausted = exhaustedSlots();
    // Not larger than the spare slots, or it would be made and given back repeatedly.
    long most = Math.min(Math.min(MAX_GROWN_SLOTS, spareSlots), exhausted / 2);
    int slots = leastSlots;
    while (2L * slots <= most) {
      slots *= 2;
    }
    return slots;
  }

  private long exhaustedSlots() {
    lock.lock();
    try {
      return allSlots - byStripe.servingSlots();
    } finally {
      lock.unlock();
    }
  }

  /** A region for so many slots, or for fewer if so many cannot be reserved. */
  private MemoryRegion regionOf(int slots) {
    try {
      return source.alloc(SizeClasses.MAX_ALIGNMENT, (long) slots * slotBytes);
    } catch (OutOfNativeMemoryException e) {
      if (slots == leastSlots) {
        throw e;
      }
      return regionOf(slots / 2);
    }
  }

  /** The calling thread freed a slab's first free slot, or the last one. */
  void slabChanged(Slab slab) {
    SpinLock.lock(lock);
    try {
      byStripe.noteCloser(slab, stripes.current());
      queueOrGiveBack(slab);
    } finally {
      unlock();
    }
  }

  /** Queues a slab that has free slots and is no stripe's, or gives it back if it has all. */
  private void queueOrGiveBack(Slab slab) {
    if (closed || slab.isFrontOpen() || !slabs.contains(slab)) {
      return;
    }
    if (!slab.allFree() || !hasAllSparesBeside(slab)) {
      if (!slab.queued && slab.freeBlocks() > 0) {
        slab.queued = true;
        withFreeSlots.add(slab);
      }
    } else if (slab.retire()) {
      giveBack(slab);
    }
  }

  /** Whether with this slab there were too many that have all their slots and do not serve. */
  private boolean hasAllSparesBeside(Slab slab) {
    int spare = slab.slots() + byStripe.retainedSlots();
    // If thousands of slabs are freed one by one, the first ones found are enough to decide.
    for (Slab other : withFreeSlots) {
      if (other != slab && other.allFree()) {
        spare += other.slots();
        if (spare > spareSlots) {
          return true;
        }
      }
    }
    return false;
  }

  /** A retired slab leaves; it is as before where there is no heap for that. Under the lock. */
  private void giveBack(Slab slab) {
    try {
      slab.addTo(returned);
    } catch (Throwable e) {
      slab.reopen();
      throw e;
    }
    withFreeSlots.remove(slab);
    slabs.remove(slab);
    allSlots -= slab.slots();
    directory.remove(slab);
    bytesReserved -= slab.region().sizeBytes();
    slab.nextLeaving = leaving;
    leaving = slab;
  }

  /** Gives back every slab without an allocated slot; how many bytes those were. */
  long trim() {
    return trim(slab -> true);
  }

  /** Gives back every slab that was not used at this look and so many before. */
  void releaseIdle(int looks) {
    trim(slab -> slab.isIdle(looks));
  }

  private long trim(Predicate<Slab> which) {
    lock.lock();
    try {
      long before = bytesReserved;
      for (Slab slab : List.copyOf(slabs)) {
        if (which.test(slab) && slab.retire()) {
          try {
            leaveStripe(slab);
          } catch (Throwable e) {
            slab.reopen();
            throw e;
          }
          giveBack(slab);
        }
      }
      return before - bytesReserved;
    } finally {
      unlock();
    }
  }

  private void leaveStripe(Slab slab) {
    boolean left = byStripe.remove(slab);
    slab.shutFront();
    if (left) {
      show(slab.stripe());
    }
  }

  /**
   * Closes all slabs if all their slots are free. If so, this thread holds the class's lock from
   * then on, until {@link #reopen} or {@link #free} releases it, so that no other thread acts on a
   * close that may still be undone; if not, nothing has changed.
   */
  @Override
  public boolean retire() {
    lock.lock();
    boolean all = false;
    try {
      all = Retirable.retireAll(List.copyOf(slabs));
      return all;
    } finally {
      if (!all) {
        lock.unlock();
      }
    }
  }

  /** Undoes {@link #retire}. */
  @Override
  public void reopen() {
    slabs.forEach(Slab::reopen);
    lock.unlock();
  }

  /**
   * Gives every slab back, whatever is still in use; handles on its slots are closed from then on.
   */
  void free() {
    lock.lock();
    try {
      closed = true;
      byStripe.clear();
      for (int stripe = 0; stripe < stripes.count(); stripe++) {
        show(stripe);
      }
      for (Slab slab : List.copyOf(slabs)) {
        slab.revokeAll();
        giveBack(slab);
      }
    } finally {
      while (lock.isHeldByCurrentThread()) {
        unlock();
      }
    }
  }

  void addTo(PoolCounts counts) {
    lock.lock();
    try {
      counts.addPast(returned);
      counts.peakBytes += peakBytesReserved;
      for (Slab slab : slabs) {
        slab.addTo(counts);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Resets the peak and the largest uses. */
  void clearPeak() {
    lock.lock();
    try {
      peakBytesReserved = bytesReserved;
      returned.largestBytes = 0;
      slabs.forEach(Slab::clearLargest);
    } finally {
      lock.unlock();
    }
  }

  int slabs() {
    lock.lock();
    try {
      return slabs.size();
    } finally {
      lock.unlock();
    }
  }
}
