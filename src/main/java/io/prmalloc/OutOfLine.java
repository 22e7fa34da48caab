package io.prmalloc;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Keeps rare, bulky code out of what the JIT compiles for the common path. For those who write
 * allocators.
 *
 * <p>Threading: any thread.
 */
public final class OutOfLine {

  // A handle costs no heap only if the JIT inlines Allocator.allocate and Allocation.close into the
  // method that uses them. It does so unless they were compiled before into more than 2,500 bytes
  // of machine code (InlineSmallCode), and during warm-up it takes the paths to the system for hot
  // and inlines them there. A user cannot say "do not inline"; but a method handle that the
  // compiler cannot prove constant is a call that it cannot see through. Hence: the rare paths are
  // called by handles in fields that are not constants, which costs a few nanoseconds where
  // microseconds are spent.
  //
  // HandleGarbageTest fails if this stops working.

  private OutOfLine() {}

  /**
   * A handle to a method of the caller's.
   *
   * <p>Threading: any thread.
   *
   * @param lookup the caller's
   * @param owner the class that has the method
   * @param name the method's name
   * @param type its parameters and result, without the receiver
   */
  public static MethodHandle method(
      MethodHandles.Lookup lookup, Class<?> owner, String name, MethodType type) {
    try {
      return lookup.findVirtual(owner, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * Throws what a handle threw. A method called so declares no checked exception, so there is none
   * to declare here.
   *
   * <p>Threading: any thread.
   *
   * @return never
   */
  public static RuntimeException rethrow(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
    throw new IllegalStateException(thrown);
  }
}
