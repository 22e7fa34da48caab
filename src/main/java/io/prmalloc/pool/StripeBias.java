package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.OutOfLine;
import io.prmalloc.os.ProcessBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;

/**
 * Lets one thread of each stripe, its holder, claim what it closed itself without an atomic
 * instruction.
 *
 * <p>The idea is that of biased locks (Kawachiya, Koseki and Onodera, OOPSLA 2002) that are revoked
 * by a barrier in other threads (Dice, Huang and Yang, 2001), here for the blocks of a stripe.
 * Threading: any thread.
 */
final class StripeBias {

  // A compare-and-set costs five nanoseconds, and a pair had two. The one in close is what makes a
  // second close, by whichever thread, an exception; it stays. The one that claims a block keeps
  // two takers apart, and nearly always there is but one: a thread takes what it closed before.
  //
  // So what the holder of a stripe takes gets the stripe's mark in its state, and keeps it when a
  // thread of that stripe closes it. Nobody but the holder may claim a marked block; others claim
  // blocks without a mark, by a compare-and-set as ever. Whoever wants a marked one revokes first:
  //
  //   holder                        who revokes
  //   ------                        -----------
  //   busy = 1                      the stripe is REVOKING   (compare-and-set)
  //   not revoked?                  revoked = true
  //     block home with my mark?    process-wide barrier
  //       block = claimed or live   wait until busy = 0
  //   busy = 0  (release)           take the mark off all blocks at home
  //                                 the stripe is nobody's
  //
  // Either the holder wrote busy before the barrier interrupted it: then that is seen, and its end
  // is waited for. Or it did not, and looks at `revoked` after the barrier: then it claims nothing.
  // The holder's own write and read need no barrier between them, only to stay in their order,
  // which opaque accesses do (see ProcessBarrier). Where there is no such barrier nobody ever holds
  // anything, and all is as if this class were not there; it may come later, so it is asked again.
  //
  // A thread that lost its hold may be anywhere on the left side, and write busy late. So each hold
  // is an object of its own, with its own busy and revoked, and is never taken up again.
  //
  // What a thread of another stripe closes loses the mark, for the compare-and-set is there anyhow.
  // So what a consumer closes can be claimed by anybody, and costs a producer no revocation. What
  // was live during a revocation comes home with the mark of a stripe that nobody holds. It is not
  // lost: who wants it revokes again, without a barrier, for there is no holder; or the next holder
  // takes it.
  //
  // A mark may also last, whoever closes the block, until somebody revokes. A holder marks so what
  // it gets from a thread that claims nothing: that one does not want it, and to mark each block
  // anew each time is a third of what a producer has to do (see ReadyChunks). So are the slots of a
  // slab that rested while others closed them (see StripeSlabs). If the consumer wants blocks after
  // all, or another thread closes some that does, it comes upon blocks that it cannot have, and
  // revokes. So that this does not come again and again, no hold marks for good that followed a
  // short one, until it has itself lasted: where roles change all the time, a thread is revoked for
  // it a few times in a tenth of a second, and no more often.
  //
  // To revoke costs some microseconds, which a thousand claims without it gain. So a stripe that
  // was revoked soon after it was taken hold of waits for four times as many claims until the next
  // time, and for fewer again after a hold that lasted.
  // Two threads of one stripe, and threads that live on what others have, soon work as if there
  // were no bias. Virtual threads hold nothing: they are too many and too short-lived.
  //
  // A holder may never come back: it has ended, or its executor gives the work to others. So claims
  // of others are counted, too, and after a thousand one of them revokes. If the holder works, too,
  // the stripe soon is nobody's, as above. A thousand is few: what the JIT compiles while nobody
  // claims for less inlines nothing of that way, and is not compiled anew.

  private static final VarHandle HOLDS = MethodHandles.arrayElementVarHandle(StripeHold[].class);

  /** How many claims it takes to take hold of a stripe. */
  private static final int FIRST_WAIT = 64;

  private static final int LONGEST_WAIT = 1 << 20;

  private static final int WAIT_FACTOR = 4;

  /** After how many claims of others a hold is revoked. */
  private static final int OTHERS_WAIT = 1 << 10;

  /** A hold that lasted so long was worth its revocation, even if others had the processor. */
  private static final long LONG_NANOS = 100_000_000;

  /** So often a thread looks before it gives up, first by itself and then between yields. */
  private static final int SPINS = 200;

  private static final int YIELDS = 50;

