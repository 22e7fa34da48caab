package io.prmalloc.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Lets Ctrl-C (and a polite kill) end a search or a run instead of the program: the JVM's end is
 * held up until what there is by then is printed and written. The exit code still is that of the
 * signal.
 *
 * <p>Threading: any thread; closed by the one that prints.
 */
final class CtrlC implements AutoCloseable {

  // The JVM answers the signal by running its shutdown hooks while all other threads go on. So the
  // hook raises the flag that the search looks at, and waits for close(). A second press gets no
  // second hook: the way out for the impatient is SIGKILL, and the wait is the time of one
  // placement and one write.

  private final AtomicBoolean pressed = new AtomicBoolean();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook = new Thread(this::await, "prmalloc-ctrl-c");

  /** Ctrl-C ends the program at once until {@link #hold}. */
  CtrlC() {}

  /** From here to {@link #close} Ctrl-C only raises a flag. */
  static CtrlC caught() {
    CtrlC caught = new CtrlC();
    caught.hold();
    return caught;
  }

  /**
   * From here to {@link #close} Ctrl-C only raises a flag: there will soon be something to print.
   */
  void hold() {
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException atItsEnd) {
      // The JVM is ending, and does so now.
      pressed.set(true);
    }
  }

  private void await() {
    pressed.set(true);
    try {
      closed.await();
    } catch (InterruptedException e) {
      // Somebody wants the hook to end.
      Thread.currentThread().interrupt();
    }
  }

  /** Whether it was pressed. */
  boolean isPressed() {
    return pressed.get();
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException atItsEnd) {
      // The JVM is ending, and does so now.
      return;
    }
  }
}
