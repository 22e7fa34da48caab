package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.block.SafeLog;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Trims a pool that was unused for a while.
 *
 * <p>Threading: its own daemon thread; {@link #stop} any thread.
 */
public final class IdleTrimmer implements Runnable {

  // Use is not reported: the pool counts nothing on its fast path. A few times within the idle time
  // the trimmer reads how often blocks were allocated and freed, which the blocks count, and
  // compares.
  //
  //   the number moved       in use: the time begins anew
  //   it stood long enough   trim, once; a trim does not move it
  //   the trim failed        the time begins anew, so it is tried again
  //
  // So a pool is trimmed between one idle time and one and a quarter after its last use.
  //
  // The thread holds the pool by a weak reference only, and not at all while it sleeps: a pool that
  // was forgotten can be collected, and then the thread ends too. Nothing else but a stop ends it:
  // whatever is thrown, it goes on, and it waits by the object's monitor, which takes no heap.

  private static final Logger LOGGER = SafeLog.logger(IdleTrimmer.class);

  private static final int LOOKS = 4;

  /** The pool that is checked. */
  public interface Target {
    /** A number that changes with every use. */
    long changes();

    long trim();
  }

  /** Between two looks: more often would keep a processor busy. */
  private static final long LEAST_NANOS = 1_000_000;

  private final WeakReference<? extends Target> target;
  private final long idleNanos;
  private final LongSupplier clock;

  /** Null if another thread runs it. */
  private Thread thread;

  /** Under the lock of this object. */
  private boolean stopped;

  private long seenChanges;
  private long seenNanos;
  private boolean trimmed;

  /** Whether the last trim failed, which is said once. */
  private boolean failed;

  /**
   * @param target held weakly
   * @param idle more than 0
   * @param clock tells nanoseconds
   */
  IdleTrimmer(Target target, Duration idle, LongSupplier clock) {
    this.target = new WeakReference<>(target);
    this.idleNanos = idle.toNanos();
    this.clock = clock;
    this.seenChanges = target.changes();
    this.seenNanos = clock.getAsLong();
  }

  /** Starts the thread. */
  public static IdleTrimmer start(Target target, Duration idle) {
    IdleTrimmer trimmer = new IdleTrimmer(target, idle, System::nanoTime);
    trimmer.thread = new Thread(trimmer, "prmalloc-idle-trim");
    trimmer.thread.setDaemon(true);
    trimmer.thread.start();
    return trimmer;
  }

  @Override
  public void run() {
    boolean wanted = true;
    while (wanted) {
      try {
        wanted = !await() && look();
      } catch (Throwable failure) {
        // An interrupt is not for this thread, and after an error it looks again. It was logged, or
        // there is no heap for that.
      }
    }
  }

  /** Waits for the next look; whether it was stopped. */
  private synchronized boolean await() throws InterruptedException {
    long left = Math.max(idleNanos / LOOKS, LEAST_NANOS);
    long end = System.nanoTime() + left;
    while (!stopped && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = end - System.nanoTime();
    }
    return stopped;
  }

  /** Trims if it is time to; false if the target no longer exists. */
  boolean look() {
    Target present = target.get();
    if (present == null) {
      return false;
    }
    try {
      lookAt(present);
    } catch (Throwable failure) {
      Level level = failed ? Level.DEBUG : Level.WARNING;
      failed = true;
      SafeLog.log(LOGGER, level, "an idle pool could not be trimmed, tried again", failure);
    }
    return true;
  }

  private void lookAt(Target present) {
    long changes = present.changes();
    long now = clock.getAsLong();
    if (changes != seenChanges) {
      seenChanges = changes;
      seenNanos = now;
      trimmed = false;
    } else if (!trimmed && now - seenNanos >= idleNanos) {
      seenNanos = now;
      long bytes = present.trim();
      trimmed = true;
      failed = false;
      LOGGER.log(Level.DEBUG, "trimmed {0} bytes of an idle pool", bytes);
    }
  }

  /** Ends the thread, without waiting for it: see {@link #join}. Takes no heap. */
  public synchronized void stop() {
    stopped = true;
    notifyAll();
  }

  /** Returns when the thread has ended, or at once on that thread. After {@link #stop}. */
  public void join() {
    Maintenance.join(thread);
  }
}
