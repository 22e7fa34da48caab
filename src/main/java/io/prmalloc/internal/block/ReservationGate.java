package io.prmalloc.internal.block;

import io.prmalloc.OutOfNativeMemoryException;
import java.util.ArrayList;
import java.util.List;

/**
 * Gives requests of users precedence over plans when they reserve memory.
 *
 * <p>Threading: any thread.
 */
public final class ReservationGate {

  // A request that is refused gets back what plans hold and do not use, and tries again (see
  // RefusedRequests). That could fail although there is memory, for two reasons:
  //
  //   1. A plan reserves what was given back before the request does. So the gate is closed while
  //      such a request tries: nothing is reserved for a plan then.
  //   2. Memory is on its way. It is reserved for a plan or a slab that does not have it yet; or a
  //      plan or a slab no longer has it, but it is not given back yet. The thread that moves it is
  //      noted here, and a request that would be refused waits until it is done.
  //
  // A thread that is noted sees that the gate is closed, or the request sees that the thread is
  // noted, for both take the lock.

  /** The threads that move memory; one may be there several times. */
  private final List<Thread> moving = new ArrayList<>();

  private volatile int closed;

  /** Why the last request was refused that closed the gate; null while it is open. */
  private volatile OutOfNativeMemoryException refusal;

  /** The calling thread begins to reserve memory for a plan or slab, or to give such back. */
  public synchronized void beginMove() {
    moving.add(Thread.currentThread());
  }

  /** Ends what {@link #beginMove} began: a plan or slab has the memory, or it is given back. */
  public synchronized void endMove() {
    moving.remove(Thread.currentThread());
    notifyAll();
  }

  /**
   * A request is refused and tries again: from here on plans reserve nothing.
   *
   * @param refused what it was refused with
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
  public synchronized void close(OutOfNativeMemoryException refused) {
    refusal = refused;
    closed++;
  }

  /** Ends what {@link #close} began. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
  public synchronized void open() {
    closed--;
    if (closed == 0) {
      refusal = null;
    }
  }

  /** Whether a refused request tries again. */
  public boolean isClosed() {
    return closed > 0;
  }

  /** Why the request was refused that tries again; null if there is none any more. */
  public OutOfNativeMemoryException refusal() {
    return refusal;
  }

  /**
   * Waits until no thread moves memory. A thread that does so itself does not wait: an executor may
   * run its tasks on the thread of the user, and a sub-allocator may call code of the user.
   *
   * @return false if there was nothing to wait for, or if the thread is interrupted
   */
  public synchronized boolean awaitMoves() {
    if (moving.isEmpty() || moving.contains(Thread.currentThread())) {
      return false;
    }
    try {
      while (!moving.isEmpty()) {
        wait();
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
