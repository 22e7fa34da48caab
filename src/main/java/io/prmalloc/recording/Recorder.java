package io.prmalloc.recording;

import io.prmalloc.internal.block.NoInline;
import io.prmalloc.internal.block.SafeLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes an allocator's events and writes them to a file on a thread of its own. For authors of
 * allocators; users see a {@link Recording}.
 *
 * <p>Threading: any thread.
 */
public final class Recorder implements Recording {

  // The allocating threads put events on lanes, each on its own if it can (EventLanes); one daemon
  // thread puts them in order (EventOrder), encodes them and writes frames. It looks every
  // millisecond, so no thread has to wake it.
  //
  // No event is lost without a word. A thread that finds its lane full waits for the writer, and if
  // that takes too long (a disk that hangs must not stop a server) the recording ends there: what
  // is in the file is all that happened up to its last event, in order, and its end says why there
  // is no more.
  //
  // Ending. The lanes are sealed, and what they hold is written. What comes later is counted. If
  // the writer fails, for instance for want of heap, the recording is over nevertheless: who closes
  // it never waits for a thread that is gone.

  /** The largest allocation that can be recorded, 2^56 − 1 bytes: more than a process can have. */
  public static final long MAX_BYTES = EventLane.VALUES - 1;

  private static final Logger LOGGER = SafeLog.logger(Recorder.class);

  private static final long POLL_NANOS = 1_000_000;
  private static final long WAIT_NANOS = 50_000;

  /** How often, and how much later, {@link #whenOver} is tried again if it throws. */
  private static final int RETRIES = 100;

  private static final long RETRY_NANOS = 100_000_000;

  /** An event is in the file so much later at the latest. */
  private static final long FLUSH_NANOS = 200_000_000;

  private final Path file;
  private final EventLanes lanes;
  private final EventOrder order;
  private final FrameWriter writer;
  private final long longestWaitNanos;
  private final Runnable whenOver;
  private final Thread thread;
  private final AtomicLong steps = new AtomicLong();
  private final AtomicLong tooLate = new AtomicLong();
  private final AtomicReference<RecordingEnd> reason = new AtomicReference<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile RecordingEnd end;

  /** Whether {@link #whenOver} has ended without an exception. */
  private volatile boolean told;

