package io.prmalloc.pool;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Tells virtual threads from others, on a Java that has them.
 *
 * <p>Threading: any thread.
 */
final class VirtualThreads {

  /** {@code Thread.isVirtual}, or null before Java 21; our bytecode is of 17. */
  private static final MethodHandle IS_VIRTUAL = find();

  private VirtualThreads() {}

  private static MethodHandle find() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (ReflectiveOperationException noVirtualThreads) {
      return null;
    }
  }

  /** Whether the calling thread is virtual. */
  static boolean isCurrent() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }
}
