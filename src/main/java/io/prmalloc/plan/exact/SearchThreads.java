package io.prmalloc.plan.exact;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The threads of one planner's run.
 *
 * <p>Threading: one thread.
 */
final class SearchThreads {

  // A search goes down one step per tensor, each some hundred bytes of stack, so its thread gets a
  // stack for that; only what is used of it takes memory. The caller's thread waits. Its interrupt
  // ends the search, and comes back when all is done.

  private static final long MIN_STACK_BYTES = 4L << 20;
  private static final long STACK_BYTES_PER_TENSOR = 2048;
  private static final long POLL_MILLIS = 20;

  private final Incumbent incumbent;
  private final long stackBytes;
  private final List<Thread> threads = new ArrayList<>();
  private final List<Thread> interruptible = new ArrayList<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /** No thread runs yet. */
  SearchThreads(Incumbent incumbent, int tensors) {
    this.incumbent = incumbent;
    stackBytes = MIN_STACK_BYTES + STACK_BYTES_PER_TENSOR * tensors;
  }

  /**
   * Starts a thread.
   *
   * @param isInterruptible whether it is interrupted when the search is over, and stops soon then;
   *     others are waited for
   */
  void start(Runnable work, boolean isInterruptible) {
    Runnable guarded =
        () -> {
          try {
            work.run();
          } catch (Throwable e) {
            failure.compareAndSet(null, e);
            incumbent.end();
          }
        };
    Thread thread = new Thread(null, guarded, "prmalloc-exact-" + threads.size(), stackBytes);
    thread.setDaemon(true);
    threads.add(thread);
    if (isInterruptible) {
      interruptible.add(thread);
    }
    thread.start();
  }

  /**
   * Waits for all of them.
   *
   * @throws RuntimeException what one of them threw; an {@link Error} likewise
   */
  void join() {
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join(POLL_MILLIS);
        } catch (InterruptedException e) {
          interrupted = true;
          incumbent.end();
        }
        if (incumbent.isOver()) {
          interruptible.forEach(Thread::interrupt);
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (failure.get() instanceof RuntimeException e) {
      throw e;
    }
    if (failure.get() instanceof Error e) {
      throw e;
    }
  }
}
