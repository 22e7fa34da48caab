package io.prmalloc;

/**
 * How the word is to be read that holds a block's state.
 *
 * <p>Threading: stateless.
 */
final class BlockState {

  // A counter that goes up by 4096 with every use:
  //
  //     4096k      home      k uses are over
  //     4096k + 1  claimed   somebody alone has it, but it is not open
  //     4096k + 2  live      the stamp of use k + 1, which never comes again (2^51 uses; one each
  //                          10 ns would take nine months)
  //
  // A further bit, 4, says that somebody wants to hear of the end of this use. Who takes the block
  // sets it before the use begins, and it is part of the stamp. The compare-and-set that closes
  // such a use adds as much as any other, and leaves
  //
  //     4096k + 4  over      k uses are over, and the closer alone has it: it tells, then goes home
  //
  // so an observer costs those who are not observed a look at a number they hold in a register. The
  // bit 16 does the same for a use that is isolated, whose memory is looked at and filled at its
  // end. The bit 8 is always set in the states of a confined block, and found by the same look.
  //
  // The seven bits above those are a mark. A block at home that has one may be claimed only by the
  // thread to which that mark belongs, which therefore needs no compare-and-set (see StripeBias);
  // it keeps the mark while it is claimed and live, and loses it when another thread closes it.
  // Unless the mark lasts, which the uppermost bit says: then it stays, whoever closes the block.
  //
  // That one word answers everything a handle must know:
  //
  //   claim     home to claimed, by a compare-and-set that one of several takers wins. Where a
  //             block is found in a place that gives it to one taker alone (a stack, the system),
  //             there is nothing to win and it goes from home to live.
  //   open      to live, by a release store: whoever acquires the stamp sees the fields written
  //             before it. Who needs no compare-and-set to claim goes from home to live at once.
  //   close     live to the next home, by a compare-and-set that exactly one of several closers
  //             wins. Its release is acquired by the next claim, or through the stack on which
  //             goHome() puts the block.
  //   live?     state == stamp. A stale handle's stamp is never equal again, whoever has the
  //             block now.
  //
  // Uses are counted by the same word, so the pool needs no counter of hits on its way.

  static final long CLAIMED = 1;
  private static final long LIVE = 2;
  static final long OBSERVED = 4;
  private static final long CONFINED = 8;
  static final long ISOLATED = 16;
  static final int MARK_SHIFT = 5;
  private static final int USE_SHIFT = 12;
  static final long MARK = (1 << USE_SHIFT) - (1 << MARK_SHIFT);

  /** Of a mark, that it stays when another thread closes the block. The sign: see homeFromOther. */
  static final long LASTING = Long.MIN_VALUE;

  private static final long AWAY = CLAIMED | LIVE | OBSERVED | ISOLATED;

  /** What few stamps have beside their use. */
  static final long UNUSUAL = OBSERVED | CONFINED | ISOLATED;

  /** From live to the next home; from observed or isolated and live to over. */
  static final long TO_HOME = (1 << USE_SHIFT) - LIVE;

  /** Where a stamp has nothing, its use is a sample. */
  private static final long NO_SAMPLE = 255L << USE_SHIFT;

  private BlockState() {}

  /** The state of a block that was never used. */
  static long first(boolean confined) {
    return confined ? CONFINED : 0;
  }

  static boolean isConfined(long state) {
    return (state & CONFINED) != 0;
  }

  static boolean isConfinedOut(long state) {
    return (state & (CONFINED | LIVE)) == (CONFINED | LIVE);
  }

  /** The stamp of the use that begins; whoever opens has the block alone. */
  static long live(long state) {
    return (state & ~CLAIMED) | LIVE;
  }

  /** At home, with as many uses over and no mark. */
  static long home(long state) {
    return state & ~(AWAY | MARK | LASTING);
  }

  /** At home after the plain use with this stamp, closed by another thread than the mark's. */
  static long homeFromOther(long stamp) {
    // Without asking: each question is code on the way of every handle (see OutOfLine).
    return (stamp + TO_HOME) & (~MARK | (stamp >> (Long.SIZE - 1)));
  }

  /** Claimed, with the use of this stamp over. */
  static long claimedAfter(long stamp) {
    return (useOf(stamp) << USE_SHIFT) | (stamp & CONFINED) | CLAIMED;
  }

  /** At home, with as many uses over and this mark, if it is what the state has. */
  static long home(long state, long mark) {
    return (state & MARK) == mark ? state & ~AWAY : home(state);
  }

  static boolean isOut(long state) {
    return (state & LIVE) != 0;
  }

  static boolean isHome(long state) {
    return (state & AWAY) == 0;
  }

  /** At home with this mark, which is 0 for none. */
  static boolean isHome(long state, long mark) {
    return (state & (AWAY | MARK)) == mark;
  }

  /** Whether a stamp is neither 0 nor that of a sample, which of a block's uses every 256th is. */
  static boolean isNoSample(long stamp) {
    return (stamp & NO_SAMPLE) != 0;
  }

  /** Which use a stamp is of, from 1; otherwise how many are over. */
  static long useOf(long state) {
    return ((state & ~LASTING) >>> USE_SHIFT) + ((state & LIVE) >>> 1);
  }
}
