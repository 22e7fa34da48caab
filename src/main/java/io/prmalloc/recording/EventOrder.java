package io.prmalloc.recording;

import java.io.IOException;
import java.util.Arrays;
import org.agrona.collections.Long2LongHashMap;

/**
 * Merges the events of all lanes into one order, and writes them to the file.
 *
 * <p>Threading: one thread at a time.
 */
final class EventOrder {

  // A release in the file says how many events ago its allocation was, for which the numbers of
  // allocations that are allocated must be known: by id, those of the last ones in a table where
  // each has
  // its slot, and the few that live longer in a map.

  /**
   * So many stamps are written between two looks at the lanes at most; where there are as many, as
   * many events at least.
   */
  static final int BATCH = 4096;

  private static final int RECENT = 1 << 16;
  private static final long NONE = -1;

  private final EventLanes lanes;
  private final FrameWriter writer;

  /** By slot: which allocation is out, and its number in the file. */
  private final long[] recentIds = new long[RECENT];

  private final long[] recentNumbers = new long[RECENT];
  private final Long2LongHashMap older = new Long2LongHashMap(NONE);

  EventOrder(EventLanes lanes, FrameWriter writer) {
    this.lanes = lanes;
    this.writer = writer;
    Arrays.fill(recentIds, NONE);
  }

  /**
   * Hands over what is there, up to a batch.
   *
   * @return false if the file is full
   * @throws IOException if it cannot be written
   * @throws IllegalStateException if something was released that is not out
   */
  boolean drain() throws IOException {
    long last = lanes.look(BATCH);
    boolean room = true;
    for (EventLane lane = lanes.first(last); lane != null && room; lane = lanes.first(last)) {
      do {
        room = write(lane);
      } while (room && lane.firstStamp() < lanes.rival());
    }
    lanes.free();
    return room;
  }

  /** Whether the last {@link #drain} left nothing of what it found. */
  boolean isDrained() {
    return lanes.areTaken();
  }

  private boolean write(EventLane lane) throws IOException {
    int what = lane.what();
    int kind = what & RecordingFormat.KIND_MASK;
    long value = lane.value();
    long number = writer.events();
    if (kind == EventKind.ALLOCATE.number) {
      remember(lane.id(), number);
    } else if (kind == EventKind.RELEASE.number) {
      value = number - forget(value);
    }
    long thread = lane.threadId();
    lane.take();
    return writer.add(what, thread, value);
  }

  private static int slotOf(long id) {
    // Lanes begin at different places, or all would use the first slots first.
    int lane = (int) id << (Integer.SIZE - EventLane.NUMBER_BITS) >>> Short.SIZE;
    return (int) (id >>> EventLane.NUMBER_BITS) + lane & (RECENT - 1);
  }

  private void remember(long id, long number) {
    int slot = slotOf(id);
    if (recentIds[slot] != NONE) {
      older.put(recentIds[slot], recentNumbers[slot]);
    }
    recentIds[slot] = id;
    recentNumbers[slot] = number;
  }

  private long forget(long id) {
    int slot = slotOf(id);
    if (recentIds[slot] == id) {
      recentIds[slot] = NONE;
      return recentNumbers[slot];
    }
    long number = older.remove(id);
    if (number == NONE) {
      throw new IllegalStateException("allocation " + id + " was released, but is not out");
    }
    return number;
  }
}
