package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.freelist.PooledBlock;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

/**
 * Plans of the shared pool that were replaced, until the last of their blocks is freed.
 *
 * <p>Threading: as each method says.
 */
public final class DrainingPlans {

  // A table is added here before the next one serves, or an address in it would have no owner for a
  // moment. So for that moment it is in both places, and a caller that counts passes the serving
  // table.

  private static final Logger LOGGER = SafeLog.logger(DrainingPlans.class);

  private static final List<BinTable> NONE = List.of();

  /** That of the pool's lifecycle. */
  private final Lock lock;

  private final Executor executor;

  /** Written under the lock. */
  private volatile List<BinTable> tables = List.of();

  /** Uses of the blocks of freed tables. */
  private final LongAdder goneUses = new LongAdder();

  private volatile int added;

  /**
   * @param executor gives back what is free
   */
  public DrainingPlans(Lock lifecycle, Executor executor) {
    this.lock = lifecycle;
    this.executor = executor;
  }

  /**
   * Adds a table that still serves and is about to be replaced.
   *
   * <p>Threading: under the lock, which is kept until {@link #release}.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
  public void add(BinTable table) {
    added++;
    List<BinTable> more = new ArrayList<>(tables);
    more.add(table);
    tables = List.copyOf(more);
  }

  /**
   * Frees the memory of a replaced table: regions with every block free at once, the rest on the
   * executor after the last block is free, so that the thread that frees that block does not wait
   * for the lock.
   *
   * <p>Threading: under the lock.
   */
  public void release(BinTable table) {
    table.evict();
    AtomicBoolean wanted = new AtomicBoolean();
    table.tellWhenFree(() -> tryFreeLater(table, wanted));
    tryFree(table);
  }

  private void tryFreeLater(BinTable table, AtomicBoolean wanted) {
    if (!wanted.compareAndSet(false, true)) {
      return;
    }
    try {
      executor.execute(
          () -> {
            // First: a block that is freed from here on is looked for again.
            wanted.set(false);
            tryFree(table);
          });
    } catch (Throwable refused) {
      wanted.set(false);
      SafeLog.log(
          LOGGER, Level.DEBUG, "the arena of a replaced plan goes with the next trim", refused);
    }
  }

  /**
   * Gives back what is free by now; returns how many bytes those were. Threading: under the lock.
   */
  public long evict() {
    return tables.stream().mapToLong(BinTable::evict).sum();
  }

  private boolean tryFree(BinTable table) {
    lock.lock();
    try {
      if (!tables.contains(table)) {
        return true;
      }
      // Made before anything changes: it takes heap, which may be exhausted.
      PoolCounts counts = new PoolCounts();
      List<BinTable> fewer = new ArrayList<>(tables);
      fewer.remove(table);
      fewer = List.copyOf(fewer);
      if (!table.retire()) {
        return false;
      }
      try {
        table.addTo(counts);
        goneUses.add(counts.uses);
        tables = fewer;
      } catch (Throwable e) {
        table.reopen();
        throw e;
      }
      table.free();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Gives all back that are free; whether that was all. Threading: any thread. */
  public boolean tryFreeAll() {
    boolean all = true;
    for (BinTable table : tables) {
      all &= tryFree(table);
    }
    return all;
  }

  /** {@link #tryFreeAll}; returns how many bytes were given back. Threading: any thread. */
  public long trim() {
    long before = arenaBytes(null);
    tryFreeAll();
    return before - arenaBytes(null);
  }

  /** Gives all back, whatever is allocated. Threading: under the lock. */
  public void free() {
    List<BinTable> all = tables;
    tables = NONE;
    free(all, 0);
  }

  /** Frees this one and those after it, even if one throws. Takes no heap. */
  private static void free(List<BinTable> all, int first) {
    for (int i = first; i < all.size(); i++) {
      try {
        all.get(i).free();
      } catch (Throwable e) {
        free(all, i + 1);
        throw e;
      }
    }
  }

  /** How many plans were replaced so far. Threading: any thread. */
  public int count() {
    return added;
  }

  /** The block that contains an address, or null. Threading: any thread. */
  public PooledBlock find(long address) {
    for (BinTable table : tables) {
      PooledBlock block = table.find(address);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /**
   * Adds up the blocks, also of freed tables. Threading: any thread.
   *
   * @param serving what is counted elsewhere; may be null
   */
  public void addTo(PoolCounts counts, BinTable serving) {
    counts.uses += goneUses.sum();
    allBut(serving).forEach(table -> table.addTo(counts));
  }

  /**
   * Bytes of the arenas that are still there. Threading: any thread.
   *
   * @param serving as in {@link #addTo}
   */
  public long arenaBytes(BinTable serving) {
    return allBut(serving).mapToLong(BinTable::arenaBytes).sum();
  }

  private Stream<BinTable> allBut(BinTable serving) {
    return tables.stream().filter(table -> table != serving);
  }
}
