package io.prmalloc.pool;

import static io.prmalloc.pool.BlockNumbers.wordAt;

import io.prmalloc.OutOfLine;
import java.util.Arrays;

/**
 * Which slots of a slab may be home. All threads share them, and there is one size class, of all
 * sizes.
 *
 * <p>Threading: any thread.
 */
final class ReadySlots extends ReadyBlocks {

  private final StripeBias bias;

  /**
   * Of a slab that serves nobody.
   *
   * @param blocks by number, in whole words; may be filled later
   * @param bias of the threads that claim them
   */
  ReadySlots(PooledBlock[] blocks, StripeBias bias) {
    super(1, Long.SIZE - 2, 0, blocks, 1, new Stripes(1));
    this.bias = bias;
    long[] byWord = new long[wordAt(blocks.length)];
    Arrays.fill(byWord, -1L);
    serve(0, 0, byWord.length, byWord);
  }

  /** Lets those who find something here know who holds the stripe that the slab serves. */
  void heldBy(StripeHold hold) {
    heldBy(hold, 0);
  }

  /** Whether the calling thread holds that stripe, or did a moment ago. */
  boolean isHeldByCaller() {
    return word(0, 0).isHeldByCaller();
  }

  /** How many slots are noted. */
  int noted() {
    int noted = 0;
    for (int word = 0; word < words; word++) {
      noted += Long.bitCount(word(0, word).bits());
    }
    return noted;
  }

  /**
   * Looks at all that is noted, side by side, and no longer notes what the calling thread cannot
   * have. The rest it marks, if it is the holder.
   *
   * @param hold of the stripe that the slab serves
   * @param lasting as of {@link io.prmalloc.Block#mark}
   */
  void mark(StripeHold hold, boolean lasting) {
    for (int i = 0; i < words; i++) {
      ReadyWord word = word(0, i);
      long noted = word.bits();
      word.removeAll(noted & ~hold.mark(noted, lasting, word, OutOfLine.DEPTH));
    }
  }

  @Override
  boolean claim(PooledBlock block) {
    return bias.claim(block);
  }
}
