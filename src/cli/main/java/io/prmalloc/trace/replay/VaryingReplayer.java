package io.prmalloc.trace.replay;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.ReplayTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Runs steps that vary through one allocator, and measures from the first step on what a step costs
 * and what the process has in memory.
 *
 * <p>Nothing is run beforehand: the first steps include the time of the JIT, of an allocator that
 * starts empty, and of a pool that learns, as in a server. The memory of the process is that of the
 * allocator only if the process has run no other.
 *
 * <p>Threading: any thread, but not two at the same time in one process.
 */
public final class VaryingReplayer implements ColdReplayer {

  private final Traffic traffic;
  private final ReplayOptions options;

  /**
   * Threading: any thread.
   *
   * @param traffic the steps
   * @param options how many there are for each thread, and how they are run
   * @throws IllegalArgumentException if a tensor may exceed {@link Replayer#MAX_TENSOR_BYTES}
   * @throws IllegalStateException as of {@link Replayer}
   */
  public VaryingReplayer(Traffic traffic, ReplayOptions options) {
    this.traffic = Objects.requireNonNull(traffic, "traffic");
    this.options = Objects.requireNonNull(options, "options");
    for (Trace trace : traffic.traces()) {
      Replayer.check(trace, options);
      checkFactor(trace);
    }
  }

  private void checkFactor(Trace trace) {
    double factor = traffic.largestFactor();
    for (int tensor = 0; tensor < trace.tensorCount(); tensor++) {
      if (trace.sizeBytes(tensor) * factor > Replayer.MAX_TENSOR_BYTES) {
        throw new IllegalArgumentException(
            trace.name()
                + ": tensor "
                + trace.id(tensor)
                + " of "
                + trace.sizeBytes(tensor)
                + " bytes times "
                + factor
                + " exceeds "
                + Replayer.MAX_TENSOR_BYTES
                + ", the most that can be replayed");
      }
    }
  }

  @Override
  public ReplayRun run(ReplayAllocator allocator, ReplayProgress progress)
      throws InterruptedException {
    ReplayTarget target;
    try {
      target = allocator.open(options, traffic.loadBytes(1) * options.threads(), true);
    } catch (UnsupportedOperationException absent) {
      return ReplayRun.skipped(allocator, options, absent.getMessage());
    }
    return run(allocator, target, progress);
  }

  /** As above, through a target of the caller's, which is closed at the end. */
  ReplayRun run(ReplayAllocator allocator, ReplayTarget target, ReplayProgress progress)
      throws InterruptedException {
    int tensors = traffic.traces().stream().mapToInt(Trace::tensorCount).max().orElse(0);
    ColdRun run = new ColdRun(allocator, options, target);
    StepLoops loops = new StepLoops();
    List<VaryingWorker> workers = new ArrayList<>();
    for (int i = 0; i < options.threads(); i++) {
      Lane lane = target.lane(tensors);
      workers.add(
          new VaryingWorker(
              i,
              run,
              lane,
              traffic.traces().stream()
                  .map(trace -> loops.create(lane, trace, options.touch()))
                  .toArray(StepLoop[]::new)));
    }
    long total = (long) options.steps() * options.threads();
    return run.run(workers, total, options.steps(), progress);
  }

  /** One thread. */
  private final class VaryingWorker extends ColdWorker {
    private final int thread;
    private final StepLoop[] loops;

    VaryingWorker(int thread, ColdRun run, Lane lane, StepLoop[] loops) {
      super(thread, run, lane, options.steps());
      this.thread = thread;
      this.loops = loops;
    }

    @Override
    void runSteps() {
      Lane lane = lane();
      Traffic.Draws draws = traffic.new Draws(thread);
      boolean scaled = traffic.range().isPresent();
      for (int step = 0; step < options.steps() && goesOn(); step++) {
        draws.next();
        StepLoop loop = loops[draws.trace()];
        if (scaled) {
          loop.scale(draws.factor());
        }
        long seed = Pattern.stepSeed(thread, step);
        long begin = System.nanoTime();
        lane.openStep();
        loop.run(seed);
        lane.closeStep();
        long nanos = System.nanoTime() - begin;
        pairs += traffic.traces().get(draws.trace()).tensorCount();
        stepped(nanos);
      }
    }
  }
}
