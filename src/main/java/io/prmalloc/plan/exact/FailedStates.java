package io.prmalloc.plan.exact;

/**
 * A bounded set of states of a search that are known to have no solution.
 *
 * <p>Threading: not safe.
 */
final class FailedStates {

  // Two states are the same if the same tensors are unplaced and have the same floors. A state is
  // kept as 128 bits of a hash of that: with a billion states looked up among a million, the chance
  // that two are mistaken for each other once is below 10^-22. A newer state takes an older one's
  // place.

  private static final int SHIFT = 18;
  private static final long FIRST = 0x9E3779B97F4A7C15L;
  private static final long SECOND = 0xC2B2AE3D27D4EB4FL;

  private final long[] table = new long[2 << SHIFT];
  private long one;
  private long other;

  /** Begins the hash of a state. */
  void begin() {
    one = 0;
    other = 0;
  }

  /** One more tensor of the state, in any order. */
  void add(int tensor, long floor) {
    one += mix((tensor + 1) * FIRST ^ mix(floor + FIRST));
    other += mix((tensor + 1) * SECOND + mix(floor ^ SECOND));
  }

  private static long mix(long bits) {
    bits = (bits ^ bits >>> 30) * 0xBF58476D1CE4E5B9L;
    bits = (bits ^ bits >>> 27) * 0x94D049BB133111EBL;
    return bits ^ bits >>> 31;
  }

  /** The first half of the hash. */
  long one() {
    return one;
  }

  /** The second half of the hash. */
  long other() {
    return other | 1;
  }

  boolean contains(long hashOne, long hashOther) {
    int slot = 2 * (int) (hashOne >>> (Long.SIZE - SHIFT));
    return table[slot] == hashOne && table[slot + 1] == hashOther;
  }

  void put(long hashOne, long hashOther) {
    int slot = 2 * (int) (hashOne >>> (Long.SIZE - SHIFT));
    table[slot] = hashOne;
    table[slot + 1] = hashOther;
  }
}
