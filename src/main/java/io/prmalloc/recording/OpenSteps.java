package io.prmalloc.recording;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Tracks which steps are open at a place in a recording, and the step to which an event of a thread
 * belongs.
 *
 * <p>Threading: one thread at a time.
 */
final class OpenSteps {

  // Ordered by the tick at which a step was opened, so that the newest is found at once however
  // many are open: a file may say what it likes.

  private record Open(long thread, long tick) {}

  private final Map<Long, Open> byStep = new HashMap<>();
  private final TreeMap<Long, Long> byTick = new TreeMap<>();
  private final Map<Long, TreeMap<Long, Long>> byThread = new HashMap<>();

  /** False, and nothing has changed, if it is open already. */
  boolean open(long step, long thread, long tick) {
    if (byStep.putIfAbsent(step, new Open(thread, tick)) != null) {
      return false;
    }
    byTick.put(tick, step);
    byThread.computeIfAbsent(thread, any -> new TreeMap<>()).put(tick, step);
    return true;
  }

  /** Does nothing if it is not open, as one is not that was opened before the recording began. */
  void close(long step) {
    Open open = byStep.remove(step);
    if (open != null) {
      byTick.remove(open.tick);
      TreeMap<Long, Long> own = byThread.get(open.thread);
      own.remove(open.tick);
      if (own.isEmpty()) {
        byThread.remove(open.thread);
      }
    }
  }

  /** The thread's innermost, else the one opened last, else −1. */
  long stepOf(long thread) {
    TreeMap<Long, Long> own = byThread.get(thread);
    TreeMap<Long, Long> from = own != null ? own : byTick;
    return from.isEmpty() ? -1 : from.lastEntry().getValue();
  }
}
