package io.prmalloc.internal.observe;

import io.prmalloc.internal.block.PoolObserver;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.pool.Leak;
import io.prmalloc.pool.Leak.Reason;
import io.prmalloc.pool.LeakDetection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Watches a sample of a pool's allocations, and reports those that are not given back for too long.
 *
 * <p>Threading: any thread.
 */
final class LeakDetector implements PoolObserver {

  // Which allocations are watched is counted by stripe of threads, so that threads whose
  // allocations are not watched share no counter. Watched allocations are in a map in the order of
  // their allocation, under a lock; a ticket is its number there, 0 if it is not watched.
  //
  // When a step ends, memory that it left is checked again after so many further steps have ended:
  // such steps wait in a queue, which the ends of steps advance. Age is checked then too, from the
  // oldest on, and on request. There is no thread of its own: an unused pool leaks nothing.
  //
  // No leak is reported twice, and the listener is not called under the lock.

  static final String LOGGER_NAME = "io.prmalloc.leak";

  private static final Logger LOGGER = System.getLogger(LOGGER_NAME);
  private static final Set<String> OWN_PACKAGES =
      Set.of("io.prmalloc", "io.prmalloc.pool", "io.prmalloc.lifetime");
  private static final String INTERNAL_PACKAGES = "io.prmalloc.internal.";
  private static final long NO_STEP = -1;

  /** Two cache lines for each counter. */
  private static final int COUNTER_SHIFT = 4;

  /** An allocation that is watched. The throwable is its stack, which is not walked yet. */
  private record Watched(
      long bytes, long alignment, String thread, long step, long nanos, Throwable stack) {}

  /** A step that has ended, and how many will have when it is looked at. */
  private record Ended(long step, long due) {}

  private final LeakDetection settings;
  private final Consumer<Leak> listener;
  private final Stripes stripes = Stripes.many();
  private final int[] counters = new int[stripes.count() << COUNTER_SHIFT];
  private final AtomicLong reported = new AtomicLong();

  // Under the lock, which is this object's.
  private final Map<Long, Watched> out = new LinkedHashMap<>();
  private final Map<Long, Set<Long>> outByStep = new HashMap<>();
  private final Map<Thread, ArrayDeque<Long>> open = new HashMap<>();
  private final Map<Long, Thread> openers = new HashMap<>();
  private final ArrayDeque<Ended> ended = new ArrayDeque<>();
  private long lastTicket;
  private long lastStep = NO_STEP;
  private long endedSteps;

  /**
   * @param settings not off
   * @param listener told of every leak, beside log and flight recorder; must not throw
   */
  LeakDetector(LeakDetection settings, Consumer<Leak> listener) {
    this.settings = settings;
    this.listener = listener;
  }

  /** How many leaks were reported. */
  long reported() {
    return reported.get();
  }

  @Override
  public long allocated(long bytes, long alignment) {
    int at = stripes.current() << COUNTER_SHIFT;
    int count = counters[at] + 1;
    if (count < settings.interval()) {
      counters[at] = count;
      return 0;
    }
    counters[at] = 0;
    return watch(bytes, alignment);
  }

  private long watch(long bytes, long alignment) {
    Throwable stack = new Throwable();
    Thread thread = Thread.currentThread();
    synchronized (this) {
      ArrayDeque<Long> own = open.get(thread);
      long step = own == null ? NO_STEP : own.getLast();
      long ticket = ++lastTicket;
      Watched watched =
          new Watched(bytes, alignment, thread.getName(), step, System.nanoTime(), stack);
      try {
        out.put(ticket, watched);
        if (step != NO_STEP) {
          outByStep.computeIfAbsent(step, any -> new LinkedHashSet<>()).add(ticket);
        }
        return ticket;
      } catch (Throwable e) {
        // Its release would not be reported.
        out.remove(ticket);
        throw e;
      }
    }
  }

  @Override
  public void released(long ticket) {
    if (ticket != 0) {
      synchronized (this) {
        Watched watched = out.remove(ticket);
        if (watched != null) {
          leaveStep(watched, ticket);
        }
      }
    }
  }

