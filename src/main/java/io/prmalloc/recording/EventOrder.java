package io.prmalloc.recording;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Puts what comes through the ring and through the lanes into one order, and hands it to the file.
 *
 * <p>Threading: one thread at a time.
 */
final class EventOrder {

  // Events of the ring have ticks; releases of the lanes come between them (see ReleaseLanes). So
  // an event's number in the file is its tick and the number of lanes' releases before it. A
  // release in the file says how many events ago its allocation was, for which the numbers of
  // allocations that are out must be known: those of the last ticks in a table, one slot for each,
  // and the few that live longer in a map.

  /** At most so many ticks are written between two looks at the lanes. */
  private static final int MOST_TICKS = 4096;

  private static final int RECENT_TICKS = 1 << 16;
  private static final long NOTHING_OUT = -1;

  private final EventRing ring;
  private final ReleaseLanes lanes;
  private final FrameWriter writer;
  private final int batch;

  /** By tick, the number in the file of an allocation that is out. */
  private final long[] recent = new long[RECENT_TICKS];

  private final Map<Long, Long> older = new HashMap<>();

  /** The next tick to be written. */
  private long tick;

  EventOrder(EventRing ring, ReleaseLanes lanes, FrameWriter writer) {
    this.ring = ring;
    this.lanes = lanes;
    this.writer = writer;
    this.batch = Math.max(1, Math.min(MOST_TICKS, ring.capacity() / 4));
    Arrays.fill(recent, NOTHING_OUT);
  }

  /** The tick that is waited for: all below are written. */
  long tick() {
    return tick;
  }

  /** As many events as this, and {@link #drain} has left some. */
  int batch() {
    return batch;
  }

  /**
   * Hands over what is there, up to a batch of ticks.
   *
   * @return false if the file is full
   * @throws IOException if it cannot be written
   * @throws IllegalStateException if something was released that is not out
   */
  boolean drain() throws IOException {
    // First the ticks, then the lanes: see ReleaseLanes.
    long end = tick;
    while (end < tick + batch && ring.isPublished(end)) {
      end++;
    }
    lanes.look(end);
    boolean room = writeReleases(end) && writeTicks(end);
    ring.free(tick);
    lanes.free();
    return room;
  }

  /** All that belong before this tick, and ticks as far as they come before those. */
  private boolean writeReleases(long end) throws IOException {
    boolean room = true;
    for (ReleaseLane lane = lanes.first(end); lane != null && room; lane = lanes.first(end)) {
      do {
        room =
            writeTicks(lane.position())
                && write(EventKind.RELEASE.number, lane.threadId(), lane.id());
        lane.take();
      } while (room && lane.position() < lanes.rival());
    }
    return room;
  }

  private boolean writeTicks(long end) throws IOException {
    boolean room = true;
    while (tick < end && room) {
      int what = ring.what(tick);
      long number = writer.events();
      room = write(what, ring.thread(tick), ring.value(tick));
      boolean out = (what & RecordingFormat.KIND_MASK) == EventKind.ALLOCATE.number;
      remember(out ? number : NOTHING_OUT);
      tick++;
    }
    return room;
  }

  private boolean write(int what, long thread, long value) throws IOException {
    boolean release = (what & RecordingFormat.KIND_MASK) == EventKind.RELEASE.number;
    return writer.add(what, thread, release ? writer.events() - forget(value) : value);
  }

  private void remember(long number) {
    int slot = (int) tick & (RECENT_TICKS - 1);
    if (recent[slot] != NOTHING_OUT) {
      older.put(tick - RECENT_TICKS, recent[slot]);
    }
    recent[slot] = number;
  }

  private long forget(long id) {
    long number;
    if (tick - id <= RECENT_TICKS) {
      int slot = (int) id & (RECENT_TICKS - 1);
      number = recent[slot];
      recent[slot] = NOTHING_OUT;
    } else {
      Long old = older.remove(id);
      number = old == null ? NOTHING_OUT : old;
    }
    if (number == NOTHING_OUT) {
      throw new IllegalStateException("allocation " + id + " was released, but is not out");
    }
    return number;
  }
}
