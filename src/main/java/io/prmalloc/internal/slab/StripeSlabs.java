package io.prmalloc.internal.slab;

import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The slabs of one size class that serve, by stripe, and those that are retained for a stripe.
 *
 * <p>Threading: {@link #of} and {@link #serving}, any thread; all else under the class's lock.
 */
final class StripeSlabs {

  // A stripe is served from one slab. When that is exhausted it leaves the stripe, and slots that
  // are freed go to the slab's stack (see SlabClass). That is good where the stripe's own threads
  // close its slots. The slots of a producer are closed by other threads. Each of those would claim
  // and push a slot, the producer would pop and claim it, and both would need the class's lock at
  // each slab.
  //
  // So if another stripe's thread freed the first slot of an exhausted slab, the next slabs that
  // are exhausted are retained: they stay the stripe's, their fronts stay open, and slots that are
  // freed are noted there by their closer. The retained slab that has the most free slots is the
  // next to serve.
  //
  // No more slots are retained, of all stripes together, than may be spare. Slabs beyond that leave
  // the stripe as above, the one that was retained longest first. Every slab can be reached: a
  // stripe that needs a slab and finds none free takes one that is retained for another stripe,
  // before a new one is reserved.

  private static final Slab[] NONE = {};

  private final Stripes stripes;

  /**
   * By stripe, the slab that serves, and behind it those that are retained, the last one longest.
   * No array is changed.
   */
  private final AtomicReferenceArray<Slab[]> slabs;

  /** Whether others close what a stripe takes. */
  private final boolean[] handsOver;

  private final int mostRetained;

  /**
   * No slab serves.
   *
   * @param mostRetained how many slots may be retained, of all stripes together
   */
  StripeSlabs(Stripes stripes, int mostRetained) {
    this.stripes = stripes;
    this.slabs = new AtomicReferenceArray<>(stripes.count());
    this.handsOver = new boolean[stripes.count()];
    this.mostRetained = mostRetained;
    clear();
  }

  /** No slab serves or is retained. */
  void clear() {
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      slabs.set(stripe, NONE);
    }
  }

  /** The slab that serves a stripe, if there is one, and those that are retained for it. */
  Slab[] of(int stripe) {
    return slabs.get(stripe);
  }

  /** The slab that serves a stripe, or null. */
  Slab serving(int stripe) {
    Slab[] its = of(stripe);
    return its.length == 0 ? null : its[0];
  }

  /** How many slots the slabs have that serve. */
  int servingSlots() {
    int slots = 0;
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      slots += serving(stripe) == null ? 0 : serving(stripe).slots();
    }
    return slots;
  }

  /** How many slots the retained slabs have. */
  int retainedSlots() {
    int slots = 0;
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      slots += retainedSlots(of(stripe));
    }
    return slots;
  }

  private static int retainedSlots(Slab[] its) {
    int slots = 0;
    for (int i = 1; i < its.length; i++) {
      slots += its[i].slots();
    }
    return slots;
  }

  /** Notes whose thread freed the first slot of an exhausted slab, or the last one. */
  void noteCloser(Slab slab, int closer) {
    handsOver[slab.stripe()] = closer != slab.stripe();
  }

  /** The retained slab of a stripe with the most free slots, or null. */
  Slab readiest(int stripe) {
    Slab[] its = of(stripe);
    Slab readiest = null;
    int most = 0;
    for (int i = 1; i < its.length; i++) {
      int ready = its[i].readyBlocks();
      // If two have as many, the one that was retained longer.
      if (ready > 0 && ready >= most) {
        readiest = its[i];
        most = ready;
      }
    }
    return readiest;
  }

  /**
   * Makes a slab serve that is retained for a stripe or has no stripe. The one that served is
   * retained if it may be.
   *
   * @return which slabs are no longer the stripe's
   */
  List<Slab> serve(int stripe, Slab slab) {
    slab.serve(stripe);
    Slab[] before = of(stripe);
    int room = mostRetained - (retainedSlots() - retainedSlots(before));
    boolean full = !handsOver[stripe];
    List<Slab> now = new ArrayList<>(before.length + 1);
    List<Slab> leaving = new ArrayList<>(0);
    now.add(slab);
    for (Slab other : before) {
      if (other != slab) {
        room -= other.slots();
        full |= room < 0;
        (full ? leaving : now).add(other);
      }
    }
    slabs.set(stripe, now.toArray(NONE));
    return leaving;
  }

  /** Takes a slab from its stripe, if it serves or is retained there; answers whether so. */
  boolean remove(Slab slab) {
    List<Slab> its = new ArrayList<>(List.of(of(slab.stripe())));
    boolean removed = its.remove(slab);
    if (removed) {
      slabs.set(slab.stripe(), its.toArray(NONE));
    }
    return removed;
  }

  /**
   * Takes a slot of a stripe's slabs that no bit notes, or one of another stripe's slabs; or
   * returns null.
   */
  PooledBlock takeFromAny(int stripe) {
    // Its own first. If two threads of a stripe lost bits, each would soon use other stripes'
    // slabs, and its frees would lose bits there, too, until hardly any are left.
    PooledBlock block = takeGathered(stripe);
    for (int i = 1; i < stripes.count() && block == null; i++) {
      block = takeFrom(stripes.after(stripe, i));
    }
    for (int i = 1; i < stripes.count() && block == null; i++) {
      block = takeGathered(stripes.after(stripe, i));
    }
    return block;
  }

  private PooledBlock takeFrom(int stripe) {
    PooledBlock block = null;
    for (Slab slab : of(stripe)) {
      block = block != null ? block : slab.allocate();
    }
    return block;
  }

  private PooledBlock takeGathered(int stripe) {
    for (Slab slab : of(stripe)) {
      slab.gather();
    }
    return takeFrom(stripe);
  }
}