  /**
   * Whether there is the barrier. Asked first when this is made, for to find out may take a tenth
   * of a second then; where there is none, it may be there later, and that is found out at once.
   * Plain: it goes from no to yes, once.
   */
  private boolean barrier;

  /** Who holds each stripe just now. */
  private final StripeHold[] holds;

  private final Stripes stripes;
  private final Owner owner;

  /** By stripe, that nobody holds it. */
  private final StripeHold[] vacant;

  /** Of a stripe whose hold somebody revokes. */
  private final StripeHold revoking = StripeHold.vacant(this, 0, Integer.MAX_VALUE);

  /** By stripe, how many claims the next hold takes. Of who revokes. */
  private final int[] waits;

  /** Whose blocks are claimed. */
  interface Owner {

    /**
     * Says who holds a stripe from now on, or who holds it still. Of two that change it at one
     * moment the last one is said last. Threading: any thread.
     */
    void heldBy(StripeHold hold, int stripe);

    /**
     * Goes through the blocks among which a stripe's thread looks for one, whatever their states.
     * Threading: any thread.
     */
    void forEachBlock(int stripe, Consumer<PooledBlock> action);
  }

  /**
   * Nobody holds anything, and the owner has not heard of it: see {@link #tell}.
   *
   * @param any whether there is anything to claim
   */
  StripeBias(Stripes stripes, boolean any, Owner owner) {
    this.stripes = stripes;
    this.owner = owner;
    this.holds = new StripeHold[any ? stripes.count() : 0];
    this.barrier = any && ProcessBarrier.isSupported();
    this.waits = new int[holds.length];
    int wait = barrier ? FIRST_WAIT : LONGEST_WAIT;
    Arrays.fill(waits, wait);
    this.vacant = new StripeHold[holds.length];
    Arrays.setAll(vacant, stripe -> StripeHold.vacant(this, stripe, wait));
    System.arraycopy(vacant, 0, holds, 0, holds.length);
  }

  /** Tells the owner who holds each stripe. */
  void tell() {
    for (int stripe = 0; stripe < holds.length; stripe++) {
      tell(stripe, owner::heldBy);
    }
  }

  /**
   * Claims a block that is home, whosever it is. If it is another thread's for less, then that
   * thread loses its hold on its stripe; false also if it did not get out of the way for a while.
   */
  boolean claim(PooledBlock block) {
    return block.claim() || holds[stripes.current()].claimMarked(block) || claimByRevocation(block);
  }

  private boolean claimByRevocation(PooledBlock block) {
    long stamp = block.stamp();
    if (!Block.isHome(stamp) || !Block.isMarked(stamp)) {
      return false;
    }
    int stripe = Block.markerOf(stamp) & (holds.length - 1);
    StripeHold hold = holdOf(stripe);
    if (hold.isMine() && Block.isMarkOfCaller(stamp)) {
      // It came home after the look at it: no reason to end the own hold.
      return hold.claimMarked(block);
    }
    return revoke(stripe, block) && block.claim();
  }

  /** Whether somebody else holds a stripe than the calling thread. */
  boolean isHeldByAnother(int stripe) {
    StripeHold hold = holdOf(stripe);
    return hold.isSomebodys() && !hold.isMine();
  }

  /**
   * Whether the marks may last that the calling thread gives to what it gets from another stripe.
   *
   * @param to its own stripe
   */
  boolean mayLast(int from, int to) {
    return !holdOf(from).isSomebodys() && vacant[from].isIdle() && mayLast(to);
  }

  /** Whether those may last that the calling thread gives to what others closed; its stripe. */
  boolean mayLast(int stripe) {
    StripeHold mine = holdOf(stripe);
    return mine.isMine() && (waits[stripe] == FIRST_WAIT || isOld(mine));
  }

  /**
   * So many claims were counted of threads that do not hold a stripe that the calling thread may be
   * its holder, if there is none and it is its own stripe; and that another's hold ends. Out of
   * line: see {@link OutOfLine}.
   */
  void takeOrEndHold(int stripe, int depth) {
    if (depth > 0) {
      takeOrEndHold(stripe, depth - 1);
    } else {
      takeOrEndHold(stripe);
    }
  }

  private void takeOrEndHold(int stripe) {
    if (holdOf(stripe).isSomebodys()) {
      vacant[stripe].waitForClaims(OTHERS_WAIT);
      revoke(stripe);
    } else {
      vacant[stripe].waitForClaims(waits[stripe]);
      takeVacant(stripe);
    }
  }

