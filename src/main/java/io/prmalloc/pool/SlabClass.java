package io.prmalloc.pool;

import io.prmalloc.SubAllocator;
import io.prmalloc.os.MemoryRegion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The slabs of one size class: grown on demand, given back when empty.
 *
 * <p>Threading: any thread.
 */
final class SlabClass {

  // Requests are served from `current` alone, without a lock: one stack. When that has no free
  // slot, the next slab that has one takes its place, under the lock. Who brings home the first
  // slot of an exhausted slab queues it; who brings home the last one of a slab that is not current
  // gives it back, except for one spare, so that a server that breathes in and out at the edge of a
  // slab does not pay the system for every breath.
  //
  // No slab is lost between the two: a slab stops being current only when it is found exhausted
  // under the lock, and the push that next frees a slot in it sees 1 and comes to the lock
  // afterwards.
  //
  // A push that brings the last one home need not come if the slab is the one that serves, which is
  // what a lone request of its class does each time. Whether it still serves is read without the
  // lock. Should it be replaced at that moment, it was found exhausted under the lock before; then
  // the push that saw 1 waits for that lock, and finds the slab with all slots home that came
  // meanwhile.

  private static final int SLAB_BYTES = 32 * 1024;
  private static final int MIN_SLOTS = 32;

  private final int slotBytes;
  private final int slots;
  private final SubAllocator source;
  private final AddressDirectory directory;
  private final Runnable grown;

  /** The slab that serves; null before the first. */
  private volatile Slab current;

  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Slab> withFreeSlots = new ArrayDeque<>();
  private final Set<Slab> slabs = new LinkedHashSet<>();
  private Slab spare;
  private boolean closed;
  private final PoolCounts returned = new PoolCounts();
  private long bytesReserved;
  private long peakBytesReserved;

  /**
   * @param grown told after every slab that is taken from the source
   */
  SlabClass(int slotBytes, SubAllocator source, AddressDirectory directory, Runnable grown) {
    this.grown = grown;
    this.slotBytes = slotBytes;
    this.slots = Math.max(MIN_SLOTS, SLAB_BYTES / slotBytes);
    this.source = source;
    this.directory = directory;
  }

  /** Takes a slot of the slab that serves, or gives null. */
  PooledBlock take(int alignment) {
    Slab slab = current;
    return slab == null ? null : slab.allocate(alignment);
  }

  /** Whether the slab is the one that serves now. */
  boolean isServing(Slab slab) {
    return current == slab;
  }

  /**
   * Takes a slot of the next slab that has one.
   *
   * @throws io.prmalloc.OutOfNativeMemoryException if a slab is needed and not to be had
   * @throws IllegalStateException if the allocator is closed
   */
  PooledBlock allocateFromNext(int alignment) {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("allocator is closed");
      }
      while (true) {
        PooledBlock block = take(alignment);
        if (block != null) {
          return block;
        }
        Slab next = withFreeSlots.poll();
        if (next == null) {
          next = grow();
        }
        next.queued = false;
        if (next == spare) {
          spare = null;
        }
        current = next;
      }
    } finally {
      lock.unlock();
    }
  }

  private Slab grow() {
    MemoryRegion region = source.alloc(SizeClasses.MAX_ALIGNMENT, (long) slots * slotBytes);
    Slab slab = new Slab(this, region, slotBytes, slots);
    slabs.add(slab);
    directory.add(slab);
    bytesReserved += region.sizeBytes();
    peakBytesReserved = Math.max(peakBytesReserved, bytesReserved);
    grown.run();
    return slab;
  }

  /** A slab has its first free slot, or all of them. */
  void slabChanged(Slab slab) {
    lock.lock();
    try {
      if (closed || current == slab || !slabs.contains(slab)) {
        return;
      }
      if (!slab.allHome() || spare == null || spare == slab || !spare.allHome()) {
        if (slab.allHome()) {
          spare = slab;
        }
        if (!slab.queued && slab.freeBlocks() > 0) {
          slab.queued = true;
          withFreeSlots.add(slab);
        }
      } else if (slab.retire()) {
        giveBack(slab);
      }
    } finally {
      lock.unlock();
    }
  }

  private void giveBack(Slab slab) {
    withFreeSlots.remove(slab);
    slabs.remove(slab);
    directory.remove(slab);
    slab.addTo(returned);
    bytesReserved -= slab.region().sizeBytes();
    source.free(slab.region());
  }

  /**
   * Closes all slabs if all their slots are home. If so, this thread holds the class's lock from
   * then on, so that nobody is told of a close that may still be undone, until {@link #reopen} or
   * {@link #free} lets it go; if not, nothing has changed.
   */
  boolean retire() {
    lock.lock();
    List<Slab> retired = new ArrayList<>();
    for (Slab slab : slabs) {
      if (!slab.retire()) {
        retired.forEach(Slab::reopen);
        lock.unlock();
        return false;
      }
      retired.add(slab);
    }
    return true;
  }

  /** Undoes {@link #retire}. */
  void reopen() {
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
      current = null;
      spare = null;
      for (Slab slab : List.copyOf(slabs)) {
        slab.revokeAll();
        giveBack(slab);
      }
    } finally {
      while (lock.isHeldByCurrentThread()) {
        lock.unlock();
      }
    }
  }

  void addTo(PoolCounts counts) {
    lock.lock();
    try {
      counts.uses += returned.uses;
      counts.largestBytes = Math.max(counts.largestBytes, returned.largestBytes);
      counts.peakBytes += peakBytesReserved;
      for (Slab slab : slabs) {
        slab.addTo(counts);
      }
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
