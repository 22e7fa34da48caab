package io.prmalloc.trace.swap;

import io.prmalloc.trace.simulate.MemoryModel;
import io.prmalloc.trace.swap.SwapStep.Op;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Runs a step on paper, with some of its feature maps on a disk meanwhile. One object is one run.
 *
 * <p>Threading: one thread at a time.
 */
final class SwapSimulator {

  // The three modes are those of the HeuristicAllocator project, whose bookkeeping is followed to
  // the order of frees, for the pool's peak depends on it. Every operator allocates its outputs and
  // scratch memory, computes, and gives back its scratch memory and what it releases. Besides:
  //
  // sync       Swapped maps that leave at an operator are written after it; those that return at
  //            one are allocated before it and read; both times are the operator's.
  //
  // semi-sync  Forward, an operator computes beside the writing of what left at the one before;
  //            the next starts when both are done. What left at the last forward operator is
  // written
  //            alone, and what returns at the first backward operator is read alone. Backward, an
  //            operator computes beside the reading of what returns at the next one.
  //
  // async      The disk has its own clock D beside the clock T of the processor. What leaves is
  //            queued behind T; its memory is free when T has passed the end of its writing. After
  //            the forward pass everything written is free at once. What returns at one operator is
  //            a batch; batches are issued in order, memory taken at issue: the first at once, then
  //            as long as the disk is idle or would be done before the processor is. An operator
  //            whose own batch was the last issued waits for the disk.
  //
  // A map that is recomputed goes after its last forward operator; at its first backward one its
  // producer runs again, with its other outputs and scratch memory, in the time of that operator.
  //
  // Maps that are swapped and never read again are written and stay away.

  private final SwapStep step;
  private final Treatment[] treatments;
  private final SwapOptions options;
  private final MemoryModel memory;
  private final Timeline timeline;
  private final long[] opPeakBytes;

  private final boolean[] present;
  private long liveBytes;
  private double clock;
  private int op;
  private double startMillis;
  private double computeStartMillis;
  private double recomputeMillis;
  private long bytesOut;
  private long bytesIn;

  private record Writing(double endMillis, int tensor) {}

  private SwapSimulator(
      SwapStep step,
      Treatment[] treatments,
      SwapOptions options,
      Timeline timeline,
      long[] opPeakBytes) {
    this.step = step;
    this.treatments = treatments;
    this.options = options;
    this.timeline = timeline;
    this.opPeakBytes = opPeakBytes;
    memory = options.allocator().create(step.ids.length);
    present = new boolean[step.ids.length];
  }

  /**
   * Simulates a step.
   *
   * @param treatments what becomes of each map
   * @param timeline where to write what happens when, or null
   * @param opPeakBytes where to write the most bytes alive during each operator, or null
   */
  static SwapRun run(
      SwapStep step,
      Treatment[] treatments,
      SwapOptions options,
      Timeline timeline,
      long[] opPeakBytes) {
    return new SwapSimulator(step, treatments, options, timeline, opPeakBytes).run();
  }

  private SwapRun run() {
    if (opPeakBytes != null) {
      Arrays.fill(opPeakBytes, 0);
    }
    switch (options.mode()) {
      case SYNC -> sync();
      case SEMI_SYNC -> semiSync();
      case ASYNC -> async();
    }
    double computeMillis = 0;
    for (Op op : step.ops) {
      computeMillis += op.millis;
    }
    return new SwapRun(
        clock, computeMillis, recomputeMillis, memory.peakBytes(), bytesOut, bytesIn);
  }

  private void sync() {
    for (int i = 0; i < step.ops.size(); i++) {
      begin(i);
      allocateReturning(i);
      clock = read(i, clock);
      computeStartMillis = clock;
      double computed = compute(i);
      clock += computed;
      clock = write(i, clock);
      freeLeaving(i, Treatment.SWAP);
      freeLeaving(i, Treatment.RECOMPUTE);
      finish(i);
      end(computed);
    }
  }

