package io.prmalloc.trace.replay;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.MeetingLane;
import io.prmalloc.trace.replay.lane.PoolSetup;
import io.prmalloc.trace.replay.lane.PoolTarget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs one trace after the other through one pool, as when the traffic of a server changes, and
 * reports how the pool adapts.
 *
 * <p>Threading: any thread, but not two at the same time in one process.
 */
public final class ShiftReplayer {

  // The threads do a step each, and wait for each other: so every step can be counted, and what is
  // reserved is looked at while nothing is out. They also wait within the step, where each has the
  // most: else a few processors would run the steps of many threads one after the other, and what
  // they need together would be left to chance. It is no measurement of time.
  //
  // A phase goes on for the steps asked for and for several idle times, for only then the pool has
  // given back what it does not need.
  //
  // What a trace needs by itself is found out by running it through a new pool, with as many
  // threads, until that has learnt it. Where several threads share the memory, what it takes
  // depends on how their steps happened to overlap, and grows where requests go on missing; so
  // there the median is taken of some new pools, each run for as long as a phase.

  private static final int FRESH_POOLS = 3;

  private final List<Trace> traces;
  private final ReplayOptions options;
  private final Duration idle;

  /**
   * Threading: any thread.
   *
   * @param traces the traffic, in order; from 1
   * @param options how each is run; a phase has {@code steps} steps or more
   * @param idle after how long the pool gives back what it does not use
   * @throws IllegalArgumentException if there is no trace, {@code idle} is negative, or a tensor is
   *     over {@link Replayer#MAX_TENSOR_BYTES}
   * @throws IllegalStateException as of {@link Replayer}
   */
  public ShiftReplayer(List<Trace> traces, ReplayOptions options, Duration idle) {
    if (traces.isEmpty()) {
      throw new IllegalArgumentException("traces is empty; the least is 1");
    }
    if (idle.isNegative()) {
      throw new IllegalArgumentException("idle " + idle + " is negative; the least is 0");
    }
    for (Trace trace : traces) {
      Replayer.check(trace, options);
    }
    this.traces = List.copyOf(traces);
    this.options = options;
    this.idle = idle;
  }

  /**
   * Runs all traces through one pool.
   *
   * <p>Threading: one thread at a time in a process.
   *
   * @param allocator {@link ReplayAllocator#POOL} or {@link ReplayAllocator#PLANNED}
   * @param progress told of the way, or null
   * @throws IllegalArgumentException if it is another allocator: it would not learn
   * @return the phases; of a run that {@code progress} cancels, whose threads go on in the
   *     background to its end, those that are over by then
   * @throws CancellationException if {@code progress} cancels it before a phase is over
   * @throws InterruptedException if the calling thread is interrupted; the run goes on in the
   *     background then, to its end
   */
  public ShiftRun run(ReplayAllocator allocator, ReplayProgress progress)
      throws InterruptedException {
    boolean planned = allocator == ReplayAllocator.PLANNED;
    if (!planned && allocator != ReplayAllocator.POOL) {
      throw new IllegalArgumentException(
          "allocator " + allocator.label() + " does not learn, so traffic cannot shift for it");
    }
    Map<Trace, Long> freshBytes = new HashMap<>();
    for (Trace trace : traces) {
      if (!freshBytes.containsKey(trace)) {
        long[] pools = new long[isShared(planned) ? FRESH_POOLS : 1];
        for (int i = 0; i < pools.length; i++) {
          Run fresh = new Run(List.of(trace), planned, true, Map.of(trace, Long.MAX_VALUE));
          ShiftRun alone = fresh.run(allocator, onlyCancelling(progress));
          if (alone.failure().isPresent()) {
            return alone;
          }
          pools[i] = alone.phases().get(0).endBytes();
        }
        Arrays.sort(pools);
        freshBytes.put(trace, pools[pools.length / 2]);
      }
    }
    return new Run(traces, planned, false, freshBytes).run(allocator, progress);
  }

  /** A new pool's steps are none of those that are shown. */
  private static ReplayProgress onlyCancelling(ReplayProgress progress) {
    if (progress == null) {
      return null;
    }
    return new ReplayProgress() {
      @Override
      public void update(ReplayAllocator allocator, long steps, long totalSteps) {}

      @Override
      public boolean isCancelled() {
        return progress.isCancelled();
      }

      @Override
      public void close() {}
    };
  }

