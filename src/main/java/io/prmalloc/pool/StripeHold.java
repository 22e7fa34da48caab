package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.OutOfLine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * That a thread holds a stripe, or that nobody does: how blocks are claimed meanwhile. See {@link
 * StripeBias}.
 *
 * <p>Threading: any thread.
 */
class StripeHold {

  private static final VarHandle BUSY;
  private static final VarHandle REVOKED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      BUSY = lookup.findVarHandle(StripeHold.class, "busy", int.class);
      REVOKED = lookup.findVarHandle(StripeHold.class, "revoked", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Of blocks that nobody ever holds. Nothing is written to it. */
  static final StripeHold NEVER = vacant(null, 0, 0);

  // Two holds must not share a cache line, nor two lines that the processor fetches together, with
  // each other or with anything that others write. Behind, that takes a subclass.
  @SuppressWarnings("UnusedVariable")
  private long pad0, pad1, pad2, pad3, pad4, pad5, pad6, pad7;

  /** Null where nobody is ever to hold anything. */
  private final StripeBias bias;

  private final int stripe;
  private final long mark;

  /** Null for nobody. */
  private final Thread thread;

  private final long sinceNanos = System.nanoTime();

  @SuppressWarnings("UnusedVariable") // through BUSY
  private int busy;

  @SuppressWarnings("UnusedVariable") // through REVOKED
  private boolean revoked;

  /** Counts the claims of those who are not the holder. */
  private final StripeHold counter;

  /**
   * How many claims of others it takes until one of them may be the holder. Only of a {@link
   * #counter}. Plain: nearly right is enough.
   */
  private int claimsToWait;

  /** What that was when {@link #isIdle} was asked. */
  private int claimsSeen;

  /** The only class there is. */
  private static final class Padded extends StripeHold {
    @SuppressWarnings("UnusedVariable")
    private long pad8, pad9, pad10, pad11, pad12, pad13, pad14, pad15;

    Padded(StripeBias bias, int stripe, Thread thread, StripeHold counter) {
      super(bias, stripe, thread, counter);
    }
  }

  private StripeHold(StripeBias bias, int stripe, Thread thread, StripeHold counter) {
    this.bias = bias;
    this.stripe = stripe;
    this.mark = thread == null ? 0 : Block.markOfCaller();
    this.thread = thread;
    this.counter = counter == null ? this : counter;
  }

  /**
   * A stripe that nobody holds.
   *
   * @param claimsToWait how many claims it takes until somebody does
   */
  static StripeHold vacant(StripeBias bias, int stripe, int claimsToWait) {
    StripeHold vacant = new Padded(bias, stripe, null, null);
    vacant.waitForClaims(claimsToWait);
    return vacant;
  }

  /**
   * A stripe that the calling thread holds.
   *
   * @param counter counts the claims of others
   */
  static StripeHold ofCaller(StripeBias bias, int stripe, StripeHold counter) {
    return new Padded(bias, stripe, Thread.currentThread(), counter);
  }

  // There is one compare-and-set for all: beyond a size the JIT inlines no allocation, and then a
  // user's handle goes to the heap (see OutOfLine).

  /**
   * Claims a block that is home and has no mark but that of the calling thread, or gives null.
   *
   * @param word where it was found
   */
  final PooledBlock claim(PooledBlock block, ReadyWord word) {
    return claimMarked(block) || claimUnmarked(block, word) ? block : passOver(block);
  }

  private static PooledBlock passOver(PooledBlock block) {
    block.passedOver(OutOfLine.DEPTH);
    return null;
  }

  /** Claims a block that is home and has the mark of the calling thread. */
  final boolean claimMarked(PooledBlock block) {
    return isMine() && claimOwn(block);
  }

  private boolean claimOwn(PooledBlock block) {
    boolean claimed = begin() && block.claimMarked(mark);
    end();
    return claimed;
  }

  private boolean claimUnmarked(PooledBlock block, ReadyWord word) {
    return block.claim(markToGive(), word);
  }

  /**
   * The mark that the calling thread gives to what it claims by a compare-and-set. If it is not the
   * holder that is none, and the claim is counted.
   */
  private long markToGive() {
    if (isMine()) {
      return mark;
    }
    if (bias != null) {
      counter.countDown();
    }
    return 0;
  }

  private void countDown() {
    if (--claimsToWait < 0) {
      bias.takeOrEndHold(stripe, OutOfLine.DEPTH);
    }
  }

  /**
   * {@link #claim Claims} a block that is not isolated, and begins a use of it.
   *
   * @param word where it was found
   * @return its stamp, or 0
   */
  final long open(PooledBlock block, ReadyWord word, long bytes) {
    long stamp = isMine() ? openOwn(block, bytes) : 0;
    return stamp != 0 ? stamp : openUnmarked(block, word, bytes);
  }

  private long openOwn(PooledBlock block, long bytes) {
    long stamp = begin() ? block.beginMarked(mark, bytes) : 0;
    end();
    return stamp;
  }

  /** Claims a block that the calling thread holds, and begins a use as the one before, or 0. */
  final long reopen(PooledBlock block, long extent) {
    return isMine() ? reopenOwn(block, extent) : 0;
  }

  private long reopenOwn(PooledBlock block, long extent) {
    long stamp = begin() ? block.reopenMarked(mark, extent) : 0;
    end();
    return stamp;
  }

  private long openUnmarked(PooledBlock block, ReadyWord word, long bytes) {
    long stamp = block.beginUnmarked(markToGive(), word, bytes);
    if (stamp == 0) {
      block.passedOver(OutOfLine.DEPTH);
    }
    return stamp;
  }

  /** The holder begins to claim; false if its hold is revoked. */
  final boolean begin() {
    BUSY.setOpaque(this, 1);
    return !((boolean) REVOKED.getOpaque(this));
  }

  /** Ends what {@link #begin} began, whatever that said. */
  final void end() {
    BUSY.setRelease(this, 0);
  }

  /** Whether the calling thread holds the stripe, or did. */
  final boolean isMine() {
    return thread == Thread.currentThread();
  }

  final boolean isSomebodys() {
    return thread != null;
  }

  /** Whether the calling thread may claim a block, and nobody need lose a hold for it. */
  final boolean mayHave(PooledBlock block) {
    return block.isUnmarkedAtHome() || (isMine() && block.isMarkedAtHome(mark));
  }

  /**
   * Which of some blocks the calling thread {@link #mayHave}; and if it is the holder it marks
   * those, and will claim them for less.
   *
   * @param some by their bits
   * @param lasting as of {@link Block#mark}
   * @param word where they are noted
   * @param depth {@link OutOfLine#DEPTH}
   */
  final long mark(long some, boolean lasting, ReadyWord word, int depth) {
    // Out of line: where the caller's variables have the registers the first loop is twice as long,
    // and so fewer of the looks begin while the first one waits for a line that another thread
    // wrote. It is a twentieth of what a block costs a producer.
    if (depth > 0) {
      return mark(some, lasting, word, depth - 1);
    }
    long rest = isMine() ? word.withoutMark(some, mark) : some;
    long had = some & ~rest;
    for (long left = rest; left != 0; left &= left - 1) {
      had |= mark(word.block(left), lasting, word) ? left & -left : 0;
    }
    return had;
  }

  private boolean mark(PooledBlock block, boolean lasting, ReadyWord word) {
    return isMine() ? block.mark(mark, lasting, word) : block.isUnmarkedAtHome();
  }

  /**
   * Whether nobody but the holder, if there is one, claimed anything in the stripe since this was
   * asked the last time. Only of a {@link #counter}; false if in doubt.
   */
  final boolean isIdle() {
    int claims = claimsToWait;
    boolean same = claims == claimsSeen;
    claimsSeen = claims;
    return same;
  }

  /** Ends the hold, or lets it go on, before and after a barrier. */
  final void revoke(boolean whether) {
    REVOKED.setVolatile(this, whether);
  }

  /**
   * Whether the holder is in the middle of a claim. If it ended there, as an error may bring about,
   * it is not.
   */
  final boolean isBusy() {
    return (int) BUSY.getAcquire(this) != 0 && !isEnded();
  }

  /** Whether the holder will never claim again. */
  final boolean isEnded() {
    return !thread.isAlive();
  }

  /** Counts anew; only of a stripe that nobody holds. */
  final void waitForClaims(int claims) {
    claimsToWait = claims;
  }

  final long sinceNanos() {
    return sinceNanos;
  }
}