  private void takeVacant(int stripe) {
    barrier = barrier || ProcessBarrier.isSupported();
    // A hold of another stripe than its thread's own would not be found by the mark that it gives,
    // and so not be revoked.
    if (!barrier || stripe != stripes.current() || VirtualThreads.isCurrent()) {
      return;
    }
    StripeHold mine = StripeHold.ofCaller(this, stripe, vacant[stripe]);
    if (HOLDS.compareAndSet(holds, stripe, vacant[stripe], mine)) {
      vacant[stripe].waitForClaims(OTHERS_WAIT);
    }
    tell(stripe, owner::heldBy);
  }

  /**
   * Tells who holds a stripe, and again if that changes meanwhile.
   *
   * @param listener may pass it on to what became of the stripe by a volatile write before: whoever
   *     changes the hold next sees that, or the change is seen here
   */
  void tell(int stripe, ObjIntConsumer<StripeHold> listener) {
    StripeHold told = null;
    for (StripeHold now = holdOf(stripe); now != told; now = holdOf(stripe)) {
      listener.accept(now, stripe);
      told = now;
      // What was told must be seen by whoever changes it after the next look, and tells the last.
      VarHandle.fullFence();
    }
  }

  /** Who holds a stripe just now, or that nobody does. */
  StripeHold holdOf(int stripe) {
    return (StripeHold) HOLDS.getVolatile(holds, stripe);
  }

  /**
   * Takes the mark of a stripe off all blocks that are home, of the owner's and some others. Nobody
   * holds the stripe then.
   *
   * @return false, and nothing has changed, if another thread was in the middle of a claim, or did
   *     the same, and did not get on for a while
   */
  boolean revoke(int stripe, PooledBlock... others) {
    StripeHold revoked = lock(stripe);
    if (revoked == null) {
      return false;
    }
    try {
      Consumer<PooledBlock> unmark = block -> block.unmark(stripe, holds.length - 1);
      owner.forEachBlock(stripe, unmark);
      Arrays.asList(others).forEach(unmark);
      if (revoked.isSomebodys()) {
        waits[stripe] =
            isOld(revoked)
                ? Math.max(waits[stripe] / WAIT_FACTOR, FIRST_WAIT)
                : Math.min(waits[stripe] * WAIT_FACTOR, LONGEST_WAIT);
      }
      vacant[stripe].waitForClaims(waits[stripe]);
    } finally {
      // Also if an error came between: marks that are left are those of a stripe that nobody holds.
      publish(stripe, vacant[stripe]);
    }
    return true;
  }

  /** Ends the holds of threads that have ended: a hold refers to its thread, and to all it had. */
  void endHoldsOfEnded() {
    for (int stripe = 0; stripe < holds.length; stripe++) {
      StripeHold hold = holdOf(stripe);
      if (hold.isSomebodys() && hold.isEnded()) {
        revoke(stripe);
      }
    }
  }

  /** Whose the stripe was, if nobody claims by that any more, or null. */
  private StripeHold lock(int stripe) {
    for (int look = 0; look < SPINS + YIELDS; look++) {
      StripeHold seen = (StripeHold) HOLDS.getAcquire(holds, stripe);
      if (seen != revoking && HOLDS.compareAndSet(holds, stripe, seen, revoking)) {
        return lock(stripe, seen);
      }
      pause(look);
    }
    return null;
  }

  private StripeHold lock(int stripe, StripeHold seen) {
    boolean ended = false;
    try {
      ended = end(seen);
      return ended ? seen : null;
    } finally {
      if (!ended) {
        seen.revoke(false);
        publish(stripe, seen);
      }
    }
  }

  private static boolean isOld(StripeHold hold) {
    return System.nanoTime() - hold.sinceNanos() >= LONG_NANOS;
  }

  private void publish(int stripe, StripeHold hold) {
    // Release: whoever holds it next sees which blocks have no mark. Volatile: see tell.
    HOLDS.setVolatile(holds, stripe, hold);
    tell(stripe, owner::heldBy);
  }

  private static boolean end(StripeHold hold) {
    if (!hold.isSomebodys()) {
      return true;
    }
    hold.revoke(true);
    ProcessBarrier.run();
    for (int look = 0; look < SPINS + YIELDS; look++) {
      if (!hold.isBusy()) {
        return true;
      }
      pause(look);
    }
    return false;
  }

  @SuppressWarnings("ThreadPriorityCheck") // lets the other go on where there is but one processor
  private static void pause(int look) {
    if (look < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
