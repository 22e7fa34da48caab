package io.prmalloc.lifetime;

import io.prmalloc.Allocation;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.block.StepMemory;
import io.prmalloc.internal.block.StepSource;

/**
 * One step of a server, from {@link MemoryPlanner#collect} to {@link #close}: for a
 * try-with-resources around an inference.
 *
 * <pre>{@code
 * try (ScopedMemoryCollector step = pool.collect()) {
 *   try (Allocation input = step.allocate(inputBytes)) {
 *     infer(input.byteBuffer());
 *   }
 * }
 * }</pre>
 *
 * <p>Memory asked for through the step is <i>planned</i> when steps repeat: after a few of them an
 * offset plan is made for the sequence of requests, with the largest size that was seen of each, a
 * step leases an arena with it, and a request is then an index and a comparison. So one plan serves
 * every batch size and length up to the largest. A request that is larger than its place is served
 * by the shared pool, and the plan is raised.
 *
 * <p>Requests of the step's thread to the allocator itself, while the step is the innermost that it
 * has open, are served by the shared pool as long as steps repeat exactly; if their sizes vary they
 * are planned in the same way. Closed by another thread, such a step is over for its own thread
 * too.
 *
 * <p>Closing it twice does nothing the second time. Tensors may outlive the step, and may be
 * released by other threads. A step is best closed by the thread that opened it: if another thread
 * closes it, its arena is abandoned.
 *
 * <p>Modelled on DeepRec's {@code ScopedMemoryCollector}, with one difference: there any collector
 * that closes ends the step of every thread; here each ends its own. Planned steps are not in
 * DeepRec.
 *
 * <p>Threading: any thread may allocate and close; only requests of the thread that opened the step
 * are planned, others get shared memory.
 */
public final class ScopedMemoryCollector implements AutoCloseable {

  // A small object of its own for every step, so that a step that was closed stays closed although
  // the memory it leased serves another one. If it does not escape the method that made it, the JIT
  // replaces it by its fields.

  private final MemoryPlanner planner;
  private final Object key;

  /** The step as the planner sees it, or null if it does not look. */
  private OpenStep collected;

  /** The planner's allocator, or null if it has none. */
  private StepSource source;

  /** Tells the allocator of the end; null if the allocator does not need to know. */
  private Runnable whenClosed;

  private Thread opener;

  /** Null before the first request. Written by the opener. */
  private StepMemory memory;

  private volatile boolean closed;

  /**
   * An open step.
   *
   * @param planner whose step it is
   * @param key what the user says of the step's shape, or null
   */
  ScopedMemoryCollector(MemoryPlanner planner, Object key) {
    this.planner = planner;
    this.key = key;
    open();
  }

  private void open() {
    opener = Thread.currentThread();
    source = planner.source();
    whenClosed = source == null ? null : source.opened(key);
    try {
      collected = planner.openWatchedStep();
    } catch (Throwable e) {
      // A step that could not be opened has no user to close it.
      if (whenClosed != null) {
        whenClosed.run();
      }
      throw e;
    }
  }

  /**
   * Opens the next step with this object, of the same planner and with the same key: for a loop
   * that is to leave no garbage at all. A holder of the object from the step before has the new
   * step.
   *
   * <p>Threading: any thread, alone; the step is the calling thread's from then on.
   *
   * @throws IllegalStateException if the step before is not closed
   */
  public synchronized void reopen() {
    if (!closed) {
      throw new IllegalStateException("this step is not closed yet");
    }
    memory = null;
    open();
    closed = false;
  }

  /** Whether the planner collects what is allocated in this step. */
  boolean isCollected() {
    return collected != null;
  }

  /**
   * Gives memory for this step, as {@link io.prmalloc.Allocator#allocate(long)} does.
   *
   * <p>Threading: any thread; see above.
   *
   * @param bytes how much, from 0
   * @return a handle; close it once
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory
   * @throws IllegalArgumentException if {@code bytes} is negative or more than an allocation holds
   * @throws IllegalStateException if the step is closed, or its planner has no allocator
   */
  public Allocation allocate(long bytes) {
    return take(bytes).open(bytes);
  }

