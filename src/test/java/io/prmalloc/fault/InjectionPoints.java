package io.prmalloc.fault;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * The method that instrumented classes call at each point at which a fault may be thrown. Counts
 * the points that are reached while it is armed, and throws at one of them, once.
 *
 * <p>Threading: {@link #allocation}, {@link #entry} and {@link #userCode} any thread; the others
 * one thread that runs the test.
 */
public final class InjectionPoints {

  /** What is thrown, and at which points. */
  enum Fault {
    /** At every point that takes memory of the heap. */
    OUT_OF_MEMORY,
    /** At the entries of methods that are deeper than all before in the same call of the user. */
    STACK_OVERFLOW,
    /** At every call of code that users may supply, although none of it declares it. */
    CHECKED_EXCEPTION,
    /** At the entry of every method, where only a thread that is stopped throws it. */
    ANYWHERE;

    private Throwable make() {
      return switch (this) {
        case OUT_OF_MEMORY -> new OutOfMemoryError("injected");
        case STACK_OVERFLOW -> new StackOverflowError("injected");
        case CHECKED_EXCEPTION, ANYWHERE -> new IOException("injected");
      };
    }
  }

  /** The counted points at which the fault may be thrown. Guarded by the class. */
  private static final List<Integer> POINTS = new ArrayList<>();

  /** The calls of the library's methods that led to the counted points. Guarded by the class. */
  private static final Set<List<String>> PATHS = new HashSet<>();

  private static final StackWalker WALKER = StackWalker.getInstance();

  /** Whose points count. */
  private static volatile Predicate<Thread> only;

  /** Null if nothing is armed. */
  private static volatile Fault armed;

  // Guarded by the class.
  private static boolean counts;
  private static boolean eachPathOnce;
  private static int reached;
  private static int throwAt;
  private static int mostFrames;

  /** What was thrown, or null. */
  private static final AtomicReference<Throwable> THROWN = new AtomicReference<>();

  private InjectionPoints() {}

  /**
   * Counts the points of a fault from now on.
   *
   * @param paths whether a point counts only if no point before was reached by the same calls
   */
  static synchronized void count(Fault fault, Predicate<Thread> threads, boolean paths) {
    arm(fault, -1, threads);
    counts = true;
    eachPathOnce = paths;
    mostFrames = 0;
    POINTS.clear();
    PATHS.clear();
  }

  /** Throws at the point with this number, from 0, counted from now on. */
  static synchronized void arm(Fault fault, int point, Predicate<Thread> threads) {
    only = threads;
    counts = false;
    reached = 0;
    throwAt = point;
    THROWN.set(null);
    armed = fault;
  }

  /** Ends counting and throwing. */
  static synchronized void disarm() {
    armed = null;
  }

  /** The numbers of the points that were counted, at which this fault may be thrown. */
  static synchronized List<Integer> points() {
    return List.copyOf(POINTS);
  }

  /** What was thrown since it was armed, or null. */
  static synchronized Throwable thrown() {
    return THROWN.get();
  }

  /** Memory of the heap is about to be taken. Threading: any thread. */
  public static void allocation() {
    if (armed == Fault.OUT_OF_MEMORY) {
      reach();
    }
  }

  /** A method begins. Threading: any thread. */
  public static void entry() {
    Fault now = armed;
    if (now == Fault.STACK_OVERFLOW || now == Fault.ANYWHERE) {
      reach();
    }
  }

  /** Code that users may supply is about to be called. Threading: any thread. */
  public static void userCode() {
    if (armed == Fault.CHECKED_EXCEPTION) {
      reach();
    }
  }

  private static void reach() {
    if (only.test(Thread.currentThread())) {
      Throwable now = next();
      if (now != null) {
        InjectionPoints.<RuntimeException>sneak(now);
      }
    }
  }

  private static synchronized Throwable next() {
    Fault fault = armed;
    if (fault == null) {
      return null;
    }
    int point = reached++;
    if (counts && counts(fault)) {
      POINTS.add(point);
    }
    if (point != throwAt) {
      return null;
    }
    armed = null;
    Throwable thrown = fault.make();
    THROWN.set(thrown);
    return thrown;
  }

  private static boolean counts(Fault fault) {
    return (fault != Fault.STACK_OVERFLOW || isDeepest()) && (!eachPathOnce || isNewPath());
  }

  private static boolean isNewPath() {
    return PATHS.add(
        WALKER.walk(
            all ->
                all.filter(frame -> InjectingLoader.isInstrumented(frame.getClassName()))
                    .map(
                        frame ->
                            frame.getClassName()
                                + frame.getMethodName()
                                + "@"
                                + frame.getByteCodeIndex())
                    .toList()));
  }

  /**
   * Whether no point before, in the same call of the user, had as many frames. A stack that was
   * large enough for more frames is large enough for these.
   */
  private static boolean isDeepest() {
    List<String> frames =
        WALKER.walk(all -> all.map(StackWalker.StackFrame::getClassName).toList());
    long ours = frames.stream().filter(InjectingLoader::isInstrumented).count();
    if (ours == 1) {
      // The user's call itself.
      mostFrames = 0;
    }
    boolean deepest = frames.size() > mostFrames;
    mostFrames = Math.max(mostFrames, frames.size());
    return deepest;
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // what is thrown is not checked
  private static <T extends Throwable> void sneak(Throwable any) throws T {
    throw (T) any;
  }
}
