package io.prmalloc.internal.observe;

import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.EndListener;
import io.prmalloc.internal.block.Observation;
import io.prmalloc.internal.block.PoolObserver;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.block.TolerantObserver;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.pool.Leak;
import io.prmalloc.pool.LeakDetection;
import io.prmalloc.recording.Recording;
import io.prmalloc.recording.RecordingOptions;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The registry of a pool's observers; calls them.
 *
 * <p>Threading: any thread.
 */
public final class ObserverRegistry {

  // The fast path does not check whether there are observers. Instead it finds nothing while there
  // are some (TensorPoolAllocator.allocate, SlabClass.observe), so that every request takes
  // SlowPath, which tells them and marks the block (Block.observe). The mark is part of the stamp,
  // so a close knows from its stamp whether to tell.
  //
  //   begins to observe first the observers are published, then the fast path is closed: a request
  //                       that is on it is not observed, and neither is the release of its memory
  //   ends                first they are removed, then the fast path is opened; a block that was
  //                       marked before tells the observers that were told of its allocation
  //
  // A step that is asked for memory itself is served by the shared pool meanwhile (see
  // PlannedSteps.observe); steps that have an arena when an observer is attached keep it to their
  // end, unobserved.
  //
  // Blocks outside the pool have a ticket for the heap, and that leads to observers.

  /** Closes the fast path, and opens it again. */
  public interface Gate {
    /**
     * Closes the fast path if {@link ObserverRegistry#isObserved}, or opens it.
     *
     * @param steps whether there are observers that are told of planned steps
     */
    void observe(boolean steps);
  }

  private final String name;
  private final LiveHeap outside;
  private final MemoryPlanner planner;

  /** The pool's own, under which it is closed and its bins are published. */
  private final Lock lifecycle;

  private final Gate gate;

  /** Never empty, and not changed once it is there; null if there are none. */
  private volatile TolerantObserver[] observers;

  /** Made once, for to make it takes heap, of which there may be none. */
  private final Supplier<Runnable> stepWatcher = this::stepOpened;

  private volatile LeakDetector leaks;
  private volatile boolean closed;

  public ObserverRegistry(
      String name, LiveHeap outside, MemoryPlanner planner, Lock lifecycle, Gate gate) {
    this.name = name;
    this.outside = outside;
    this.planner = planner;
    this.lifecycle = lifecycle;
    this.gate = gate;
  }

  public boolean isObserved() {
    return observers != null;
  }

  /** Not to be changed; null if there are none. */
  public PoolObserver[] observers() {
    return observers;
  }

  /** Begins to tell an observer. The caller holds the lifecycle's lock. */
  public void attach(PoolObserver observer) {
    TolerantObserver[] before = observers;
    TolerantObserver[] after =
        before == null ? new TolerantObserver[1] : Arrays.copyOf(before, before.length + 1);
    after[after.length - 1] = new TolerantObserver(observer);
    try {
      set(after);
    } catch (Throwable e) {
      set(before);
      throw e;
    }
  }

  /** The caller holds the lifecycle's lock. */
  private void set(TolerantObserver[] after) {
    observers = after;
    planner.watchSteps(after == null ? null : stepWatcher);
    gate.observe(after != null && seeSteps(after));
  }

  private static boolean seeSteps(TolerantObserver[] observers) {
    for (TolerantObserver observer : observers) {
      if (observer.seesSteps()) {
        return true;
      }
    }
    return false;
  }

  /** {@link #attach}, if the pool is not closed. The caller holds the lifecycle's lock. */
  public void attachIfOpen(PoolObserver observer) {
    if (!closed) {
      attach(observer);
    }
  }

  /**
   * Ends to tell an observer. If this throws, for want of heap, it may be called again. Takes none
   * if the observer is the only one.
   */
  public void detach(PoolObserver observer) {
    lifecycle.lock();
    try {
      // Although nothing may change: the gate may have failed the last time.
      set(without(observers, observer));
    } finally {
      lifecycle.unlock();
    }
  }

  private static TolerantObserver[] without(TolerantObserver[] before, PoolObserver observer) {
    int kept = 0;
    for (int i = 0; before != null && i < before.length; i++) {
      kept += before[i].isOf(observer) ? 0 : 1;
    }
    if (kept == 0 || kept == before.length) {
      return kept == 0 ? null : before;
    }
    TolerantObserver[] after = new TolerantObserver[kept];
    int next = 0;
    for (TolerantObserver other : before) {
      if (!other.isOf(observer)) {
        after[next++] = other;
      }
    }
    return after;
  }

  /** Begins to look for leaks, if that is wanted. Once. */
  public void detectLeaks(LeakDetection settings, Consumer<Leak> listener) {
    if (settings.interval() > 0) {
      lifecycle.lock();
      try {
        leaks = new LeakDetector(settings, listener);
        attach(leaks);
      } finally {
        lifecycle.unlock();
      }
    }
  }

