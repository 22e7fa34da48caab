package io.prmalloc.trace.replay;

import io.prmalloc.trace.Trace;

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

  private static final long PAGE_BYTES = 4096;

  private final Lane lane;
  private final Trace trace;
  private final int[] events;
  private final long[] sizesBytes;
  private final boolean all;

  /** Bytes from one write to the next, 0 for no writes. */
  private final long stride;

  PlainStepLoop(Lane lane, Trace trace, Touch touch) {
    this.lane = lane;
    this.trace = trace;
    this.events = trace.events();
    this.sizesBytes = trace.sizesBytes();
    this.all = touch == Touch.ALL;
    this.stride = touch == Touch.FIRST ? Long.MAX_VALUE : touch == Touch.PAGE ? PAGE_BYTES : 0;
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
            verify(~event, stepSeed);
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

  private void verify(int tensor, long stepSeed) {
    long seed = Pattern.seed(stepSeed, tensor);
    long offset = lane.mismatch(tensor, sizesBytes[tensor], seed);
    if (offset >= 0) {
      throw new ReplayFailure(
          "the byte at offset "
              + offset
              + " is 0x"
              + hex(lane.byteAt(tensor, offset))
              + ", expected 0x"
              + hex(Pattern.byteAt(seed, offset))
              + ": somebody else wrote there");
    }
  }

  private static String hex(byte value) {
    return Integer.toHexString((value & 0xff) | 0x100).substring(1);
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
