package io.prmalloc.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventOrderTest {

  private static final int ALLOCATE = EventKind.ALLOCATE.number;
  private static final int RELEASE = EventKind.RELEASE.number;
  private static final int CAPACITY = 1024;

  @TempDir private Path directory;

  private final EventLanes lanes = new EventLanes(CAPACITY);
  private FrameWriter writer;
  private EventOrder order;

  @BeforeEach
  void open() throws IOException {
    writer = FrameWriter.create(file(), 1 << 24);
    order = new EventOrder(lanes, writer);
  }

  @AfterEach
  void close() throws IOException {
    writer.close();
  }

  private Path file() {
    return directory.resolve("recording");
  }

  private long allocate(long bytes) {
    return lanes.addAnywhere(ALLOCATE, bytes);
  }

  private void release(long id) {
    assertTrue(lanes.addAnywhere(RELEASE, id) >= 0);
  }

  private List<String> written() throws IOException {
    assertTrue(order.drain());
    assertTrue(writer.flush());
    return Recordings.events(file());
  }

  /** Runs something in a thread whose number has these low bits, as far as lanes look at them. */
  private static void inThread(long bits, Runnable task) throws InterruptedException {
    Thread thread;
    do {
      thread = new Thread(task);
    } while ((thread.getId() - bits) % 8 != 0);
    thread.start();
    thread.join();
  }

  private static long ownBits() {
    return Thread.currentThread().getId();
  }

  @Test
  void shouldWriteWhatOneThreadDidInItsOrder() throws IOException {
    long first = allocate(10);
    long second = allocate(20);
    release(second);
    long third = allocate(30);
    release(first);
    release(third);

    assertEquals(
        List.of("a 0 10 1 -1", "a 1 20 1 -1", "f 1 -1", "a 3 30 1 -1", "f 0 -1", "f 3 -1"),
        written());
    assertTrue(order.isDrained());
    assertEquals(6, lanes.events());
  }

  @Test
  void shouldWriteWhatHappenedBeforeFirstWhenThreadsTakeTurns() throws Exception {
    long[] ids = {allocate(10), allocate(20), 0, 0};
    inThread(
        ownBits() + 1,
        () -> {
          release(ids[0]);
          ids[2] = allocate(30);
        });
    inThread(
        ownBits(), // the lane of this thread's number is taken, so it gets another
        () -> {
          release(ids[2]);
          ids[3] = allocate(40);
        });
    release(ids[1]);
    release(ids[3]);

    assertEquals(
        List.of(
            "a 0 10 1 -1",
            "a 1 20 1 -1",
            "f 0 -1",
            "a 3 30 1 -1",
            "f 3 -1",
            "a 5 40 1 -1",
            "f 1 -1",
            "f 5 -1"),
        written());
  }

  @Test
  void shouldNeverWriteWhatHappenedBeforeLastWhenItLooksAllTheTime() throws Exception {
    int count = 100_000;
    Handover there = new Handover(count);
    Handover back = new Handover(count);
    Thread one = new Thread(() -> exchange(there, back));
    Thread other = new Thread(() -> exchange(back, there));
    one.start();
    other.start();
    try {
      // Finds a release without its allocation if ever it looks for the first and not the second.
      while (writer.events() < 4L * count) {
        assertTrue(order.drain());
      }
    } finally {
      lanes.seal();
      one.join();
      other.join();
    }
  }

  /** What one thread took for the other to release. */
  private static final class Handover {
    private final long[] ids;
    private final AtomicInteger length = new AtomicInteger();

    private Handover(int count) {
      ids = new long[count];
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // waits for the other thread
  private void exchange(Handover mine, Handover others) {
    int released = 0;
    while (released < others.ids.length) {
      int taken = mine.length.get();
      if (taken < mine.ids.length) {
        mine.ids[taken] = addPatiently(ALLOCATE, taken);
        mine.length.set(taken + 1);
      }
      if (released < others.length.get()) {
        addPatiently(RELEASE, others.ids[released++]);
      } else {
        Thread.yield();
      }
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // waits for room
  private long addPatiently(int what, long value) {
    long id = lanes.addAnywhere(what, value);
    while (id < 0 && !lanes.isSealed()) {
      Thread.yield();
      id = lanes.addAnywhere(what, value);
    }
    return id;
  }

  @Test
  void shouldWriteWhatIsFoundLateAfterWhatIsThere() throws IOException {
    Thread caller = Thread.currentThread();
    EventLane quick = new EventLane(0, CAPACITY);
    EventLane slow = new EventLane(1, CAPACITY);
    assertTrue(quick.own(caller) && slow.own(caller));
    slow.putBefore(quick);
    long first = quick.add(caller, ALLOCATE, 10, slow);
    quick.add(caller, ALLOCATE, 20, slow);
    assertFalse(quick.look(0) && slow.look(0), "nothing is there that may be of stamp 0");
    assertEquals(1, quick.firstStamp());
    quick.take();
    assertEquals(2, quick.firstStamp());

    // As of a thread that read the stamps when there was nothing.
    slow.add(caller, RELEASE, first, null);
    assertTrue(slow.look(2), "there may be more up to 2");
    assertEquals(1, slow.firstStamp());
    assertFalse(slow.look(2), "nothing new");
    slow.add(caller, ALLOCATE, 30, slow);
    assertTrue(slow.look(2), "the stamp may be 2 for all that is known");
    slow.take();
    assertEquals(3, slow.firstStamp());
    slow.add(caller, ALLOCATE, 40, slow);
    assertFalse(slow.look(2), "it is over 2");
  }

  @Test
  void shouldRefuseWhenALaneIsFullAndGoOnWhenThereIsRoom() throws IOException {
    int added = 0;
    while (allocate(added) >= 0) {
      added++;
    }
    assertTrue(added > CAPACITY / 2 && added <= CAPACITY, added + " on one lane");
    assertEquals(added, lanes.events());
    assertEquals(added, written().size());

    assertTrue(allocate(1) >= 0);
    assertEquals(added + 1, written().size());
  }

  @Test
  void shouldGiveALaneToTheNextThreadWhenItsOwnIsDead() throws Exception {
    inThread(ownBits(), () -> allocate(10));
    assertEquals(EventLane.NOT_ADDED, lanes.add(ALLOCATE, 20));
    written();
    assertTrue(allocate(20) >= 0);
    assertTrue(lanes.add(ALLOCATE, 30) >= 0, "its own now");

    assertEquals(List.of("a 0 10 1 -1", "a 1 20 1 -1", "a 2 30 1 -1"), written());
  }

  @Test
  void shouldTakeNothingMoreWhenSealed() throws IOException {
    allocate(10);
    lanes.seal();

    assertEquals(EventLane.NOT_ADDED, allocate(20));
    assertEquals(EventLane.NOT_ADDED, lanes.add(ALLOCATE, 20));
    assertEquals(List.of("a 0 10 1 -1"), written());
  }

  @Test
  void shouldSayWhichAllocationIsNotOut() {
    long id = allocate(10);
    release(id);
    release(id);

    IllegalStateException refused = assertThrows(IllegalStateException.class, order::drain);
    assertEquals("allocation " + id + " was released, but is not out", refused.getMessage());
  }
}
