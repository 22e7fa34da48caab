package io.prmalloc.recording;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes an allocator's events and has them written. For those who write allocators; users see a
 * {@link Recording}.
 *
 * <p>Threading: any thread.
 */
public final class Recorder implements Recording {

  // The allocating threads put events into the ring, and most releases on lanes of their own, which
  // costs less (see ReleaseLanes); one daemon thread puts them in order (EventOrder), encodes them
  // and writes frames. It looks every millisecond, so nobody has to wake it.
  //
  // No event is lost without a word. A thread that finds the ring full waits for the writer, and if
  // that takes too long (a disk that hangs must not stop a server) the recording ends there: what
  // is in the file is all that happened up to its last event, in order, and its end says why there
  // is no more.
  //
  // Ending. The ring is sealed: ticks claimed from then on are too late. Ticks claimed before are
  // filled in by threads that may be about to do so, and the writer waits for them; only after the
  // recording was given up can there be a tick that nobody will fill in.

  private static final Logger LOGGER = System.getLogger(Recorder.class.getName());

  /** How deep a method calls itself that is not to be inlined. */
  private static final int OUT_OF_LINE = 3;

  private static final long POLL_NANOS = 1_000_000;
  private static final long WAIT_NANOS = 50_000;

  /** An event is in the file so much later at the latest. */
  private static final long FLUSH_NANOS = 200_000_000;

  /** For how long a thread that has claimed a tick is waited for when it is not filled in. */
  private static final long STRAGGLER_NANOS = 1_000_000_000;

  private final Path file;
  private final EventRing ring;
  private final ReleaseLanes lanes;
  private final EventOrder order;
  private final FrameWriter writer;
  private final long longestWaitNanos;
  private final Runnable whenOver;
  private final Thread thread;
  private final AtomicLong steps = new AtomicLong();
  private final AtomicReference<RecordingEnd> reason = new AtomicReference<>();
  private final CountDownLatch over = new CountDownLatch(1);

  /** Whether threads that wait for room wait in vain. */
  private volatile boolean givenUp;

  private volatile RecordingEnd end;

  private Recorder(Path file, FrameWriter writer, RecordingOptions options, Runnable whenOver) {
    this.file = file;
    this.writer = writer;
    this.ring = new EventRing(options.bufferedEvents());
    this.lanes = new ReleaseLanes(2 * ring.capacity());
    this.order = new EventOrder(ring, lanes, writer);
    this.longestWaitNanos = options.longestWait().toNanos();
    this.whenOver = whenOver;
    this.thread = new Thread(this::write, "prmalloc-recorder");
    this.thread.setDaemon(true);
  }

