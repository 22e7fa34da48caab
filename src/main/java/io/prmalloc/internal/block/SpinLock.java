package io.prmalloc.internal.block;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes a lock that is held for a moment only. For authors of allocators.
 *
 * <p>Threading: any thread.
 */
public final class SpinLock {

  /**
   * How often a thread tries before it sleeps. The thread that has the lock is mostly done before
   * another one could be woken. If one thread allocates and another one frees, both take the lock
   * so often that they would spend most of their time asleep. That is some ten microseconds at
   * most, and none where there is but one processor.
   */
  private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 200 : 0;

  private SpinLock() {}

  /** Takes a lock, for a request or a close. Threading: any thread. */
  public static void lock(ReentrantLock lock) {
    for (int spin = 0; spin < SPINS; spin++) {
      if (lock.tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    lock.lock();
  }
}