  private void semiSync() {
    int last = step.ops.size() - 1;
    for (int i = 0; i <= last; i++) {
      boolean forward = i < step.forwardOps;
      begin(i);
      if (!forward && i < last) {
        allocateReturning(i + 1);
      }
      double computed = compute(i);
      double transferred = clock;
      if (forward && i > 0) {
        transferred = write(i - 1, clock);
      } else if (!forward && i < last) {
        transferred = read(i + 1, clock);
      }
      clock = Math.max(clock + computed, transferred);
      if (forward && i > 0) {
        freeLeaving(i - 1, Treatment.SWAP);
      }
      freeLeaving(i, Treatment.RECOMPUTE);
      finish(i);
      end(computed);
      if (i == step.forwardOps - 1) {
        clock = write(i, clock);
        freeLeaving(i, Treatment.SWAP);
        allocateReturning(i + 1);
        clock = read(i + 1, clock);
      }
    }
  }

  private void async() {
    double diskClock = 0;
    ArrayDeque<Writing> writings = new ArrayDeque<>();
    for (int i = 0; i < step.forwardOps; i++) {
      begin(i);
      double computed = compute(i);
      clock += computed;
      while (!writings.isEmpty() && writings.peek().endMillis <= clock) {
        free(writings.remove().tensor);
      }
      finish(i);
      diskClock = Math.max(diskClock, clock);
      for (int map : step.leaving[i]) {
        if (treatments[map] == Treatment.SWAP) {
          diskClock = write(step.maps.get(map), diskClock);
          writings.add(new Writing(diskClock, step.maps.get(map).tensor()));
        }
      }
      freeLeaving(i, Treatment.RECOMPUTE);
      end(computed);
    }
    for (Writing writing : writings) {
      free(writing.tensor);
    }
    asyncBackward(Math.max(diskClock, clock));
  }

  private void asyncBackward(double diskFree) {
    double diskClock = diskFree;
    int issued = -1;
    int next = nextBatch(step.forwardOps);
    if (next < step.ops.size()) {
      diskClock = issue(next, diskClock);
      issued = next;
      next = nextBatch(next + 1);
    }
    for (int i = step.forwardOps; i < step.ops.size(); i++) {
      begin(i);
      if (issued == i) {
        clock = Math.max(clock, diskClock);
        computeStartMillis = clock;
      }
      diskClock = Math.max(diskClock, clock);
      while (diskClock <= clock && next < step.ops.size()) {
        diskClock = issue(next, diskClock);
        issued = next;
        next = nextBatch(next + 1);
      }
      double computed = step.ops.get(i).millis + recomputeReturning(i);
      clock += computed;
      while (next < step.ops.size() && diskClock + batchMillis(next) <= clock) {
        diskClock = issue(next, diskClock);
        issued = next;
        next = nextBatch(next + 1);
      }
      allocateOwn(i);
      finish(i);
      end(computed);
    }
  }

  /** The next operator from some on for which something must be read; their number if none. */
  private int nextBatch(int from) {
    int op = from;
    while (op < step.ops.size() && !swapsSome(step.returning[op])) {
      op++;
    }
    return op;
  }

  private boolean swapsSome(int[] maps) {
    for (int map : maps) {
      if (treatments[map] == Treatment.SWAP) {
        return true;
      }
    }
    return false;
  }

  private double batchMillis(int op) {
    double millis = 0;
    for (int map : step.returning[op]) {
      if (treatments[map] == Treatment.SWAP) {
        millis += options.inMillis(step.maps.get(map).bytes());
      }
    }
    return millis;
  }

  private double issue(int op, double diskClock) {
    allocateReturning(op);
    return read(op, diskClock);
  }

  /** Takes an operator's memory and says how long it computes, all it must recompute included. */
  private double compute(int op) {
    double millis = recomputeReturning(op) + step.ops.get(op).millis;
    allocateOwn(op);
    return millis;
  }

  private void allocateOwn(int op) {
    allocateAll(step.ops.get(op).outputs);
    allocateAll(step.ops.get(op).scratch);
  }

