package io.prmalloc.internal.steps;

import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.Retirable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The kinds of steps that the pool remembers, each with a key of its own.
 *
 * <p>Threading: any thread.
 */
public final class StepKinds implements Retirable {

  // The user's key alone, which may be null, decides the kind of a step; within a kind there may be
  // several structures (see KeyedSteps). There are few kinds, so they lie in an array that is
  // searched from the front; it is replaced as a whole.

  /** No more kinds of steps than this are remembered at a time. */
  public static final int MAX_KINDS = 64;

  private final PlannedSteps owner;
  private final Runnable changed;

  private volatile KeyedSteps[] kinds = {};

  /** Kinds that are no longer remembered and whose memory is about to be freed. Under the lock. */
  private final List<KeyedSteps> leaving = new ArrayList<>();

  /** Whether a kind must not be added any more. Under the lock. */
  private boolean retired;

  /** The counts of kinds that are no longer remembered. Under the lock. */
  private final StepStatsSum gone = new StepStatsSum();

  private final PoolCounts goneCounts = new PoolCounts();

  /**
   * @param changed as in {@link KeyedSteps}, null or not
   */
  StepKinds(PlannedSteps owner, Runnable changed) {
    this.owner = owner;
    this.changed = changed;
  }

  /** Null if there is none of this key. */
  KeyedSteps find(Object key) {
    for (KeyedSteps kind : kinds) {
      if (kind.matches(key)) {
        return kind;
      }
    }
    return null;
  }

  /** The kind of this key, a new one if need be; null if there is no room for one more. */
  KeyedSteps find(Object key, long firstBytes) {
    KeyedSteps found = find(key);
    return found != null ? found : add(key, firstBytes);
  }

  private synchronized KeyedSteps add(Object key, long firstBytes) {
    KeyedSteps found = find(key);
    if (found != null || retired || owner.isClosed()) {
      return found;
    }
    KeyedSteps[] known = kinds;
    if (known.length == MAX_KINDS) {
      known = withoutUnused(known);
      if (known.length == MAX_KINDS) {
        return null;
      }
    }
    KeyedSteps added = new KeyedSteps(owner, key, firstBytes, changed);
    KeyedSteps[] more = Arrays.copyOf(known, known.length + 1);
    more[known.length] = added;
    kinds = more;
    return added;
  }

  /** Second chance: removes one that was not used since the last search. */
  private KeyedSteps[] withoutUnused(KeyedSteps[] known) {
    for (KeyedSteps kind : known) {
      if (!kind.wasUsed() && kind.retireWhileOpen()) {
        leaving.add(kind);
        owner.freeLater(
            () -> {
              kind.free();
              freed(kind);
            });
        return Arrays.stream(known).filter(other -> other != kind).toArray(KeyedSteps[]::new);
      }
    }
    return known;
  }

  private synchronized void freed(KeyedSteps kind) {
    if (leaving.remove(kind)) {
      kind.addTo(gone);
      kind.addTo(goneCounts);
    }
  }

  /** In the order in which they were added. */
  Stream<KeyedSteps> all() {
    return Arrays.stream(kinds);
  }

  boolean any(Predicate<KeyedSteps> question) {
    return all().anyMatch(question);
  }

  boolean isEmpty() {
    return kinds.length == 0;
  }

  /** The block at an address, if it belongs to these steps and is allocated; else null. */
  StepArena.PlannedBlock blockAt(long address) {
    for (KeyedSteps kind : kinds) {
      StepArena.PlannedBlock block = kind.blockAt(address);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /** Gives back the arenas that no step has wanted for so long; how many bytes those were. */
  long trim(long idleNanos) {
    return all().mapToLong(kind -> kind.releaseIdle(idleNanos)).sum();
  }

  synchronized void addTo(StepStatsSum sum) {
    sum.add(gone);
    Stream.concat(all(), leaving.stream()).forEach(kind -> kind.addTo(sum));
  }

  synchronized void addTo(PoolCounts counts) {
    counts.addPast(goneCounts);
    Stream.concat(all(), leaving.stream()).forEach(kind -> kind.addTo(counts));
  }

  synchronized void clearPeaks() {
    goneCounts.largestBytes = 0;
    all().forEach(KeyedSteps::clearLargest);
  }

  /**
   * Ensures that no step has an arena and nothing is allocated; else leaves everything as it was.
   * The owner is closed already, so no kind is added.
   */
  @Override
  public synchronized boolean retire() {
    retired = Retirable.retireAll(Arrays.asList(kinds));
    return retired;
  }

  /** Undoes {@link #retire}. */
  @Override
  public synchronized void reopen() {
    retired = false;
    for (KeyedSteps kind : kinds) {
      kind.reopen();
    }
  }

  /** Gives every arena back, whatever is in use. */
  synchronized void free() {
    for (KeyedSteps kind : kinds) {
      kind.free();
    }
    for (KeyedSteps kind : leaving) {
      kind.free();
    }
  }
}
