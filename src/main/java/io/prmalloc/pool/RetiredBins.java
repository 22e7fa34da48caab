package io.prmalloc.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

/**
 * Plans of the shared pool that were replaced, until the last of their blocks is back.
 *
 * <p>Threading: as each method says.
 */
final class RetiredBins {

  // A table is here before the next one serves, or an address in it would be nobody's for a moment.
  // So for that moment it is in both places, and whoever counts says what serves.

  /** The pool's lifecycle. */
  private final Lock lock;

  /** Written under the lock. */
  private volatile List<BinTable> tables = List.of();

  /** Uses of the blocks of tables that are gone. */
  private final LongAdder goneUses = new LongAdder();

  private volatile int added;

  RetiredBins(Lock lifecycle) {
    this.lock = lifecycle;
  }

  /**
   * Takes in a table that still serves and is about to be replaced.
   *
   * <p>Threading: under the lock, which is kept until {@link #release}.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
  void add(BinTable table) {
    added++;
    List<BinTable> more = new ArrayList<>(tables);
    more.add(table);
    tables = List.copyOf(more);
  }

  /**
   * Lets the memory of a table go that was replaced: of regions with every block home at once, the
   * rest by whoever brings the last block home.
   *
   * <p>Threading: under the lock.
   */
  void release(BinTable table) {
    table.evict();
    table.tellWhenHome(() -> tryFree(table));
    tryFree(table);
  }

  /** Gives back what is home by now; how many bytes went. Threading: under the lock. */
  long evict() {
    return tables.stream().mapToLong(BinTable::evict).sum();
  }

  private boolean tryFree(BinTable table) {
    lock.lock();
    try {
      if (!tables.contains(table)) {
        return true;
      }
      if (!table.retire()) {
        return false;
      }
      PoolCounts counts = new PoolCounts();
      table.addTo(counts);
      goneUses.add(counts.uses);
      List<BinTable> fewer = new ArrayList<>(tables);
      fewer.remove(table);
      tables = List.copyOf(fewer);
      table.free();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Gives all back that are home; whether that was all. Threading: any thread. */
  boolean tryFreeAll() {
    boolean all = true;
    for (BinTable table : tables) {
      all &= tryFree(table);
    }
    return all;
  }

  /** Gives all back, whatever is out. Threading: under the lock. */
  void free() {
    tables.forEach(BinTable::free);
    tables = List.of();
  }

  /** How many plans were replaced so far. Threading: any thread. */
  int count() {
    return added;
  }

  /** The block that contains an address, or null. Threading: any thread. */
  PooledBlock find(long address) {
    for (BinTable table : tables) {
      PooledBlock block = table.find(address);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /**
   * Adds up the blocks, also of those that are gone. Threading: any thread.
   *
   * @param serving what is counted elsewhere; may be null
   */
  void addTo(PoolCounts counts, BinTable serving) {
    counts.uses += goneUses.sum();
    allBut(serving).forEach(table -> table.addTo(counts));
  }

  /**
   * Bytes of the arenas that are still there. Threading: any thread.
   *
   * @param serving as of {@link #addTo}
   */
  long arenaBytes(BinTable serving) {
    return allBut(serving).mapToLong(BinTable::arenaBytes).sum();
  }

  private Stream<BinTable> allBut(BinTable serving) {
    return tables.stream().filter(table -> table != serving);
  }
}
