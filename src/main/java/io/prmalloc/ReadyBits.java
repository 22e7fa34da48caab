package io.prmalloc;

/**
 * Which of up to 64 blocks may be home: hints for a thread that looks for one. For those who write
 * allocators.
 *
 * <p>Threading: any thread. By two threads' writes at one moment a hint may be lost or come back,
 * which costs time and nothing else.
 */
public abstract class ReadyBits extends CacheLinePadding {

  private long bits;

  /** Nothing is noted. Threading: the maker publishes it safely. */
  protected ReadyBits() {}

  /**
   * What is noted: of each block the bit that the last six of its number say. Threading: any
   * thread.
   */
  public final long bits() {
    return bits;
  }

  /** Notes some blocks, and no others. */
  protected final void setBits(long some) {
    bits = some;
  }

  /** No longer notes a block. */
  protected final void forget(int number) {
    bits &= ~(1L << number);
  }

  /** Notes a block, too. Threading: any thread. */
  public final void note(int number) {
    bits |= 1L << number;
  }
}
