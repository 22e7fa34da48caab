package io.prmalloc.internal.block;

/**
 * Keeps rare, bulky code out of what the JIT compiles for the common path. For authors of
 * allocators.
 *
 * <p>Threading: stateless.
 */
public final class NoInline {

  // A handle costs no heap only if the JIT inlines Allocator.allocate and Allocation.close into the
  // method that uses them. It does so unless they were compiled before into too much machine code:
  // more than 2,500 bytes where the call is hot (InlineSmallCode), and a quarter of that in the
  // exception handler of a try-with-resources, which is cold. During warm-up it takes the paths to
  // the system for hot and inlines them there. A user cannot say "do not inline", but no method is
  // inlined into itself more than once (MaxRecursiveInlineLevel). Hence:
  //
  //     void rare(int depth) {
  //       if (depth > 0) {
  //         rare(depth - 1);
  //       } else {
  //         ... what is rare and bulky
  //       }
  //     }
  //
  // Called with DEPTH, a constant, the first two levels are inlined and vanish; the third is a
  // plain call.
  //
  // Two cases cannot be avoided: a JDK before 22 does not inline a handler that has never run, and
  // a later one does not inline a handler that runs now and then. Where the body of the try makes a
  // call that the JIT does not inline, the handle is then made on the heap, 32 bytes of it.
  //
  // HandleGarbageTest fails if this stops working.

  /**
   * A recursion depth that keeps the JIT from inlining a method that calls itself until the depth
   * is 0.
   */
  public static final int DEPTH = 3;

  /**
   * The same for code so bulky that the JIT should compile it once: it must be a method of its own,
   * which the recursion calls at its end. With {@link #DEPTH} it may be compiled twice, for a
   * method that calls itself is inlined into itself once. HotSpot inlines a call of more than 35
   * bytes of bytecode only where at least a quarter of the method's runs make it
   * (InlineFrequencyRatio). At this depth it is one run in five at most, even if callers have
   * inlined the first two levels.
   */
  public static final int BULKY_DEPTH = 6;

  private NoInline() {}
}