  private Recorder(Path file, FrameWriter writer, RecordingOptions options, Runnable whenOver) {
    this.file = file;
    this.writer = writer;
    this.lanes = new EventLanes(options.bufferedEvents());
    this.order = new EventOrder(lanes, writer);
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
   * @param whenOver called by the recorder's own thread, when nothing more will be recorded and the
   *     file is closed; again, also by {@link #close}, if it throws
   * @throws UncheckedIOException if the file is there already or cannot be written
   */
  public static Recorder start(Path file, RecordingOptions options, Runnable whenOver) {
    try {
      FrameWriter writer = FrameWriter.create(file, options.maxBytes());
      try {
        Recorder recorder = new Recorder(file, writer, options, whenOver);
        recorder.thread.start();
        return recorder;
      } catch (Throwable e) {
        writer.close();
        Files.deleteIfExists(file);
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Records that memory went out.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how much was asked for, from 0 to {@link #MAX_BYTES}
   * @param alignment a power of two, at most 2^30
   * @return what to call {@link #released} with; negative if it was not recorded
   * @throws IllegalArgumentException if {@code bytes} is out of its bounds; nothing was recorded
   */
  public long allocated(long bytes, long alignment) {
    if ((bytes & ~MAX_BYTES) != 0) {
      throw badBytes(bytes);
    }
    return add(Long.numberOfTrailingZeros(alignment) << 2, bytes);
  }

  private static IllegalArgumentException badBytes(long bytes) {
    return new IllegalArgumentException("bytes " + bytes + " is not from 0 to " + MAX_BYTES);
  }

  /**
   * Records that memory came back.
   *
   * <p>Threading: any thread.
   *
   * @param id what {@link #allocated} returned; nothing is recorded if it is negative
   */
  public void released(long id) {
    if (id >= 0) {
      add(EventKind.RELEASE.number, id);
    }
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
    add(EventKind.OPEN_STEP.number, step);
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
    add(EventKind.CLOSE_STEP.number, step);
  }

  private long add(int what, long value) {
    long id = lanes.add(what, value);
    return id >= 0 ? id : addSlowly(what, value, NoInline.DEPTH);
  }

  /** Out of line: see {@link NoInline}. */
  private long addSlowly(int what, long value, int depth) {
    if (depth > 0) {
      return addSlowly(what, value, depth - 1);
    }
    long begin = System.nanoTime();
    long id = lanes.addAnywhere(what, value);
    while (id < 0 && !lanes.isSealed()) {
      if (System.nanoTime() - begin >= longestWaitNanos) {
        giveUp(RecordingEnd.BEHIND);
      } else {
        LockSupport.parkNanos(WAIT_NANOS);
        id = lanes.addAnywhere(what, value);
      }
    }
    if (id < 0) {
      tooLate.incrementAndGet();
    }
    return id;
  }

  private void giveUp(RecordingEnd why) {
    reason.compareAndSet(null, why);
    lanes.seal();
  }

  // ---- the writer's thread

  private void write() {
    RecordingEnd ended = RecordingEnd.FAILED;
    try {
      ended = writeToTheEnd();
    } catch (Throwable e) {
      // There is no heap, not even to log why it failed.
    } finally {
      giveUp(ended);
      end = ended;
      tellOverOnce();
      over.countDown();
    }
    for (int i = 0; i < RETRIES && !told; i++) {
      LockSupport.parkNanos(RETRY_NANOS);
      tellOverOnce();
    }
    if (ended == RecordingEnd.FULL || ended == RecordingEnd.BEHIND) {
      warn(ended, null);
    }
  }

  private RecordingEnd writeToTheEnd() {
    try (writer) {
      RecordingEnd ended = writeEvents();
      writer.end(ended, taken() - writer.eventsWritten());
      return ended;
    } catch (Throwable e) {
      warn(RecordingEnd.FAILED, e);
      return RecordingEnd.FAILED;
    }
  }

  private void warn(RecordingEnd why, Throwable failure) {
    try {
      LOGGER.log(Level.WARNING, "recording " + file + " ended: " + why, failure);
    } catch (Throwable unsaid) {
      SafeLog.log(LOGGER, Level.WARNING, "a recording ended early", failure);
    }
  }

  /** Throws nothing, and logs nothing: it is tried again. */
  private void tellOverOnce() {
    try {
      if (!told) {
        whenOver.run();
        told = true;
      }
    } catch (Throwable e) {
      // Later.
    }
  }

  private RecordingEnd writeEvents() throws IOException {
    long flushedAt = System.nanoTime();
    while (true) {
      boolean sealed = lanes.isSealed();
      long before = writer.events();
      if (!order.drain()) {
        return giveUpFull();
      }
      long now = System.nanoTime();
      if (sealed && order.isDrained()) {
        return writer.flush() ? reason.get() : giveUpFull();
      }
      if (now - flushedAt >= FLUSH_NANOS) {
        if (!writer.flush()) {
          return giveUpFull();
        }
        flushedAt = now;
      }
      if (!sealed && writer.events() - before < EventOrder.BATCH) {
        LockSupport.parkNanos(POLL_NANOS);
      }
    }
  }

  private RecordingEnd giveUpFull() {
    giveUp(RecordingEnd.FULL);
    return RecordingEnd.FULL;
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
    return lanes.events();
  }

  @Override
  public long unrecordedEvents() {
    long given = end == null ? 0 : taken() - writer.eventsWritten();
    return given + tooLate.get();
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
    lanes.seal();
    LockSupport.unpark(thread);
    try {
      over.await();
      if (!told) {
        whenOver.run();
        told = true;
        LockSupport.unpark(thread);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