  /** How many leaks were found, those included that are too old by now. */
  public long leaks() {
    if (leaks == null) {
      return 0;
    }
    leaks.check();
    return leaks.reported();
  }

  /**
   * Begins a recording.
   *
   * @throws java.io.UncheckedIOException if the file is there already or cannot be written
   * @throws IllegalStateException if the pool is closed
   */
  public Recording record(Path file, RecordingOptions options) {
    RecordingObserver observer = null;
    boolean attached = false;
    lifecycle.lock();
    try {
      checkNotClosed();
      observer = new RecordingObserver(file, options, this::detach);
      attach(observer);
      attached = true;
      return observer.recording();
    } finally {
      lifecycle.unlock();
      // Not under the lock, which the recorder's thread takes too.
      if (!attached && observer != null) {
        observer.poolClosed();
      }
    }
  }

  /** Nothing more is allocated. The caller holds the lifecycle's lock. */
  public void close() {
    closed = true;
  }

  private void checkNotClosed() {
    if (closed) {
      throw new IllegalStateException("allocator " + name + " is closed");
    }
  }

  /** Tells of a block of the pool that is about to be allocated. */
  public Block taken(Block block, long bytes, int alignment) {
    PoolObserver[] seen = observers;
    return seen != null && block instanceof PooledBlock pooled
        ? tell(seen, pooled, bytes, alignment)
        : block;
  }

  /** Tells of a block that is about to be allocated; the block is allocated even if this fails. */
  public static PooledBlock tell(
      PoolObserver[] seen, PooledBlock block, long bytes, int alignment) {
    try {
      return block.takenBefore(seen, bytes, alignment);
    } catch (Throwable e) {
      TolerantObserver.failed(e);
      return block;
    }
  }

  /** Takes a block outside the pool for a request that is to be planned, and tells of it. */
  public Block takeOutside(long bytes, int alignment, int headerBytes) {
    // The heap would refuse it too, but only after it had requested memory from the system.
    checkNotClosed();
    long capacity = bytes + headerBytes + outside.isolation().roomBytes();
    // No plan places what is too large for a buffer.
    Tracked tracked =
        Requests.isLarge(capacity) ? null : planner.trackAllocate(alignment, capacity);
    try {
      return acquire(bytes, alignment, headerBytes, tracked);
    } catch (Throwable e) {
      if (tracked != null) {
        planner.trackFailure(tracked);
      }
      throw e;
    }
  }

  /**
   * Takes a block outside the pool, and tells of it.
   *
   * @param tracked what the planner is told when it is freed, or null
   */
  public Block acquire(long bytes, int alignment, int headerBytes, Tracked tracked) {
    PoolObserver[] seen = observers;
    Observation observation = seen == null ? null : new Observation(tracked);
    // One call: the JIT may inline all of it, at each place where it stands.
    Block block =
        outside.acquire(bytes, alignment, headerBytes, seen == null ? tracked : observation);
    if (observation != null) {
      try {
        observation.begin(seen, bytes, alignment);
      } catch (Throwable e) {
        TolerantObserver.failed(e);
      }
    }
    return block;
  }

  /** An observed block of the heap is freed. */
  public void released(Object ticket) {
    try {
      if (ticket instanceof EndListener listener) {
        listener.end();
      } else if (ticket instanceof Observation observation) {
        observation.end();
        releaseTracked(observation.tracked());
      } else {
        releaseTracked((Tracked) ticket);
      }
    } catch (Throwable e) {
      // The block is freed nevertheless.
      TolerantObserver.failed(e);
    }
  }

  private void releaseTracked(Tracked tracked) {
    if (tracked != null) {
      planner.trackFree(tracked);
    }
  }

  /** A step that observers are told of opens; returns the action at its end. */
  private Runnable stepOpened() {
    PoolObserver[] seen = observers;
    if (seen == null) {
      return () -> {};
    }
    long[] tickets = Arrays.stream(seen).mapToLong(PoolObserver::stepOpened).toArray();
    return () -> {
      for (int i = 0; i < tickets.length; i++) {
        seen[i].stepClosed(tickets[i]);
      }
    };
  }

  /** The pool is to be closed, and memory is still allocated. */
  public void stillInUse() {
    PoolObserver[] seen = observers;
    if (seen != null) {
      for (PoolObserver each : seen) {
        each.stillInUse();
      }
    }
  }

  /** The pool is closed. The caller holds no lock. */
  public void poolClosed() {
    PoolObserver[] seen = observers;
    if (seen != null) {
      for (PoolObserver each : seen) {
        each.poolClosed();
      }
    }
  }
}
