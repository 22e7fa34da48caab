package io.prmalloc.lifetime;

import java.util.Collections;
import java.util.Comparator;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A planned block: a set of lives of which no two overlap, so that a single chunk can serve them
 * all, one after the other.
 *
 * <p>Threading: not safe; a block belongs to its policy.
 */
public final class AllocBlock {

  // DeepRec keeps the lives in a list and walks all of it for every question. As they do not
  // overlap, the order of their begins is the order of their ends too, and only the two neighbours
  // in that order can be in the way: O(log n).

  private final TreeSet<AllocStats> lives =
      new TreeSet<>(Comparator.comparingLong(AllocStats::beginTick));

  // The latest life, kept apart from the set: most lookups are for lives after it.
  private long lastBeginTick = Long.MAX_VALUE;
  private long lastEndTick = Long.MIN_VALUE;

  AllocBlock() {}

  /**
   * Whether no life in this block overlaps {@code stats}. O(log n); O(1) after the last life.
   *
   * <p>Threading: not safe.
   */
  public boolean canInsert(AllocStats stats) {
    if (stats.beginTick() > lastEndTick) {
      return true;
    }
    AllocStats before = lives.floor(stats);
    if (before != null && before.endTick() >= stats.beginTick()) {
      return false;
    }
    AllocStats after = lives.ceiling(stats);
    return after == null || after.beginTick() > stats.endTick();
  }

  /**
   * Adds a life. O(log n).
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if it overlaps one that is there
   */
  public void insert(AllocStats stats) {
    if (!tryInsert(stats)) {
      throw new IllegalArgumentException("stats " + stats + " overlap a life in the block");
    }
  }

  boolean tryInsert(AllocStats stats) {
    if (!canInsert(stats)) {
      return false;
    }
    lives.add(stats);
    if (stats.endTick() > lastEndTick) {
      lastBeginTick = stats.beginTick();
      lastEndTick = stats.endTick();
    }
    return true;
  }

  /** The lives, by begin. Threading: not safe. */
  public SortedSet<AllocStats> lives() {
    return Collections.unmodifiableSortedSet(lives);
  }

  /** Drops lives that ended before a tick: no later life can overlap them. */
  void forgetBefore(long tick) {
    while (!lives.isEmpty() && lives.first().endTick() < tick) {
      lives.pollFirst();
    }
  }

  /** Begin of the latest life ever inserted; the largest {@code long} before the first. */
  long lastBeginTick() {
    return lastBeginTick;
  }

  /** End of the latest life ever inserted; the smallest {@code long} before the first. */
  long lastEndTick() {
    return lastEndTick;
  }
}