  /**
   * Makes the file and begins.
   *
   * <p>Threading: any thread.
   *
   * @param file must not be there yet
   * @param whenOver called once, by the recorder's own thread, when nothing more will be recorded
   *     and the file is closed
   * @throws UncheckedIOException if the file is there already or cannot be written
   */
  public static Recorder start(Path file, RecordingOptions options, Runnable whenOver) {
    try {
      FrameWriter writer = FrameWriter.create(file, options.maxBytes());
      Recorder recorder = new Recorder(file, writer, options, whenOver);
      recorder.thread.start();
      return recorder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Records that memory went out.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how much was asked for
   * @param alignment a power of two
   * @return what to call {@link #released} with; negative if it was not recorded
   */
  public long allocated(long bytes, long alignment) {
    return append(Long.numberOfTrailingZeros(alignment) << 2, bytes);
  }

  /**
   * Records that memory came back.
   *
   * <p>Threading: any thread.
   *
   * @param id what {@link #allocated} returned; nothing is recorded if it is negative
   */
  public void released(long id) {
    if (id >= 0 && !lanes.add(id, ring.next())) {
      releasedInRing(id, OUT_OF_LINE);
    }
  }

  /** Out of line, as {@code io.prmalloc.OutOfLine} has it. */
  private void releasedInRing(long id, int depth) {
    if (depth > 0) {
      releasedInRing(id, depth - 1);
      return;
    }
    append(EventKind.RELEASE.number, id);
    lanes.own();
  }

  /**
   * Records that a step was opened.
   *
   * <p>Threading: any thread.
   *
   * @return its number, from 0
   */
  public long stepOpened() {
    long step = steps.getAndIncrement();
    append(EventKind.OPEN_STEP.number, step);
    return step;
  }

  /**
   * Records that a step was closed.
   *
   * <p>Threading: any thread.
   *
   * @param step what {@link #stepOpened} returned
   */
  public void stepClosed(long step) {
    append(EventKind.CLOSE_STEP.number, step);
  }

  private long append(int what, long value) {
    long tick = ring.claim();
    return ring.hasRoom(tick) || awaitRoom(tick) ? ring.publish(tick, what, value) : -1;
  }

  private boolean awaitRoom(long tick) {
    if (tick >= EventRing.TOO_LATE) {
      return false;
    }
    long begin = System.nanoTime();
    while (!ring.hasRoom(tick)) {
      if (givenUp) {
        return false;
      }
      if (System.nanoTime() - begin >= longestWaitNanos) {
        giveUp(RecordingEnd.BEHIND);
        return false;
      }
      LockSupport.parkNanos(WAIT_NANOS);
    }
    return true;
  }

  private void giveUp(RecordingEnd why) {
    reason.compareAndSet(null, why);
    ring.seal();
    givenUp = true;
  }

  // ---- the writer's thread

  private void write() {
    RecordingEnd ended = RecordingEnd.FAILED;
    try (writer) {
      ended = writeEvents();
      writer.end(ended, taken() - writer.eventsWritten());
    } catch (IOException | RuntimeException e) {
      ended = RecordingEnd.FAILED;
      LOGGER.log(Level.WARNING, "recording " + file + " ends: it cannot be written", e);
    } finally {
      giveUp(ended);
      end = ended;
      whenOver.run();
      over.countDown();
    }
    if (ended == RecordingEnd.FULL || ended == RecordingEnd.BEHIND) {
      LOGGER.log(Level.WARNING, "recording {0} ended: {1}", file, ended);
    }
  }

  private RecordingEnd writeEvents() throws IOException {
    long flushedAt = System.nanoTime();
    while (true) {
      long sealedAt = ring.sealedAt();
      long before = writer.events();
      if (!order.drain()) {
        return giveUpFull();
      }
      long now = System.nanoTime();
      if (sealedAt >= 0 && (order.tick() == sealedAt || !awaitStraggler())) {
        return writer.flush() ? reason.get() : giveUpFull();
      }
      if (now - flushedAt >= FLUSH_NANOS) {
        if (!writer.flush()) {
          return giveUpFull();
        }
        flushedAt = now;
      }
      if (sealedAt < 0 && writer.events() - before < order.batch()) {
        LockSupport.parkNanos(POLL_NANOS);
      }
    }
  }

  private RecordingEnd giveUpFull() {
    giveUp(RecordingEnd.FULL);
    return RecordingEnd.FULL;
  }

  /** Waits for the next event, of a sealed ring; false if it will not come. */
  private boolean awaitStraggler() {
    long begin = System.nanoTime();
    // Given up, there are ticks that nobody fills in; a moment is for those who were about to.
    long patience = givenUp ? POLL_NANOS : STRAGGLER_NANOS;
    while (!ring.isPublished(order.tick())) {
      if (System.nanoTime() - begin >= patience) {
        return false;
      }
      LockSupport.parkNanos(WAIT_NANOS);
    }
    return true;
  }

  // ---- what users see

  @Override
  public Path file() {
    return file;
  }

  @Override
  public long events() {
    return end == null ? taken() : writer.eventsWritten();
  }

  /** How many events came in time. */
  private long taken() {
    return ring.claimed() + lanes.added();
  }

  @Override
  public long unrecordedEvents() {
    long given = end == null ? 0 : taken() - writer.eventsWritten();
    return given + ring.tooLate();
  }

  @Override
  public long bytesWritten() {
    return writer.bytesWritten();
  }

  @Override
  public Optional<RecordingEnd> end() {
    return Optional.ofNullable(end);
  }

  @Override
  public void close() {
    reason.compareAndSet(null, RecordingEnd.CLOSED);
    ring.seal();
    LockSupport.unpark(thread);
    try {
      over.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
