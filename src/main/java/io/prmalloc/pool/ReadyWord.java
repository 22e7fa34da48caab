package io.prmalloc.pool;

import io.prmalloc.ReadyBits;

/**
 * Which of 64 blocks with numbers in a row a stripe may have ready, and who holds the stripe.
 *
 * <p>Threading: any thread.
 */
class ReadyWord extends ReadyBits {

  /** By number, of all words. */
  private final PooledBlock[] blocks;

  private final int firstNumber;

  /** Who holds the stripe, or did a moment ago: it says itself when it is revoked. */
  private StripeHold hold;

  /** The only class there is: what is written in every use has two cache lines for itself. */
  private static final class Padded extends ReadyWord {
    @SuppressWarnings("UnusedVariable")
    private long pad8, pad9, pad10, pad11, pad12, pad13, pad14, pad15;

    Padded(PooledBlock[] blocks, int firstNumber) {
      super(blocks, firstNumber);
    }
  }

  private ReadyWord(PooledBlock[] blocks, int firstNumber) {
    this.blocks = blocks;
    this.firstNumber = firstNumber;
    this.hold = StripeHold.NEVER;
  }

  /**
   * A word of a stripe that nobody holds, and nothing is ready.
   *
   * @param blocks by number, of all words; may be filled later
   */
  static ReadyWord of(PooledBlock[] blocks, int firstNumber) {
    return new Padded(blocks, firstNumber);
  }

  final void heldBy(StripeHold now) {
    hold = now;
  }

  /** The bits of all that is noted, of the blocks with the numbers from one to another. */
  final long bits(int first, int last) {
    return bits() & BlockNumbers.maskOf(BlockNumbers.wordAt(firstNumber), first, last);
  }

  /** The block with the lowest of some bits. */
  final PooledBlock block(long some) {
    return blocks[firstNumber + Long.numberOfTrailingZeros(some)];
  }

  /** Those of some blocks that are not at home with a mark. Looks at all of them. */
  final long withoutMark(long some, long mark) {
    // The JIT would read these fields anew after each look.
    PooledBlock[] numbered = blocks;
    int first = firstNumber;
    long without = 0;
    for (long left = some; left != 0; left &= left - 1) {
      PooledBlock block = numbered[first + Long.numberOfTrailingZeros(left)];
      without |= block.isMarkedAtHome(mark) ? 0 : left & -left;
    }
    return without;
  }

  /** The first of the noted ones among some blocks, no longer noted then, or null. */
  final PooledBlock removeFirst(long mask) {
    long noted = bits();
    long found = noted & mask;
    return found != 0 ? remove(noted, found) : null;
  }

  private PooledBlock remove(long noted, long found) {
    setBits(noted & ~(found & -found));
    return block(found);
  }

  /** The first of some blocks that are noted, no longer noted then. */
  final PooledBlock remove(long found) {
    return remove(bits(), found);
  }

  /** The same for any stripe's thread: nothing is lost that is noted meanwhile. */
  final PooledBlock removeAtomically(long found) {
    forgetAtomically(found & -found);
    return block(found);
  }

  /** Notes some blocks, too. For its own stripe's thread. */
  final void noteAll(long some) {
    setBits(bits() | some);
  }

  /** The same for any stripe's thread, of what it removed. */
  final void noteAllAtomically(long some) {
    noteAtomically(some);
  }

  /** No longer notes some blocks; as {@link #removeAtomically}. */
  final void removeAll(long some) {
    if (some != 0) {
      forgetAtomically(some);
    }
  }

  /** Claims the first of the noted ones among some blocks, or gives null. */
  final PooledBlock takeFirst(long mask) {
    PooledBlock block = removeFirst(mask);
    return block == null ? null : hold.claim(block, this);
  }

  /**
   * Claims a block that may be noted here, if the calling thread holds it, and begins a use as the
   * one before. It stays noted.
   *
   * @param extent of the use
   * @return its stamp, or 0
   */
  final long reopen(PooledBlock block, long extent) {
    // The close will note it again. To clear the bit meanwhile would be to read what the last close
    // wrote and to write what the next one reads, and the next compare-and-set waits for both: a
    // fifth of a pair, on some processors. Who is misled by it says so: see ReadyBlocks.passedOver.
    return hold.reopen(block, extent);
  }

  /** No longer notes a block if it is out; as {@link #removeAtomically}. */
  final void forgetIfOut(PooledBlock block) {
    if (!block.isAtHome()) {
      forgetAtomically(block.bit());
      if (block.isAtHome()) {
        noteAtomically(block.bit());
      }
    }
  }

  final boolean isHeldByCaller() {
    return hold.isMine();
  }

  /**
   * Claims what {@link #removeFirst} found here, and begins a use of it. Not of blocks that are
   * isolated.
   *
   * @param block may be null
   * @return the stamp of the use, or 0: then it could not be had
   */
  final long open(PooledBlock block, long bytes) {
    return block == null ? 0 : hold.open(block, this, bytes);
  }
}
