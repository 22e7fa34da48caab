package io.prmalloc.trace.replay;

import io.prmalloc.internal.os.AgronaAccess;
import io.prmalloc.trace.replay.lane.Api;
import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.ReplayTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs a recording once through one allocator, as it was: each recorded thread has a thread, each
 * recorded step is a step, and measures what a step costs and what the process has in memory.
 *
 * <p>A thread does what it did as fast as it can, but no thread is more than {@value #WINDOW}
 * events of the recording before another, and what one had of another happens in its order. The
 * time for which a thread waits for others is not counted. A thread without steps is one step, from
 * its first event to its last. Alignments are not told to the allocator.
 *
 * <p>Threading: any thread, but not two at the same time in one process.
 */
public final class RecordedReplayer implements ColdReplayer {

  private static final int WINDOW = 1024;

  /** Longs from one thread's progress to the next: two cache lines. */
  private static final int STRIDE = 16;

  private static final int SPINS = 100;
  private static final long PARK_NANOS = 20_000;

  private final RecordedTraffic traffic;
  private final ReplayOptions options;

  /**
   * Threading: any thread.
   *
   * @param traffic the recording
   * @param options how it is run; the numbers of steps and threads are the recording's
   * @throws IllegalStateException as of {@link Replayer}
   */
  public RecordedReplayer(RecordedTraffic traffic, ReplayOptions options) {
    this.traffic = Objects.requireNonNull(traffic, "traffic");
    this.options = options.withThreads(traffic.threads());
    if (options.api() == Api.RAW) {
      AgronaAccess.require();
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>Threading: one thread at a time in a process.
   *
   * @return the figures; its steps are those of all threads together
   */
  @Override
  public ReplayRun run(ReplayAllocator allocator, ReplayProgress progress)
      throws InterruptedException {
    ReplayTarget target;
    try {
      target = allocator.open(options, traffic.loadBytes(), true);
    } catch (UnsupportedOperationException absent) {
      return ReplayRun.skipped(allocator, options, absent.getMessage());
    }
    return run(allocator, target, progress);
  }

  /** As above, through a target of the caller's, which is closed at the end. */
  ReplayRun run(ReplayAllocator allocator, ReplayTarget target, ReplayProgress progress)
      throws InterruptedException {
    ColdRun run = new ColdRun(allocator, options, target);
    AtomicLongArray progresses = new AtomicLongArray(STRIDE * (traffic.threads() + 1));
    List<RecordedWorker> workers = new ArrayList<>();
    long steps = 0;
    for (int i = 0; i < traffic.threads(); i++) {
      RecordedTraffic.Program program = traffic.program(i);
      steps += Math.max(1, program.steps());
      Lane lane = target.lane(program.tensors());
      workers.add(new RecordedWorker(i, run, lane, program, progresses, workers));
    }
    return run.run(workers, steps, (int) Math.min(Integer.MAX_VALUE, steps), progress);
  }

  /** Another thread failed, and has said so. */
  private static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Stopped() {
      super("another thread failed", null, false, false);
    }
  }

  /** One thread. Its tensors may be released by the others. */
  private final class RecordedWorker extends ColdWorker {
    private final int thread;
    private final RecordedTraffic.Program program;

    /** The next tick of each thread. A thread that reads it also sees what was done before. */
    private final AtomicLongArray progresses;

    private final List<RecordedWorker> workers;
    private final int[] bytes;
    private final int[] ticks;
    private final Touch touch = options.touch();
    private final long stride = Touch.strideBytes(options.touch());

    /** The last tick that no other thread is too far behind for. */
    private long horizon;

    private long waitedNanos;
    private long stepBegin;
    private boolean stepIsOpen;

    RecordedWorker(
        int thread,
        ColdRun run,
        Lane lane,
        RecordedTraffic.Program program,
        AtomicLongArray progresses,
        List<RecordedWorker> workers) {
      super(thread, run, lane, Math.max(1, program.steps()));
      this.thread = thread;
      this.program = program;
      this.progresses = progresses;
      this.workers = workers;
      this.bytes = new int[program.tensors()];
      this.ticks = new int[program.tensors()];
    }

    @Override
    void runSteps() {
      int[] words = program.words();
      boolean hasSteps = program.steps() > 0;
      if (!hasSteps) {
        beginStep();
      }
      try {
        for (int at = 0; at < words.length; ) {
          long tick = words[at++];
          int operation = words[at] >>> RecordedTraffic.OPERATION_SHIFT;
          int tensor = words[at++] & RecordedTraffic.TENSOR_MASK;
          progresses.lazySet(STRIDE * (thread + 1), tick);
          if (tick > horizon) {
            awaitAll(tick);
          }
          switch (operation) {
            case RecordedTraffic.ALLOCATE -> allocate(tensor, words[at++], (int) tick);
            case RecordedTraffic.RELEASE -> release(tensor);
            case RecordedTraffic.RELEASE_OF -> workers.get(words[at++]).release(tensor);
            case RecordedTraffic.OPEN -> {
              beginStep();
              lane().openStep();
            }
            case RecordedTraffic.CLOSE -> {
              lane().closeStep();
              endStep();
            }
            case RecordedTraffic.CLOSE_OF -> workers.get(words[at++]).lane().closeStep();
            case RecordedTraffic.AWAIT -> await(words[at++], tick);
            default -> {
              await(words[at++], tick);
              endStep();
            }
          }
        }
      } catch (Stopped ignored) {
        return;
      }
      if (!hasSteps) {
        endStep();
      }
    }

    private void beginStep() {
      waitedNanos = 0;
      stepIsOpen = true;
      stepBegin = System.nanoTime();
    }

    private void endStep() {
      if (stepIsOpen) {
        stepIsOpen = false;
        stepped(System.nanoTime() - stepBegin - waitedNanos);
      }
    }

    private void allocate(int tensor, int size, int tick) {
      try {
        lane().allocate(tensor, size);
      } catch (RuntimeException | OutOfMemoryError e) {
        throw describe("allocating", tick, size, e);
      }
      pairs++;
      bytes[tensor] = size;
      ticks[tensor] = tick;
      if (stride != 0) {
        lane().write(tensor, size, stride, tick);
      } else if (touch == Touch.ALL) {
        lane().fill(tensor, size, Pattern.seed(0, tick));
      }
    }

    private void release(int tensor) {
      try {
        if (touch == Touch.ALL) {
          Pattern.verify(lane(), tensor, bytes[tensor], Pattern.seed(0, ticks[tensor]));
        }
        lane().release(tensor);
      } catch (RuntimeException | OutOfMemoryError e) {
        throw describe("releasing", ticks[tensor], bytes[tensor], e);
      }
    }

    private ReplayFailure describe(String what, int tick, int size, Throwable e) {
      String why = e instanceof ReplayFailure ? e.getMessage() : e.toString();
      return new ReplayFailure(what + " allocation " + tick + " of " + size + " bytes: " + why, e);
    }

    /** Waits until another thread has done all that came before. */
    private void await(int other, long tick) {
      if (progresses.get(STRIDE * (other + 1)) < tick) {
        long begin = System.nanoTime();
        for (int tries = 0; progresses.get(STRIDE * (other + 1)) < tick; tries++) {
          pause(tries);
        }
        waitedNanos += System.nanoTime() - begin;
      }
    }

    /** Waits until no other thread is too far behind. */
    private void awaitAll(long tick) {
      horizon = slowest() + WINDOW;
      if (horizon < tick) {
        long begin = System.nanoTime();
        for (int tries = 0; horizon < tick; tries++) {
          pause(tries);
          horizon = slowest() + WINDOW;
        }
        waitedNanos += System.nanoTime() - begin;
      }
    }

    private long slowest() {
      long slowest = Long.MAX_VALUE - WINDOW;
      for (int other = 0; other < workers.size(); other++) {
        if (other != thread) {
          slowest = Math.min(slowest, progresses.get(STRIDE * (other + 1)));
        }
      }
      return slowest;
    }

    private void pause(int tries) {
      if (!goesOn()) {
        throw new Stopped();
      }
      if (tries < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PARK_NANOS);
      }
    }

    @Override
    void over() {
      progresses.set(STRIDE * (thread + 1), Long.MAX_VALUE - WINDOW);
    }
  }
}
