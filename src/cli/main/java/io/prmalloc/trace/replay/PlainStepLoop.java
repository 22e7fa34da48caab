package io.prmalloc.trace.replay;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.Lane;

/**
 * The loop that is measured. Everything it needs is in arrays and primitive fields; beside the
 * events it does nothing but call the lane.
 *
 * <p>{@link StepLoops} loads this class anew for each run, so it must not hold lambdas or switches
 * over enums (they would be shared by, or missing from, the copies).
 *
 * <p>Threading: one thread at a time.
 */
final class PlainStepLoop implements StepLoop {

  private static final long LEAST_SCALED_BYTES = 64;

  private final Lane lane;
  private final Trace trace;
  private final int[] events;
  private final long[] sizesBytes;

  /** The trace's own sizes, of which those above are multiples. */
  private final long[] unscaledBytes;

  private final boolean all;

  /** Bytes from one write to the next, 0 for no writes. */
  private final long stride;

  PlainStepLoop(Lane lane, Trace trace, Touch touch) {
    this.lane = lane;
    this.trace = trace;
    this.events = trace.events();
    this.sizesBytes = trace.sizesBytes();
    this.unscaledBytes = trace.sizesBytes();
    this.all = touch == Touch.ALL;
    this.stride = Touch.strideBytes(touch);
  }

  @Override
  public void scale(double factor) {
    for (int tensor = 0; tensor < sizesBytes.length; tensor++) {
      sizesBytes[tensor] = scaledBytes(unscaledBytes[tensor], factor);
    }
  }

  /** The size of a tensor in a step of a factor. */
  static long scaledBytes(long bytes, double factor) {
    return Math.max(LEAST_SCALED_BYTES, (long) (bytes * factor));
  }

  @Override
  public void run(long stepSeed) {
    int k = 0;
    try {
      for (; k < events.length; k++) {
        int event = events[k];
        if (event >= 0) {
          allocate(event, stepSeed);
        } else {
          if (all) {
            Pattern.verify(lane, ~event, sizesBytes[~event], Pattern.seed(stepSeed, ~event));
          }
          lane.release(~event);
        }
      }
    } catch (RuntimeException | OutOfMemoryError e) {
      throw describe(events[k], e);
    }
  }

  private void allocate(int tensor, long stepSeed) {
    long bytes = sizesBytes[tensor];
    lane.allocate(tensor, bytes);
    if (stride != 0) {
      lane.write(tensor, bytes, stride, stepSeed);
    } else if (all) {
      lane.fill(tensor, bytes, Pattern.seed(stepSeed, tensor));
    }
  }

  private ReplayFailure describe(int event, Throwable e) {
    int tensor = event >= 0 ? event : ~event;
    String what = e instanceof ReplayFailure ? e.getMessage() : e.toString();
    return new ReplayFailure(
        (event >= 0 ? "allocating" : "releasing")
            + " tensor "
            + trace.id(tensor)
            + " of "
            + sizesBytes[tensor]
            + " bytes: "
            + what,
        e);
  }
}
