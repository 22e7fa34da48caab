package io.prmalloc.internal.slab;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * A lock-free stack of the numbers 0 to capacity − 1, each at most once: the free chunks of one
 * buffer or slab.
 *
 * <p>Threading: every method may be called from any thread, except where it says otherwise.
 */
public final class IndexStack {

  // Treiber's stack (IBM RJ 5118, 1986), links in an array, everything that must change together in
  // one word:
  //
  //      63            32 31      16 15       0
  //     |      tag       |  count   |   top    |
  //
  //   tag     goes up with every change, so that a pop which was held up between reading the top's
  //           link and its compare-and-set fails if anything happened meanwhile, even if the same
  //           number is on top again (the ABA problem). It wraps after 2^32 changes: a thread
  //           would have to be held up for exactly so many, some forty seconds of nothing else.
  //   count   how many numbers are on the stack. Tells a pusher that it brought the first or the
  //           last one back, and lets retire() close the stack exactly when all are.
  //   top     the number on top; without meaning while count is 0.
  //
  // Memory order: push writes the link, then releases it with the compare-and-set on the head; pop
  // acquires the head and reads the link. The same pair makes writes of the previous owner visible
  // to the next one. A link read by a pop that loses is thrown away, so that read may be racy.

  /** The most numbers a stack can hold. */
  static final int MAX_CAPACITY = (1 << 16) - 1;

  private static final int COUNT_SHIFT = 16;
  private static final long FIELD = 0xFFFFL;
  private static final long TAG_ONE = 1L << 32;
  private static final long TAG_MASK = -TAG_ONE;

  private static final VarHandle HEAD;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(IndexStack.class, "head", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int[] next;
  private volatile long head;

  /** A stack that holds all its numbers, 0 on top. */
  public IndexStack(int capacity) {
    if (capacity < 1 || capacity > MAX_CAPACITY) {
      throw new IllegalArgumentException(
          "capacity " + capacity + " is not from 1 to " + MAX_CAPACITY);
    }
    next = new int[capacity];
    for (int i = 0; i < capacity; i++) {
      next[i] = i + 1;
    }
    head = (long) capacity << COUNT_SHIFT;
  }

  int capacity() {
    return next.length;
  }

  /** How many numbers are on the stack. */
  int size() {
    return count(head);
  }

  /** Takes the number that was put back last, or −1 if there is none. */
  public int pop() {
    while (true) {
      long seen = head;
      int count = count(seen);
      if (count == 0) {
        return -1;
      }
      int top = top(seen);
      long changed = after(seen, count - 1, next[top]);
      if (HEAD.compareAndSet(this, seen, changed)) {
        return top;
      }
      Thread.onSpinWait();
    }
  }

  /**
   * Takes what is on top as far as it is wanted, all at once.
   *
   * @param wanted may be asked about any number, and often
   * @param taker gets the numbers one by one when they are taken, the top first
   * @return how many
   */
  int popWhile(IntPredicate wanted, IntConsumer taker) {
    while (true) {
      long seen = head;
      int taken = 0;
      int top = top(seen);
      // A link that is changed meanwhile may lead anywhere, but the head is changed with it.
      while (taken < count(seen) && top < next.length && wanted.test(top)) {
        top = next[top];
        taken++;
      }
      if (taken == 0) {
        return 0;
      }
      long changed = after(seen, count(seen) - taken, top);
      if (HEAD.compareAndSet(this, seen, changed)) {
        give(top(seen), taken, taker);
        return taken;
      }
      Thread.onSpinWait();
    }
  }

  /** Pushes numbers that the caller took, linked as before. */
  private void give(int first, int count, IntConsumer taker) {
    int index = first;
    for (int i = 0; i < count; i++) {
      // Before it is given, for it may be pushed.
      int below = next[index];
      taker.accept(index);
      index = below;
    }
  }

  /**
   * Puts a number back. The caller took it before, and no other thread has it.
   *
   * @return how many numbers are on the stack now
   */
  public int push(int index) {
    while (true) {
      long seen = head;
      int count = count(seen) + 1;
      next[index] = top(seen);
      long changed = after(seen, count, index);
      if (HEAD.compareAndSet(this, seen, changed)) {
        return count;
      }
      Thread.onSpinWait();
    }
  }

  /**
   * Closes the stack if all its numbers are on it; nothing can be taken from then on.
   *
   * @return whether it is closed by this call; if not, nothing has changed
   */
  boolean retire() {
    while (true) {
      long seen = head;
      if (count(seen) != next.length) {
        return false;
      }
      // Count 0, the top stays: reopen() finds the links as they were.
      long changed = after(seen, 0, top(seen));
      if (HEAD.compareAndSet(this, seen, changed)) {
        return true;
      }
    }
  }

  /** Undoes {@link #retire}. Only for the thread that closed it. */
  void reopen() {
    long seen = head;
    head = after(seen, next.length, top(seen));
  }

  /** The head that follows one. */
  private static long after(long head, int count, int top) {
    return ((head & TAG_MASK) + TAG_ONE) | (long) count << COUNT_SHIFT | (top & FIELD);
  }

  private static int top(long head) {
    return (int) (head & FIELD);
  }

  private static int count(long head) {
    return (int) (head >>> COUNT_SHIFT & FIELD);
  }
}
