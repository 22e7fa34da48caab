package io.prmalloc.internal.os;

import com.sun.jna.Native;
import java.security.CodeSource;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * Chooses how this JVM makes native calls, the first time one is needed and not before: code that
 * uses only direct buffers and handles never loads JNA's native library.
 *
 * <p>Threading: any thread.
 */
public final class Natives {

  /**
   * The 64-bit processors on which Linux has the generic constants and layouts that {@link
   * JnaCalls} knows.
   */
  private static final Set<String> PROCESSORS =
      Set.of("amd64", "x86_64", "aarch64", "riscv64", "loongarch64", "ppc64le", "s390x");

  /** JNA unpacks its library before it can be loaded, and containers often do not let it. */
  private static final String CURE =
      " (JNA needs its native library: let -Djna.tmpdir=DIRECTORY name one that can be written to"
          + " and is not mounted noexec, or unpack the library into an image and start with"
          + " -Djna.boot.library.path=DIRECTORY -Djna.nounpack=true)";

  private static volatile boolean chosen;

  /** Null until native calls are released. */
  private static volatile NativeCalls released;

  private static final class Holder {
    static final NativeCalls CALLS =
        load(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
  }

  private Natives() {}

  /** The native calls of this JVM, or their stand-in. */
  public static NativeCalls calls() {
    NativeCalls stand = released;
    if (stand != null) {
      return stand;
    }
    NativeCalls calls = Holder.CALLS;
    if (!chosen) {
      chosen = true;
    }
    return calls;
  }

  /** Ends native calls for good. Loads nothing. */
  static void release() {
    if (chosen && released == null) {
      released = new FallbackCalls("native calls were released", null);
      if (Holder.CALLS instanceof JnaCalls) {
        NativeBindings.unbindAll();
      }
    }
  }

  /** Whether somebody needed native calls before, so that one more loads nothing. */
  static boolean areChosen() {
    return chosen;
  }

  /** Whether {@link #calls} prints no warning that was not printed before. */
  static boolean areSilent() {
    return chosen
        || Runtime.version().feature() < DirectMemory.FIRST_WARNING_JAVA
        || isNativeAccessEnabled(Native.class.getModule());
  }

  private static boolean isNativeAccessEnabled(Module module) {
    try {
      // Since Java 22, and our bytecode is of 17.
      return (boolean) Module.class.getMethod("isNativeAccessEnabled").invoke(module);
    } catch (ReflectiveOperationException unknown) {
      return false;
    }
  }

  static NativeCalls load(String system, String processor) {
    if (!system.equals("Linux") || !PROCESSORS.contains(processor.toLowerCase(Locale.ROOT))) {
      return new FallbackCalls(
          "native calls are made on 64-bit Linux, and this is " + system + " on " + processor,
          null);
    }
    return onThreadOfItsOwn(Natives::throughJna);
  }

  private static NativeCalls throughJna() {
    try {
      return new JnaCalls();
    } catch (LinkageError unreachable) {
      return new FallbackCalls(whyUnreachable(unreachable), unreachable);
    }
  }

  static String whyUnreachable(LinkageError thrown) {
    // A method or field that is missing is one of another version's classes.
    String cure = thrown instanceof IncompatibleClassChangeError ? " (" + whichJna() + ")" : CURE;
    return "JNA does not work in this JVM: " + thrown.getMessage() + cure;
  }

  private static String whichJna() {
    CodeSource source = Native.class.getProtectionDomain().getCodeSource();
    return "JNA 5.12 or later is needed, and an older one is loaded"
        + (source == null ? "" : ", from " + source.getLocation());
  }

  /**
   * Runs something where what JNA leaves in thread-local variables goes at once. The threads that
   * it starts, one of its own and one of the JDK's that waits for a process, inherit a context
   * class loader that keeps no application.
   */
  private static NativeCalls onThreadOfItsOwn(Supplier<NativeCalls> making) {
    FutureTask<NativeCalls> made = new FutureTask<>(making::get);
    Thread thread = new Thread(made, "prmalloc-native-calls");
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    thread.start();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return made.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw Rethrow.unchecked(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
