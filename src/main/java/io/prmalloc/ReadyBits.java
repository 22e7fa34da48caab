package io.prmalloc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Which of up to 64 blocks may be home: hints for a thread that looks for one. For those who write
 * allocators.
 *
 * <p>Threading: any thread. By two threads' writes at one moment a hint may be lost or come back,
 * which costs time and nothing else.
 */
public abstract class ReadyBits extends CacheLinePadding {

  private static final VarHandle BITS;
  private static final VarHandle WATCHED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      BITS = lookup.findVarHandle(ReadyBits.class, "bits", long.class);
      WATCHED = lookup.findVarHandle(ReadyBits.class, "watched", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private long bits;

  @SuppressWarnings("UnusedVariable") // through WATCHED
  private boolean watched;

  /** Nothing is noted. Threading: the maker publishes it safely. */
  protected ReadyBits() {}

  /**
   * What is noted: of each block the bit that the last six of its number say. Threading: any
   * thread.
   */
  public final long bits() {
    return bits;
  }

  /**
   * Says whether somebody wants to hear of every block that comes home. Whoever looks at the blocks
   * after this finds home what nobody is told of.
   *
   * <p>Threading: any thread.
   */
  public final void watch(boolean whether) {
    WATCHED.setVolatile(this, whether);
  }

  /**
   * Whether somebody wants to hear of a block that came home before this call. Threading: any
   * thread.
   */
  final boolean isWatched() {
    // Volatile, as is the write that brought the block home: either that is seen by whoever wrote
    // this, or this is seen here.
    return (boolean) WATCHED.getVolatile(this);
  }

  /** Notes some blocks, and no others. */
  protected final void setBits(long some) {
    bits = some;
  }

  /**
   * No longer notes some blocks, and loses nothing that another thread notes meanwhile. Threading:
   * any thread.
   */
  protected final void forgetAtomically(long some) {
    // What is forgotten may come back by the other's plain write, which costs less than a block
    // that is home and noted nowhere.
    BITS.getAndBitwiseAnd(this, ~some);
  }

  /** Notes some blocks, too, and loses as little. Threading: any thread. */
  protected final void noteAtomically(long some) {
    BITS.getAndBitwiseOr(this, some);
  }

  /** Notes a block, too. Threading: any thread. */
  public final void note(int number) {
    bits |= 1L << number;
  }
}
