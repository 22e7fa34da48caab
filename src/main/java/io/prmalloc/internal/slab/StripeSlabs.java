package io.prmalloc.internal.slab;

import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Which slabs of a size class serve, by stripe, and which rest for a stripe.
 *
 * <p>Threading: {@link #of} and {@link #serving}, any thread; all else under the class's lock.
 */
final class StripeSlabs {

  // A stripe is served from one slab. When that is exhausted it leaves the stripe, and what comes
  // home goes to its stack (see SlabClass), which is as well where its own thread closes it. A
  // producer's slots are closed by other threads. Those would claim and push each, the producer
  // would pop and claim it, and both would come for the class's lock at each slab.
  //
  // So where another stripe's thread brought home the first slot of an exhausted slab, the next
  // slabs that are exhausted rest: they stay the stripe's, their fronts stay open, and what comes
  // home is noted there, by its closer. Of those that rest, the one that has the most ready is the
  // next to serve.
  //
  // All together no more slots rest than may be spare. What would be more leaves the stripe as
  // above, that which rested longest first. Nothing is stranded: whoever needs a slab and finds
  // none free takes one that rests for another, before there is a new one.

  private static final Slab[] NONE = {};

  private final Stripes stripes;

  /**
   * By stripe, the slab that serves, and behind it those that rest, the last one longest. No array
   * is changed.
   */
  private final AtomicReferenceArray<Slab[]> slabs;

  /** Whether others close what a stripe takes. */
  private final boolean[] handsOver;

  private final int mostResting;

  /**
   * No slab serves.
   *
   * @param mostResting how many slots may rest, of all stripes together
   */
  StripeSlabs(Stripes stripes, int mostResting) {
    this.stripes = stripes;
    this.slabs = new AtomicReferenceArray<>(stripes.count());
    this.handsOver = new boolean[stripes.count()];
    this.mostResting = mostResting;
    clear();
  }

  /** No slab serves or rests. */
  void clear() {
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      slabs.set(stripe, NONE);
    }
  }

  /** The slab that serves a stripe, if there is one, and those that rest for it. */
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

  /** How many slots the slabs have that rest. */
  int restingSlots() {
    int slots = 0;
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      slots += restingSlots(of(stripe));
    }
    return slots;
  }

  private static int restingSlots(Slab[] its) {
    int slots = 0;
    for (int i = 1; i < its.length; i++) {
      slots += its[i].slots();
    }
    return slots;
  }

  /** Notes whose thread brought home the first slot of an exhausted slab, or the last one. */
  void noteCloser(Slab slab, int closer) {
    handsOver[slab.stripe()] = closer != slab.stripe();
  }

  /** Of the slabs that rest for a stripe the one that has the most slots ready, or null. */
  Slab readiest(int stripe) {
    Slab[] its = of(stripe);
    Slab readiest = null;
    int most = 0;
    for (int i = 1; i < its.length; i++) {
      int ready = its[i].readyBlocks();
      // Of two the one that rested longer.
      if (ready > 0 && ready >= most) {
        readiest = its[i];
        most = ready;
      }
    }
    return readiest;
  }

  /**
   * Lets a slab serve that rests for a stripe or is no stripe's, and the one that served rest if it
   * may.
   *
   * @return which slabs are no longer the stripe's
   */
  List<Slab> serve(int stripe, Slab slab) {
    slab.serve(stripe);
    Slab[] before = of(stripe);
    int room = mostResting - (restingSlots() - restingSlots(before));
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

  /** Takes a slab from its stripe, if it serves or rests there; answers whether so. */
  boolean remove(Slab slab) {
    List<Slab> its = new ArrayList<>(List.of(of(slab.stripe())));
    boolean removed = its.remove(slab);
    if (removed) {
      slabs.set(slab.stripe(), its.toArray(NONE));
    }
    return removed;
  }

  /**
   * Takes a slot of a stripe's slabs, of which no bit tells, or one of another stripe's slabs; or
   * gives null.
   */
  PooledBlock takeFromAny(int stripe) {
    // Its own first. Where two threads of a stripe lose bits, each would soon live on other
    // stripes' slabs, and by its closes have bits lost there, too, until hardly any are left.
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
