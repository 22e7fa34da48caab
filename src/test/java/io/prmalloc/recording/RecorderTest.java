package io.prmalloc.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.pool.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecorderTest {

  private static final RecordingOptions PATIENT =
      RecordingOptions.DEFAULT.withLongestWait(Duration.ofDays(1));

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("recording");
  }

  private Recorder start(RecordingOptions options) {
    return Recorder.start(file(), options, () -> {});
  }

  @Test
  void shouldGiveBackEveryEventWhenRead() {
    try (Recorder recorder = start(RecordingOptions.DEFAULT)) {
      long outside = recorder.allocated(0, 1);
      long outer = recorder.stepOpened();
      long large = recorder.allocated(Integer.MAX_VALUE, 1 << 30);
      long inner = recorder.stepOpened();
      recorder.released(large);
      recorder.stepClosed(inner);
      recorder.released(outside);
      recorder.stepClosed(outer);
      recorder.released(-1);
      assertEquals(8, recorder.events());
      assertEquals(Optional.empty(), recorder.end());
    }

    assertEquals(
        List.of(
            "a 0 0 1 -1",
            "( 0",
            "a 2 2147483647 1073741824 0",
            "( 1",
            "f 2 1",
            ") 1",
            "f 0 0",
            ") 0"),
        Recordings.events(file()));
    assertEquals("CLOSED", Recordings.end(file()));
  }

  @Test
  void shouldRecordTheLargestSizeAndRefuseALargerOne() {
    try (Recorder recorder = start(RecordingOptions.DEFAULT)) {
      recorder.allocated(Recorder.MAX_BYTES, 1 << 30);
      for (long bytes : new long[] {-1, Recorder.MAX_BYTES + 1, Long.MIN_VALUE}) {
        String message =
            assertThrows(IllegalArgumentException.class, () -> recorder.allocated(bytes, 64))
                .getMessage();
        assertEquals("bytes " + bytes + " is not from 0 to " + Recorder.MAX_BYTES, message);
      }
    }

    assertEquals(
        List.of("a 0 " + Recorder.MAX_BYTES + " " + (1 << 30) + " -1"), Recordings.events(file()));
  }

  @Test
  void shouldSayWhatItDidWhenClosed() throws IOException {
    CountDownLatch over = new CountDownLatch(1);
    Recorder recorder = Recorder.start(file(), RecordingOptions.DEFAULT, over::countDown);
    recorder.allocated(1, 64);
    recorder.close();
    recorder.close();

    assertEquals(0, over.getCount());
    assertTrue(recorder.allocated(2, 64) < 0);
    assertEquals(Optional.of(RecordingEnd.CLOSED), recorder.end());
    assertEquals(1, recorder.events());
    assertEquals(1, recorder.unrecordedEvents());
    assertEquals(Files.size(file()), recorder.bytesWritten());
    assertEquals(file(), recorder.file());
  }

  @Test
  void shouldCloseAndTellAgainWhenItsEndCannotBeTold() throws InterruptedException {
    AtomicInteger tries = new AtomicInteger();
    Recorder recorder =
        Recorder.start(
            file(),
            RecordingOptions.DEFAULT,
            () -> {
              if (tries.incrementAndGet() == 1) {
                throw new OutOfMemoryError("of the test");
              }
            });
    Thread writer =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("prmalloc-recorder"))
            .findFirst()
            .orElseThrow();
    writer.setUncaughtExceptionHandler((dead, thrown) -> {});
    Thread closer = new Thread(recorder::close);
    closer.setDaemon(true);
    closer.start();
    writer.join();
    // Who still waits by now waits for ever.
    Threads.awaitWaiting(closer);
    assertFalse(closer.isAlive(), "the close waits for a thread that is gone");
    assertEquals(2, tries.get());
    assertEquals("CLOSED", Recordings.end(file()));
  }

  @Test
  void shouldRefuseWhenTheFileIsThere() throws IOException {
    Files.writeString(file(), "somebody's");

    UncheckedIOException refused =
        assertThrows(UncheckedIOException.class, () -> start(RecordingOptions.DEFAULT));

    assertTrue(refused.getCause() instanceof FileAlreadyExistsException, "" + refused);
    assertEquals("somebody's", Files.readString(file()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 64, 1 << 16})
  void shouldKeepTheOrderOfAllThreadsWhenTheyRecordTogether(int buffered) throws Exception {
    // More than there are lanes, so that some are shared.
    int threads = 12;
    int pairs = Math.min(10_000, 100 * buffered);
    Queue<Long> handedOver = new ConcurrentLinkedQueue<>();
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try (Recorder recorder = start(PATIENT.withBufferedEvents(buffered))) {
      for (int i = 0; i < threads; i++) {
        handedOver.add(recorder.allocated(i, 64));
      }
      List<Future<?>> done = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int seed = thread;
        done.add(
            executor.submit(() -> churn(recorder, new SplittableRandom(seed), pairs, handedOver)));
      }
      for (Future<?> each : done) {
        each.get();
      }
      handedOver.forEach(recorder::released);
    } finally {
      executor.shutdown();
    }

    assertEquals(2 * threads * (pairs + 1), Recordings.events(file()).size());
    assertEquals("CLOSED", Recordings.end(file()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 64, 1 << 16})
  @SuppressWarnings("ThreadPriorityCheck") // waits for its turn
  void shouldWriteWhatHappenedBeforeFirstWhenThreadsTakeTurns(int buffered) throws Exception {
    int threads = 10;
    int turns = Math.min(1_500, 100 * buffered);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    AtomicInteger turn = new AtomicInteger();
    try (Recorder recorder = start(PATIENT.withBufferedEvents(buffered))) {
      // Each takes something, and releases what the one before it took.
      long[] ids = new long[turns + 1];
      ids[0] = recorder.allocated(0, 64);
      List<Future<?>> done = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int first = thread;
        done.add(
            executor.submit(
                () -> {
                  for (int mine = first; mine < turns; mine += threads) {
                    while (turn.get() != mine) {
                      Thread.yield();
                    }
                    ids[mine + 1] = recorder.allocated(mine + 1, 64);
                    recorder.released(ids[mine]);
                    turn.set(mine + 1);
                  }
                }));
      }
      for (Future<?> each : done) {
        each.get();
      }
    } finally {
      executor.shutdown();
    }

    List<String> expected = new ArrayList<>(List.of("a 0 0 64 -1"));
    for (int mine = 0; mine < turns; mine++) {
      expected.add("a " + (2 * mine + 1) + " " + (mine + 1) + " 64 -1");
      expected.add("f " + Math.max(0, 2 * mine - 1) + " -1");
    }
    assertEquals(expected, Recordings.events(file()));
  }

  @Test
  void shouldKnowTheAllocationWhenItIsReleasedMuchLater() {
    int kept = 10;
    int others = 3 << 16;
    try (Recorder recorder = start(PATIENT)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < kept; i++) {
        ids.add(recorder.allocated(i, 64));
        recorder.released(recorder.allocated(1000, 64));
      }
      for (int i = 0; i < others; i++) {
        recorder.released(recorder.allocated(2000, 64));
      }
      ids.forEach(recorder::released);
    }

    List<String> events = Recordings.events(file());
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < kept; i++) {
      expected.add("f " + 3 * i + " -1");
    }
    assertEquals(3 * kept + 2 * others + kept, events.size());
    assertEquals(expected, events.subList(events.size() - kept, events.size()));
  }

  @Test
  void shouldNameEveryThreadWhenManyComeAndGo() throws InterruptedException {
    int threads = 500;
    int pairs = 20;
    List<Long> expected = new ArrayList<>();
    try (Recorder recorder = start(PATIENT)) {
      for (int i = 0; i < threads; i++) {
        Thread thread =
            new Thread(
                () -> {
                  for (int pair = 0; pair < pairs; pair++) {
                    recorder.released(recorder.allocated(1000, 64));
                  }
                });
        thread.start();
        thread.join();
        expected.addAll(Collections.nCopies(2 * pairs, thread.getId()));
      }
    }

    List<Long> seen = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(file())) {
      while (reader.next()) {
        seen.add(reader.threadId());
      }
    }
    assertEquals(expected, seen);
  }

  @Test
  void shouldEndTheRecordingWhenSomethingIsReleasedTwice() {
    Recorder recorder = start(PATIENT);
    long id = recorder.allocated(1000, 64);
    recorder.released(id);
    recorder.released(id);
    recorder.close();

    assertEquals(Optional.of(RecordingEnd.FAILED), recorder.end());
    assertTrue(recorder.unrecordedEvents() > 0);
  }

  /** Releases what it took itself, or what another thread took. */
  private static void churn(
      Recorder recorder, SplittableRandom random, int pairs, Queue<Long> handedOver) {
    List<Long> out = new ArrayList<>();
    for (int taken = 0; taken < pairs || !out.isEmpty(); ) {
      if (taken < pairs && random.nextInt(5) < 3) {
        out.add(recorder.allocated(random.nextInt(1 << random.nextInt(1, 31)), 64));
        taken++;
      } else if (!out.isEmpty()) {
        Long mine = out.remove(random.nextInt(out.size()));
        Long others = random.nextBoolean() ? handedOver.poll() : null;
        if (others != null) {
          handedOver.add(mine);
        }
        recorder.released(others == null ? mine : others);
      }
    }
  }

  @Test
  void shouldEndWithinTheBoundWhenTheFileIsFull() throws IOException {
    long bound = 4096;
    Recorder recorder = start(PATIENT.withMaxBytes(bound).withBufferedEvents(16));
    long recorded = 0;
    while (recorder.end().isEmpty()) {
      recorded += recorder.allocated(1000, 64) >= 0 ? 1 : 0;
    }
    recorder.close();

    assertEquals(Optional.of(RecordingEnd.FULL), recorder.end());
    assertTrue(Files.size(file()) <= bound, Files.size(file()) + " bytes");
    assertTrue(Files.size(file()) > bound * 3 / 4, Files.size(file()) + " bytes");
    assertEquals("FULL", Recordings.end(file()));
    assertEquals(recorder.events(), Recordings.events(file()).size());
    assertTrue(recorder.events() <= recorded && recorder.events() > 0, "" + recorder.events());
    assertTrue(recorder.unrecordedEvents() > 0);
  }

  @Test
  void shouldEndAndSaySoWhenTheWriterIsBehind() {
    Recorder recorder = start(PATIENT.withBufferedEvents(1).withLongestWait(Duration.ZERO));
    while (recorder.end().isEmpty()) {
      recorder.allocated(1000, 64);
    }

    assertEquals(Optional.of(RecordingEnd.BEHIND), recorder.end());
    assertEquals("BEHIND", Recordings.end(file()));
    assertEquals(recorder.events(), Recordings.events(file()).size());
    assertTrue(recorder.unrecordedEvents() > 0);
  }

  @Test
  void shouldRefuseOptionsWhenTheyAreOutOfBounds() {
    RecordingOptions options = RecordingOptions.DEFAULT;
    assertThrows(IllegalArgumentException.class, () -> options.withMaxBytes(1023));
    assertThrows(IllegalArgumentException.class, () -> options.withBufferedEvents(0));
    assertThrows(IllegalArgumentException.class, () -> options.withBufferedEvents((1 << 24) + 1));
    assertThrows(
        IllegalArgumentException.class, () -> options.withLongestWait(Duration.ofNanos(-1)));
    assertFalse(options.longestWait().isZero());
  }
}
