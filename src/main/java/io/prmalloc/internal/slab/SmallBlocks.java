package io.prmalloc.internal.slab;

import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.Arrays;

/**
 * Serves requests of up to 32 KiB from slabs by size class, outside plan and statistics. DeepRec
 * passes these to malloc, which on the JVM would be a native call.
 *
 * <p>Threading: any thread.
 */
public final class SmallBlocks implements Retirable {

  // Two threads of one stripe take the lines of its slabs from each other: with four stripes for
  // eight threads on two processors a pair took a quarter more. But every stripe with requests of a
  // size keeps a slab of it, and a stripe whose slab is exhausted searches all others before a new
  // one is made. So there may be fewer than for the chunks of an arena (Stripes.many), of which a
  // stripe keeps no more than it last used.
  private static final int LEAST_STRIPES = 8;

  private static final int MOST_STRIPES = 16;

  private final SlabClass[] classes = new SlabClass[SizeClasses.count()];
  private final SlabFronts fronts =
      new SlabFronts(Stripes.perProcessor(2, LEAST_STRIPES, MOST_STRIPES));

  /** The bytes that isolation needs in each slot. */
  private final int roomBytes;

  /**
   * @param isolation of the slots; room for it is added to what is asked for
   * @param gate told while memory is reserved or given back
   * @param grown told after every slab that is taken from the source
   */
  public SmallBlocks(
      SubAllocator source,
      BlockIsolation isolation,
      AddressDirectory directory,
      ReservationGate gate,
      Runnable grown) {
    this.roomBytes = isolation.roomBytes();
    for (int i = 0; i < classes.length; i++) {
      classes[i] = new SlabClass(i, fronts, source, isolation, directory, gate, grown);
    }
  }

  private int classOf(int totalBytes, int alignment) {
    return SizeClasses.classOf(totalBytes + roomBytes, alignment);
  }

  /** Takes a slot if one is at hand, or gives null; parameters as {@link #allocateSlowly}. */
  public PooledBlock take(int totalBytes, int alignment) {
    return fronts.front(classOf(totalBytes, alignment)).take(totalBytes);
  }

  /** Where the fast path looks. */
  public SlabFronts fronts() {
    return fronts;
  }

  /** Takes a slot of the slab that serves, observed or not, or gives null if it has none. */
  public PooledBlock takeServed(int totalBytes, int alignment) {
    return classes[classOf(totalBytes, alignment)].takeServed();
  }

  /**
   * Takes a slot, from a new slab if need be.
   *
   * @param totalBytes from 0 to 36 KiB, header included
   * @param alignment a power of two up to {@link SizeClasses#MAX_ALIGNMENT}
   */
  public PooledBlock allocateSlowly(int totalBytes, int alignment) {
    SlabClass slots = classes[classOf(totalBytes, alignment)];
    PooledBlock block = slots.takeServed();
    return block != null ? block : slots.allocateFromNext();
  }

  /** Makes {@link #take} find nothing, or search again. One thread at a time. */
  public void observe(boolean observed) {
    for (SlabClass slabClass : classes) {
      slabClass.observe(observed);
    }
  }

  /**
   * Closes all slabs if all slots are free, and keeps other threads out until {@link #reopen} or
   * {@link #free} by this thread; else nothing has changed.
   */
  @Override
  public boolean retire() {
    return Retirable.retireAll(Arrays.asList(classes));
  }

  /** Undoes {@link #retire}. */
  @Override
  public void reopen() {
    for (SlabClass slabClass : classes) {
      slabClass.reopen();
    }
  }

  /** Gives every slab back, whatever is still in use. */
  public void free() {
    for (SlabClass slabClass : classes) {
      slabClass.free();
    }
  }

  /** Gives back the slabs without an allocated slot; how many bytes those were. */
  public long trim() {
    long released = 0;
    for (SlabClass slabClass : classes) {
      released += slabClass.trim();
    }
    return released;
  }

  /** Gives back the slabs that were not used at this look and so many before. */
  public void releaseIdle(int looks) {
    for (SlabClass slabClass : classes) {
      slabClass.releaseIdle(looks);
    }
  }

  public void addTo(PoolCounts counts) {
    for (SlabClass slabClass : classes) {
      slabClass.addTo(counts);
    }
  }

  /** Resets the peaks and the largest uses. */
  public void clearPeaks() {
    for (SlabClass slabClass : classes) {
      slabClass.clearPeak();
    }
  }

  public int slabs() {
    int slabs = 0;
    for (SlabClass slabClass : classes) {
      slabs += slabClass.slabs();
    }
    return slabs;
  }
}
