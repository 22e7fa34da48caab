package io.prmalloc.internal.slab;

import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.FreeIndex;
import io.prmalloc.lifetime.LifetimePolicy;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The free indexes in which small requests look first: that of the slab which serves a size class,
 * by stripe.
 *
 * <p>Threading: any thread.
 */
public final class SlabFronts {

  // One array for all classes. After each close, which is a locked instruction, the processor reads
  // its way to the next slot anew, each step when the one before is there. By way of an object for
  // each class, with an array and the stripes behind it, a pair took a quarter longer.

  private static final VarHandle FRONT = MethodHandles.arrayElementVarHandle(FreeIndex[].class);

  /** A stripe has room for as many classes. */
  private static final int CLASSES_SHIFT =
      Integer.SIZE - Integer.numberOfLeadingZeros(SizeClasses.count() - 1);

  private final FreeIndex[] fronts;
  private final Stripes stripes;
  private final int stripeMask;

  SlabFronts(Stripes stripes) {
    this.stripes = stripes;
    this.stripeMask = stripes.count() - 1;
    this.fronts = new FreeIndex[stripes.count() << CLASSES_SHIFT];
    Arrays.fill(fronts, FreeIndex.NONE);
  }

  Stripes stripes() {
    return stripes;
  }

  /** Where the calling thread looks for a slot of a class. */
  FreeIndex front(int sizeClass) {
    // Acquire: of what was set by another thread all is seen.
    return (FreeIndex) FRONT.getAcquire(fronts, at(stripe(), sizeClass));
  }

  /** Whether {@link #frontFor} is for a request: if it is small, and not of 0 bytes. */
  public static boolean areFor(long bytes) {
    // In this order: of what is larger one thing is asked.
    return bytes <= LifetimePolicy.SMALL_BYTES && bytes > 0;
  }

  /** Where the calling thread looks for some bytes, without header, of the default alignment. */
  public FreeIndex frontFor(int bytes) {
    return front(SizeClasses.classOf(bytes));
  }

  /** {@link Stripes#current}, without the call. */
  private int stripe() {
    return Stripes.callerNumber() & stripeMask;
  }

  private static int at(int stripe, int sizeClass) {
    return (stripe << CLASSES_SHIFT) | sizeClass;
  }

  /**
   * Sets the front of the slab that serves a class for a stripe; {@link FreeIndex#NONE} for none.
   */
  void set(int stripe, int sizeClass, FreeIndex front) {
    FRONT.setRelease(fronts, at(stripe, sizeClass), front);
  }
}