  private double recomputeReturning(int op) {
    double millis = 0;
    for (int place : step.returning[op]) {
      if (treatments[place] == Treatment.RECOMPUTE) {
        millis += recompute(step.maps.get(place));
      }
    }
    return millis;
  }

  /** Runs a map's operator again; what it makes besides lives no longer than that. */
  private double recompute(FeatureMap map) {
    Op producer = step.ops.get(map.producer());
    List<Integer> besides = new ArrayList<>();
    for (int[] tensors : List.of(producer.outputs, producer.scratch)) {
      for (int tensor : tensors) {
        if (!present[tensor]) {
          allocate(tensor);
          if (tensor != map.tensor()) {
            besides.add(tensor);
          }
        }
      }
    }
    besides.forEach(this::free);
    recomputeMillis += producer.millis;
    return producer.millis;
  }

  /** What comes behind computing: scratch memory goes, then what the operator releases. */
  private void finish(int op) {
    freeAll(step.ops.get(op).scratchFreed);
    freeAll(step.ops.get(op).released);
  }

  private void allocateReturning(int op) {
    for (int map : step.returning[op]) {
      if (treatments[map] == Treatment.SWAP) {
        allocate(step.maps.get(map).tensor());
      }
    }
  }

  private void freeLeaving(int op, Treatment treatment) {
    for (int map : step.leaving[op]) {
      if (treatments[map] == treatment) {
        free(step.maps.get(map).tensor());
      }
    }
  }

  private void allocateAll(int[] tensors) {
    for (int tensor : tensors) {
      allocate(tensor);
    }
  }

  private void freeAll(int[] tensors) {
    for (int tensor : tensors) {
      // What was swapped and is never read again is not there to be released.
      if (present[tensor]) {
        free(tensor);
      }
    }
  }

  private void allocate(int tensor) {
    memory.allocate(tensor, step.sizesBytes[tensor]);
    present[tensor] = true;
    changeLive(step.sizesBytes[tensor]);
  }

  private void free(int tensor) {
    memory.free(tensor);
    present[tensor] = false;
    changeLive(-step.sizesBytes[tensor]);
  }

  private void changeLive(long bytes) {
    liveBytes += bytes;
    if (opPeakBytes != null) {
      opPeakBytes[op] = Math.max(opPeakBytes[op], liveBytes);
    }
    if (timeline != null) {
      timeline.live(clock, liveBytes);
    }
  }

  /** Reads what returns at an operator, one after the other; says when the disk is done. */
  private double read(int op, double from) {
    double at = from;
    for (int place : step.returning[op]) {
      if (treatments[place] == Treatment.SWAP) {
        FeatureMap map = step.maps.get(place);
        at = transfer(false, map, at, options.inMillis(map.bytes()));
        bytesIn += map.bytes();
      }
    }
    return at;
  }

  /** Writes what leaves at an operator, one after the other; says when the disk is done. */
  private double write(int op, double from) {
    double at = from;
    for (int place : step.leaving[op]) {
      if (treatments[place] == Treatment.SWAP) {
        at = write(step.maps.get(place), at);
      }
    }
    return at;
  }

  private double write(FeatureMap map, double from) {
    bytesOut += map.bytes();
    return transfer(true, map, from, options.outMillis(map.bytes()));
  }

  private double transfer(boolean out, FeatureMap map, double from, double millis) {
    if (timeline != null) {
      timeline.add(
          new Timeline.Transfer(out, step.ids[map.tensor()], map.bytes(), from, from + millis));
    }
    return from + millis;
  }

  private void begin(int newOp) {
    op = newOp;
    startMillis = clock;
    computeStartMillis = clock;
    if (opPeakBytes != null) {
      opPeakBytes[op] = liveBytes;
    }
  }

  private void end(double computeMillis) {
    if (timeline != null) {
      timeline.add(
          new Timeline.Op(
              op, step.ops.get(op).name, startMillis, clock, computeStartMillis, computeMillis));
    }
  }
}