  private void leaveStep(Watched watched, long ticket) {
    Set<Long> others = outByStep.get(watched.step);
    if (others != null) {
      others.remove(ticket);
      if (others.isEmpty()) {
        outByStep.remove(watched.step);
      }
    }
  }

  @Override
  public synchronized long stepOpened() {
    Thread thread = Thread.currentThread();
    long step = ++lastStep;
    try {
      openers.put(step, thread);
      open.computeIfAbsent(thread, any -> new ArrayDeque<>(2)).add(step);
      return step;
    } catch (Throwable e) {
      forgetOpen(step);
      throw e;
    }
  }

  private void forgetOpen(long step) {
    Thread thread = openers.remove(step);
    ArrayDeque<Long> own = open.get(thread);
    if (own != null) {
      own.removeLastOccurrence(step);
      if (own.isEmpty()) {
        open.remove(thread);
      }
    }
  }

  @Override
  public void stepClosed(long step) {
    List<Leak> leaks;
    synchronized (this) {
      forgetOpen(step);
      endedSteps++;
      ended.add(new Ended(step, endedSteps + settings.steps()));
      leaks = findDue();
    }
    report(leaks);
  }

  private List<Leak> findDue() {
    List<Leak> leaks = new ArrayList<>(0);
    while (!ended.isEmpty() && ended.peek().due <= endedSteps) {
      Set<Long> left = outByStep.remove(ended.poll().step);
      if (left != null) {
        left.forEach(ticket -> addIfOut(leaks, ticket));
      }
    }
    findOld(leaks);
    return leaks;
  }

  private void addIfOut(List<Leak> leaks, long ticket) {
    Watched watched = out.remove(ticket);
    if (watched != null) {
      leaks.add(leak(watched, Reason.STEP_ENDED));
    }
  }

  private void findOld(List<Leak> leaks) {
    if (settings.age() == null) {
      return;
    }
    long most = settings.age().toNanos();
    long now = System.nanoTime();
    var oldest = out.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<Long, Watched> next = oldest.next();
      Watched watched = next.getValue();
      if (now - watched.nanos < most) {
        return;
      }
      leaveStep(watched, next.getKey());
      oldest.remove();
      leaks.add(leak(watched, Reason.OLD));
    }
  }

  /** Reports what is too old. */
  void check() {
    List<Leak> leaks = new ArrayList<>(0);
    synchronized (this) {
      findOld(leaks);
    }
    report(leaks);
  }

  @Override
  public void stillInUse() {
    List<Leak> leaks = new ArrayList<>();
    synchronized (this) {
      out.values().forEach(watched -> leaks.add(leak(watched, Reason.POOL_CLOSED)));
      out.clear();
      outByStep.clear();
    }
    report(leaks);
  }

  private static Leak leak(Watched watched, Reason reason) {
    List<StackTraceElement> callers =
        Arrays.stream(watched.stack.getStackTrace())
            .dropWhile(place -> isOwn(packageOf(place.getClassName())))
            .toList();
    return new Leak(
        watched.bytes,
        watched.alignment,
        watched.thread,
        watched.step,
        Duration.ofNanos(System.nanoTime() - watched.nanos),
        reason,
        callers);
  }

  private static boolean isOwn(String packageName) {
    return OWN_PACKAGES.contains(packageName) || packageName.startsWith(INTERNAL_PACKAGES);
  }

  private static String packageOf(String className) {
    int end = className.lastIndexOf('.');
    return end < 0 ? "" : className.substring(0, end);
  }

  private void report(List<Leak> leaks) {
    for (Leak leak : leaks) {
      reported.incrementAndGet();
      try {
        LOGGER.log(Level.WARNING, leak.describe());
        recordFlight(leak);
      } catch (Throwable e) {
        SafeLog.log(LOGGER, Level.DEBUG, "a leak could not be told", e);
      }
      try {
        listener.accept(leak);
      } catch (Throwable e) {
        // The other listeners are told nevertheless.
        SafeLog.log(LOGGER, Level.WARNING, "the listener of leaks failed", e);
      }
    }
  }

  private static void recordFlight(Leak leak) {
    FlightEvents.leakFound(
        leak.sizeBytes(),
        leak.alignment(),
        leak.thread(),
        leak.step(),
        leak.age().toNanos(),
        leak.reason().name(),
        leak.stack());
  }
}
