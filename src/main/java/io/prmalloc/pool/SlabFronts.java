package io.prmalloc.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where small requests look first: the slab that serves a size class, by stripe.
 *
 * <p>Threading: any thread.
 */
final class SlabFronts {

  // One array for all classes. After each close, which is a locked instruction, the processor reads
  // its way to the next slot anew, each step when the one before is there. By way of an object for
  // each class, with an array and the stripes behind it, a pair took a quarter longer.

  private static final VarHandle SLAB = MethodHandles.arrayElementVarHandle(Slab[].class);

  /** A stripe has room for as many classes. */
  private static final int CLASSES_SHIFT =
      Integer.SIZE - Integer.numberOfLeadingZeros(SizeClasses.count() - 1);

  private final Slab[] slabs;
  private final Stripes stripes;
  private final int stripeMask;

  SlabFronts(Stripes stripes) {
    this.stripes = stripes;
    this.stripeMask = stripes.count() - 1;
    this.slabs = new Slab[stripes.count() << CLASSES_SHIFT];
  }

  Stripes stripes() {
    return stripes;
  }

  /** The slab that serves a class for the calling thread, or null. */
  Slab slab(int sizeClass) {
    // Acquire: of what was set by another thread all is seen.
    return (Slab) SLAB.getAcquire(slabs, at(stripe(), sizeClass));
  }

  /** {@link Stripes#current}, without the way there. */
  private int stripe() {
    return (int) Thread.currentThread().getId() & stripeMask;
  }

  private static int at(int stripe, int sizeClass) {
    return (stripe << CLASSES_SHIFT) | sizeClass;
  }

  /** Lets a slab serve a class for a stripe, or none if it is null. */
  void set(int stripe, int sizeClass, Slab slab) {
    SLAB.setRelease(slabs, at(stripe, sizeClass), slab);
  }
}