  private boolean isShared(boolean planned) {
    return !planned && options.threads() > 1;
  }

  /** One pool and its threads. */
  private final class Run extends Phaser {
    private final List<Trace> sequence;
    private final boolean fresh;
    private final Map<Trace, Long> freshBytes;
    private final PoolTarget target;
    private final ShiftTally tally;
    private final AtomicReference<String> failure = new AtomicReference<>();

    /** Which trace is run. Written while all threads wait. */
    private volatile int current;

    private volatile long done;

    Run(List<Trace> sequence, boolean planned, boolean fresh, Map<Trace, Long> freshBytes) {
      super(options.threads());
      this.sequence = sequence;
      this.fresh = fresh;
      this.freshBytes = freshBytes;
      PoolSetup setup = fresh ? options.pool().withoutFiles() : options.pool();
      this.target = new PoolTarget(options.withPool(setup.withIdle(idle)), planned, false);
      long idleNanos = fresh && !isShared(planned) ? 0 : idle.toNanos();
      this.tally = new ShiftTally(target, options.steps(), idleNanos);
    }

    ShiftRun run(ReplayAllocator allocator, ReplayProgress progress) throws InterruptedException {
      tally.begin();
      List<Thread> threads = new ArrayList<>();
      StepLoops loops = new StepLoops();
      int tensors = sequence.stream().mapToInt(Trace::tensorCount).max().orElse(0);
      for (int i = 0; i < options.threads(); i++) {
        int number = i;
        MeetingLane lane = new MeetingLane(target.lane(tensors), this::arriveAndAwaitAdvance);
        List<StepLoop> steps =
            sequence.stream().map(trace -> loops.create(lane, trace, options.touch())).toList();
        threads.add(new Thread(() -> work(number, lane, steps), "replay-" + i));
      }
      threads.forEach(Thread::start);
      long total = (long) options.steps() * sequence.size();
      try {
        Replayer.await(threads, progress, allocator, total, () -> Math.min(done, total));
      } catch (CancellationException cancelled) {
        List<ShiftPhase> phases = tally.phases();
        if (fresh || phases.isEmpty()) {
          throw cancelled;
        }
        return ShiftRun.cutOff(allocator, sequence.size(), phases);
      }
      Replayer.close(target).ifPresent(reason -> failure.compareAndSet(null, reason));
      return new ShiftRun(
          allocator, Optional.empty(), Optional.ofNullable(failure.get()), tally.phases());
    }

    private void work(int thread, MeetingLane lane, List<StepLoop> loops) {
      long step = 0;
      try {
        while (current < loops.size() && failure.get() == null) {
          lane.meetAt(MeetingLane.peak(sequence.get(current)));
          lane.openStep();
          loops.get(current).run(Pattern.stepSeed(thread, step++));
          lane.closeStep();
          arriveAndAwaitAdvance();
        }
      } catch (RuntimeException | Error e) {
        String what = e instanceof ReplayFailure ? e.getMessage() : e.toString();
        failure.compareAndSet(null, "thread " + thread + ", step " + (step - 1) + ", " + what);
        abandon(lane);
      } finally {
        arriveAndDeregister();
      }
    }

    private void abandon(Lane lane) {
      try {
        lane.abandon();
      } catch (RuntimeException sameAgain) {
        // The pool is broken, which is said already; the run's end takes all memory away.
      }
    }

    /** Every thread is in the middle of a step, or has done one and is in none. */
    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread at a time, while the others wait
    protected boolean onAdvance(int phase, int registeredParties) {
      if (registeredParties == 0) {
        return true;
      }
      boolean ended = (phase & 1) == 1;
      if (ended && failure.get() == null) {
        done++;
        Trace trace = sequence.get(current);
        long alone = freshBytes.get(trace);
        if (fresh) {
          // Before the tally looks at what is reserved.
          target.releaseReplaced();
        }
        if (tally.stepped(alone) && (!fresh || isLearnt())) {
          tally.end(trace, alone);
          tally.begin();
          current++;
        }
      }
      return false;
    }

    private boolean isLearnt() {
      return target.isWarm() || done >= ReplayOptions.MAX_LEARNING_STEPS;
    }
  }
}
