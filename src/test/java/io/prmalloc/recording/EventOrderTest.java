package io.prmalloc.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventOrderTest {

  @TempDir private Path directory;

  private final EventRing ring = new EventRing(64);
  private final ReleaseLanes lanes = new ReleaseLanes(64);
  private FrameWriter writer;
  private EventOrder order;

  @BeforeEach
  void open() throws IOException {
    writer = FrameWriter.create(file(), 1 << 20);
    order = new EventOrder(ring, lanes, writer);
  }

  @AfterEach
  void close() throws IOException {
    writer.close();
  }

  private Path file() {
    return directory.resolve("recording");
  }

  private long allocate(long bytes) {
    return ring.publish(ring.claim(), 0, bytes);
  }

  private boolean release(long id, long position) {
    lanes.own();
    return lanes.add(id, position);
  }

  private List<String> written() throws IOException {
    assertTrue(order.drain());
    assertTrue(writer.flush());
    return Recordings.events(file());
  }

  @Test
  void shouldWriteReleasesWhereTheyBelongWhenTheyComeOnALane() throws IOException {
    long first = allocate(10);
    long second = allocate(20);
    assertTrue(release(second, ring.next()));
    long third = allocate(30);
    assertTrue(release(first, ring.next()));
    assertTrue(release(third, ring.next()));

    assertEquals(
        List.of("a 0 10 1 -1", "a 1 20 1 -1", "f 1 -1", "a 3 30 1 -1", "f 0 -1", "f 3 -1"),
        written());
  }

  @Test
  void shouldWriteAReleaseAtOnceWhenItComesLate() throws IOException {
    long first = allocate(10);
    long position = ring.next();
    allocate(20);
    assertEquals(2, written().size());
    assertTrue(release(first, position));
    allocate(30);

    assertEquals(List.of("a 0 10 1 -1", "a 1 20 1 -1", "f 0 -1", "a 3 30 1 -1"), written());
  }

  @Test
  void shouldKeepAReleaseBackWhenATickBeforeItIsNotThereYet() throws IOException {
    long first = allocate(10);
    long slow = ring.claim();
    assertTrue(release(first, ring.next()));
    assertEquals(List.of("a 0 10 1 -1"), written());
    ring.publish(slow, 0, 20);

    assertEquals(List.of("a 0 10 1 -1", "a 1 20 1 -1", "f 0 -1"), written());
  }

  @Test
  void shouldTakeTurnsWhenTwoLanesHaveReleases() throws Exception {
    long[] ids = {allocate(10), allocate(20), allocate(30), allocate(40)};
    assertTrue(release(ids[0], 4));
    Thread other;
    do {
      other =
          new Thread(
              () -> {
                release(ids[1], ring.next());
                allocate(50);
                release(ids[2], ring.next());
              });
      // Of lanes there are eight or a multiple of it.
    } while ((other.getId() - Thread.currentThread().getId()) % 8 == 0);
    other.start();
    other.join();
    assertTrue(release(ids[3], ring.next()));

    List<String> events = written();
    assertEquals(9, events.size());
    assertTrue(events.subList(4, 6).containsAll(List.of("f 0 -1", "f 1 -1")), "" + events);
    assertEquals("a 6 50 1 -1", events.get(6));
    assertTrue(events.subList(7, 9).containsAll(List.of("f 2 -1", "f 3 -1")), "" + events);
  }

  @Test
  void shouldLeaveToTheRingWhatALaneCannotHold() {
    assertFalse(lanes.add(0, 1), "a lane that nobody owns");
    assertFalse(release(0, ReleaseLane.TOO_OLD), "too old");
    assertFalse(release((1L << 47) - 1, 1L << 47), "too late");
    assertTrue(release(0, ReleaseLane.TOO_OLD - 1));
    int added = 1;
    while (release(0, 1)) {
      added++;
    }
    assertTrue(added <= 64, added + " on one lane");
    assertEquals(added, lanes.added());
  }
}
