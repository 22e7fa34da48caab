package io.prmalloc.internal.lifecycle;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.PlanFormatException;
import io.prmalloc.kept.PlanStore;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Shares a pool's plans with other replicas through a {@link PlanStore}, on a daemon thread of its
 * own: a store may block for seconds, and no other thread is to wait for it.
 *
 * <p>Threading: any thread; {@link #start} once.
 */
public final class PlanSharing {

  // A look reads what is there, takes what the pool has no plan for, and publishes what the pool
  // has that is better (see PlanMerge). It is a compare-and-set: a replica that comes too late
  // reads the store again.
  //
  // The next look is soon if something changed, here or there, and else after twice as long, up to
  // a bound; a lower one while there is nothing to serve from, or the store is away. Each look does
  // the whole work again: a store that lost its plans in a restart gets them again.
  //
  // A plan that needs too much heap to be read is refused before it is read, since a JVM may be
  // told to end when its heap is exhausted. Nothing is published in its place: it may serve others.
  //
  // A refused plan is not read again before it changes. A value that is not a plan is replaced by
  // the first plan that the pool has: the key has the version of the format, so no other replica
  // needs it.
  //
  // The thread holds the pool weakly, so that one that was forgotten can be collected.

  private static final Logger LOGGER = SafeLog.logger(PlanSharing.class);

  private static final KeptPlan NOTHING = new KeptPlan(Optional.empty(), List.of());

  /**
   * The most bytes of heap for each byte of a text that is read: the shortest number of a list and
   * its comma are two bytes, and become an object, its place in a list, and one in two arrays.
   */
  private static final int HEAP_PER_BYTE = 16;

  /** How long the pool's close waits for a store that does not listen to an interrupt. */
  private static final long MAX_JOIN_MILLIS = 5_000;

  /** The most causes in a message; a chain of causes may be circular. */
  private static final int MAX_CAUSES = 10;

  /** The pool, as far as it is shared. */
  public interface Pool {
    /** The plan that it has learnt. */
    KeptPlan plan();

    /**
     * Serves from what it has no plan for itself.
     *
     * @return whether anything of it serves
     * @throws OutOfNativeMemoryException if there is no memory for it
     * @throws IllegalStateException if there is not enough heap for it
     */
    boolean take(KeptPlan kept);

    /** A number that grows with every plan that serves; 0 before the first. */
    long plansServed();
  }

  /**
   * How often the store is looked at.
   *
   * @param least from one look to the next if something changed, more than 0
   * @param mostLearning at most, while nothing serves or the store is away
   * @param most at most
   * @param firstLook how long the first look is waited for
   */
  public record Pace(Duration least, Duration mostLearning, Duration most, Duration firstLook) {

    public static final Pace DEFAULT =
        new Pace(
            Duration.ofSeconds(1),
            Duration.ofSeconds(8),
            Duration.ofMinutes(1),
            Duration.ofSeconds(5));
  }

  private enum Result {
    PUBLISHED,
    TAKEN,
    REFUSED,
    UNAVAILABLE
  }

  /** All that the thread has; not the pool. */
  private static final class Looker implements Runnable {
    private final PlanStore store;
    private final String key;
    private final WeakReference<Pool> pool;
    private final Pace pace;
    private final Map<Result, AtomicLong> counts = new EnumMap<>(Result.class);
    private final CountDownLatch looked = new CountDownLatch(1);

    // Used by the thread only.
    private byte[] digest = {};
    private KeptPlan shared = NOTHING;
    private boolean unread;
    private long served;
    private boolean unpublished;
    private boolean away;

    // Under the lock of this object.
    private boolean stopped;
    private boolean asking;

    Looker(PlanStore store, String key, Pool pool, Pace pace) {
      this.store = store;
      this.key = key;
      this.pool = new WeakReference<>(pool);
      this.pace = pace;
      for (Result result : Result.values()) {
        counts.put(result, new AtomicLong());
      }
    }

    @Override
    public void run() {
      try {
        long wait = 0;
        boolean wanted = true;
        while (wanted) {
          try {
            wanted = await(wait);
            if (wanted) {
              wait = nextWait(wait, lookSafely());
              looked.countDown();
            }
          } catch (Throwable failure) {
            // To wait, and to ask the pool meanwhile, may fail too. Only a stop ends it.
            wait = Math.max(wait, pace.least().toNanos());
          }
        }
      } finally {
        looked.countDown();
      }
    }

    private long nextWait(long wait, boolean changed) {
      long least = pace.least().toNanos();
      Duration most = away || served <= 0 ? pace.mostLearning() : pace.most();
      return changed ? least : Math.max(least, Math.min(2 * wait, most.toNanos()));
    }

    /**
     * Waits until it is time, or, after the least time, until the pool has another plan; false if
     * sharing was stopped or the pool no longer exists.
     */
    private boolean await(long nanos) throws InterruptedException {
      long start = System.nanoTime();
      long left = nanos;
      while (left > 0 && isWanted() && (left == nanos || !hasChanged())) {
        pause(Math.min(left, pace.least().toNanos()));
        left = nanos - (System.nanoTime() - start);
      }
      return isWanted();
    }

    private synchronized void pause(long nanos) throws InterruptedException {
      if (!stopped) {
        TimeUnit.NANOSECONDS.timedWait(this, nanos);
      }
    }

    private synchronized boolean isWanted() {
      return !stopped && !pool.refersTo(null);
    }

    private boolean hasChanged() {
      Pool present = pool.get();
      return present != null && !away && present.plansServed() != served;
    }

    synchronized void stop(Thread thread) {
      stopped = true;
      if (asking) {
        thread.interrupt();
      }
      notifyAll();
    }

    private synchronized boolean isStopped() {
      return stopped;
    }

    /** Whether something changed. */
    private boolean lookSafely() {
      Pool present = pool.get();
      try {
        boolean changed = present != null && look(present);
        if (away) {
          away = false;
          LOGGER.log(Level.INFO, "the plan store {0} is there again", store);
        }
        return changed;
      } catch (Throwable e) {
        // After any failure this thread continues, and so does the pool.
        if (!isStopped()) {
          unavailable(e);
        }
        return false;
      }
    }

    private void unavailable(Throwable reason) {
      count(Result.UNAVAILABLE);
      Level level = away ? Level.DEBUG : Level.WARNING;
      away = true;
      try {
        LOGGER.log(
            level,
            "the plan store "
                + store
                + " is not available, going on without: "
                + withCauses(reason));
      } catch (Throwable unsaid) {
        SafeLog.log(LOGGER, level, "the plan store is not available, going on without", reason);
      }
    }

    /**
     * With the messages of the causes, for a client's own exception rarely says why: a password.
     */
    private static String withCauses(Throwable reason) {
      StringBuilder text = new StringBuilder(reason.toString());
      Throwable cause = reason.getCause();
      for (int i = 0; i < MAX_CAUSES && cause != null; i++) {
        String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        if (text.indexOf(message) < 0) {
          text.append(": ").append(message);
        }
        cause = cause.getCause();
      }
      return text.toString();
    }

    private void count(Result result) {
      counts.get(result).incrementAndGet();
    }

    private boolean look(Pool present) throws IOException {
      Optional<byte[]> read = ask(() -> store.read(key));
      byte[] now = digest(read);
      boolean changed = !MessageDigest.isEqual(now, digest);
      if (changed) {
        unread = false;
        shared = read.map(this::decoded).orElse(NOTHING);
        digest = now;
        take(present);
      }
      long before = served;
      served = present.plansServed();
      unpublished |= changed || served != before;
      return (unpublished && !unread && publish(present, read)) || changed;
    }

    /** Nothing if that is no plan, or cannot be read with this heap. */
    private KeptPlan decoded(byte[] text) {
      try {
        if (text.length > PlanStore.MAX_BYTES) {
          refused("more than " + PlanStore.MAX_BYTES + " bytes");
          return NOTHING;
        }
        long heapBytes = (long) text.length * HEAP_PER_BYTE;
        long most = Runtime.getRuntime().maxMemory();
        if (heapBytes > most) {
          unread = true;
          refused("to read it takes " + heapBytes + " bytes of heap; the most is " + most);
          return NOTHING;
        }
        return KeptPlan.decode(text);
      } catch (PlanFormatException e) {
        refused(e.getMessage());
        return NOTHING;
      } catch (OutOfMemoryError e) {
        unread = true;
        refused(e.toString());
        return NOTHING;
      }
    }

    private void refused(String reason) {
      count(Result.REFUSED);
      LOGGER.log(Level.WARNING, "the plan " + key + " of " + store + " is refused: " + reason);
    }

    private void take(Pool present) {
      try {
        if (!shared.isEmpty() && present.take(shared)) {
          count(Result.TAKEN);
          LOGGER.log(Level.INFO, "serving from the plan {0} of {1}", key, store);
        }
      } catch (OutOfNativeMemoryException | IllegalStateException | OutOfMemoryError e) {
        refused(e.toString());
      }
    }

    /** Whether what is shared is another plan now. */
    private boolean publish(Pool present, Optional<byte[]> read) throws IOException {
      KeptPlan merged = PlanMerge.merge(shared, present.plan());
      byte[] text = merged.equals(shared) ? new byte[0] : merged.encode();
      if (text.length == 0 || isTooLarge(text)) {
        unpublished = false;
        return false;
      }
      // A replica that does not succeed tries again.
      if (!ask(() -> store.replace(key, read, text))) {
        LOGGER.log(Level.DEBUG, "the plan {0} could not be published to {1} now", key, store);
        return false;
      }
      unpublished = false;
      shared = merged;
      digest = digest(Optional.of(text));
      count(Result.PUBLISHED);
      LOGGER.log(Level.INFO, "published the plan {0} to {1}, {2} bytes", key, store, text.length);
      return true;
    }

    private boolean isTooLarge(byte[] text) {
      boolean isTooLarge = text.length > PlanStore.MAX_BYTES;
      if (isTooLarge) {
        LOGGER.log(
            Level.WARNING,
            "the plan "
                + key
                + " is not published: it has "
                + text.length
                + " bytes, the most is "
                + PlanStore.MAX_BYTES);
      }
      return isTooLarge;
    }

    private interface Question<T> {
      T ask() throws IOException;
    }

    /** Asks the store; the only time in which the thread may be interrupted. */
    private <T> T ask(Question<T> question) throws IOException {
      synchronized (this) {
        if (stopped) {
          throw new IOException("the pool is closed");
        }
        asking = true;
      }
      try {
        return question.ask();
      } finally {
        synchronized (this) {
          asking = false;
        }
        // An interrupt that came too late has no effect.
        Thread.interrupted();
      }
    }

    private static byte[] digest(Optional<byte[]> bytes) {
      try {
        byte[] some = bytes.orElse(new byte[0]);
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(some);
        return ByteBuffer.allocate(hash.length + 1)
            .put((byte) (bytes.isPresent() ? 1 : 0))
            .put(hash)
            .array();
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JVM has SHA-256", e);
      }
    }
  }

  /** Held here, for the thread holds it weakly. */
  @SuppressWarnings("UnusedVariable")
  private final Pool pool;

  private final Looker looker;
  private final Thread thread;

  /**
   * Threading: any thread.
   *
   * @param key of the plan in the store
   * @param pool held as long as this is, and weakly by the thread
   */
  public PlanSharing(PlanStore store, String key, Pool pool, Pace pace) {
    this.pool = pool;
    this.looker = new Looker(store, key, pool, pace);
    this.thread = new Thread(looker, "prmalloc-plan-store");
    thread.setDaemon(true);
  }

  /** Begins to look. */
  public void start() {
    thread.start();
  }

  /**
   * Returns when the first look has ended, or when it takes too long, or when the calling thread is
   * interrupted, which stays so.
   */
  public void awaitFirstLook() {
    try {
      if (!looker.looked.await(looker.pace.firstLook().toNanos(), TimeUnit.NANOSECONDS)) {
        LOGGER.log(Level.INFO, "the plan store {0} is slow, going on without", looker.store);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends it. Takes no heap. */
  public void stop() {
    looker.stop(thread);
  }

  /** Returns when the thread has ended, or hangs in its store. After {@link #stop}. */
  public void join() {
    try {
      if (thread != Thread.currentThread()) {
        thread.join(MAX_JOIN_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The counts of outcomes so far, by a word in lower case.
   *
   * @param sharing null for nothing
   */
  public static SortedMap<String, Long> counts(PlanSharing sharing) {
    SortedMap<String, Long> counts = new TreeMap<>();
    for (Result result : Result.values()) {
      long count = sharing == null ? 0 : sharing.looker.counts.get(result).get();
      counts.put(result.name().toLowerCase(Locale.ROOT), count);
    }
    return counts;
  }
}