  /**
   * The same at an alignment. One of more than 64 bytes is never planned.
   *
   * <p>Threading: any thread; see above.
   *
   * @param bytes how much, from 0
   * @param alignment what the address is to be a multiple of, a power of two
   * @return a handle; close it once
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory
   * @throws IllegalArgumentException if an argument is out of its bounds
   * @throws IllegalStateException if the step is closed, or its planner has no allocator
   */
  public Allocation allocate(long bytes, long alignment) {
    Requests.checkAlignment(alignment);
    return (alignment <= PLANNED_ALIGNMENT ? take(bytes) : takeShared(bytes, alignment))
        .open(bytes);
  }

  private static final long PLANNED_ALIGNMENT = 64;

  /**
   * Gives memory for this step by its address, at an alignment of 64 bytes. Planned memory has no
   * header in front.
   *
   * <p>Threading: any thread; see above.
   *
   * @param bytes how much, from 0
   * @return the address, 0 if there is no memory; give it back once, with {@link #deallocateRaw} of
   *     this step or of the allocator
   * @throws IllegalArgumentException if {@code bytes} is negative or more than an allocation holds
   * @throws IllegalStateException if the step is closed, its planner has no allocator, or this JVM
   *     cannot tell addresses (the message then holds the flag that helps)
   */
  public long allocateRaw(long bytes) {
    StepMemory mine = memory;
    return mine != null && mine.isMine() && !closed ? mine.takeRaw(bytes) : allocateFirstRaw(bytes);
  }

  private long allocateFirstRaw(long bytes) {
    StepMemory mine = leased(bytes);
    return mine == null ? source.takeSharedRaw(bytes) : mine.takeRaw(bytes);
  }

  /**
   * Takes back what {@link #allocateRaw} gave, or an address of the allocator behind.
   *
   * <p>Threading: any thread, before or after {@link #close}.
   *
   * @param address 0 does nothing
   * @throws IllegalArgumentException if it is not the allocator's, or is already freed
   */
  public void deallocateRaw(long address) {
    StepMemory mine = memory;
    if (mine != null) {
      mine.release(address);
    } else if (address != 0) {
      checkSource();
      source.releaseShared(address);
    }
  }

  private Block take(long bytes) {
    StepMemory mine = memory;
    return mine != null && mine.isMine() && !closed ? mine.take(bytes) : takeFirst(bytes);
  }

  private Block takeFirst(long bytes) {
    StepMemory mine = leased(bytes);
    return mine != null ? mine.take(bytes) : source.takeShared(bytes, PLANNED_ALIGNMENT);
  }

  private Block takeShared(long bytes, long alignment) {
    checkOpen();
    return source.takeShared(bytes, alignment);
  }

  /**
   * The memory of this step's own thread, leased if it must be; null for any other thread, and for
   * what is too large to be planned.
   */
  private StepMemory leased(long bytes) {
    checkOpen();
    // Before anything is leased by the size of the first request.
    Requests.checkBytes(bytes);
    if (Thread.currentThread() != opener || Requests.isLarge(bytes)) {
      return null;
    }
    return memory != null ? memory : keep(source.lease(key, bytes));
  }

  /** The memory of a step that was not closed meanwhile; without a lock while it was leased. */
  private StepMemory keep(StepMemory leased) {
    synchronized (this) {
      if (!closed) {
        memory = leased;
        return leased;
      }
    }
    leased.end();
    throw closedException();
  }

  private void checkOpen() {
    checkSource();
    if (closed) {
      throw closedException();
    }
  }

  private static IllegalStateException closedException() {
    return new IllegalStateException("this step is closed");
  }

  private void checkSource() {
    if (source == null) {
      throw new IllegalStateException("this step's planner belongs to no allocator");
    }
  }

  /** Ends the step. Threading: any thread. */
  @Override
  public void close() {
    if (!closed) {
      finish();
    }
  }

  private synchronized void finish() {
    if (closed) {
      return;
    }
    closed = true;
    // If one of them throws, the others are told too.
    try {
      if (memory != null) {
        memory.end();
      }
    } finally {
      try {
        if (whenClosed != null) {
          whenClosed.run();
        }
      } finally {
        if (collected != null) {
          collected.end();
        }
      }
    }
  }
}
