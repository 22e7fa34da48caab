package io.prmalloc.internal.os;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.util.HashSet;
import java.util.Set;

/**
 * The classes of ours whose native methods JNA has bound. JNA holds a bound method by a reference
 * that the collector does not see through, and with it our class loader, until it is unbound.
 *
 * <p>Threading: any thread.
 */
final class NativeBindings {

  private static final Set<Class<?>> BOUND = new HashSet<>();

  private NativeBindings() {}

  /**
   * Binds a class's native methods. The library's object is closed: a thread of JNA lives as long
   * as there is one that is not, and keeps our class loader, too. What is bound stays.
   *
   * @param library an object that no other code uses
   * @throws UnsatisfiedLinkError if a function is missing
   */
  static synchronized void bind(Class<?> functions, NativeLibrary library) {
    try (library) {
      Native.register(functions, library);
      BOUND.add(functions);
    }
  }

  /** Unbinds all, so that a call of them throws {@link UnsatisfiedLinkError}. */
  static synchronized void unbindAll() {
    BOUND.forEach(Native::unregister);
    BOUND.clear();
    ClassLoader own = NativeBindings.class.getClassLoader();
    if (own != ClassLoader.getSystemClassLoader() && own == Native.class.getClassLoader()) {
      endCleaner(own);
    }
  }

  /**
   * Ends JNA's thread, which would wait for half a minute. Only of a JNA that goes with us: if it
   * is used again, it does not start the thread anew.
   */
  private static void endCleaner(ClassLoader own) {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("JNA Cleaner") && thread.getClass().getClassLoader() == own) {
        thread.interrupt();
        try {
          thread.join();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }
}
