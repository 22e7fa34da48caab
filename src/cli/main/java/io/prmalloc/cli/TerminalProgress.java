package io.prmalloc.cli;

import io.prmalloc.trace.replay.ReplayAllocator;
import io.prmalloc.trace.replay.ReplayProgress;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * A progress bar on standard error, for runs that take longer than a few seconds.
 *
 * <p>Threading: safe.
 */
final class TerminalProgress implements ReplayProgress {

  // The work says what it does, and how far it is if it knows; a clock opens the bar. So a bar
  // comes even where a single task takes long and says nothing meanwhile, such as reading a file.

  private static final long QUIET_MILLIS = 3000;
  private static final int UPDATE_MILLIS = 500;
  private static final int COLUMNS = 80;

  // The total of a task that does not know how far it is; the library shows that it goes on.
  private static final long UNKNOWN = -1;

  private final PrintStream out;
  private final CountDownLatch ended = new CountDownLatch(1);
  private String task;
  private long done;
  private long total;
  private String message = "";
  private boolean isQuiet = true;
  // Null while it is hidden, or between tasks.
  private ProgressBar bar;
  private boolean closed;

  /**
   * A bar that is shown after a while.
   *
   * @param quietMillis how long nothing is shown
   */
  TerminalProgress(PrintStream out, long quietMillis) {
    this.out = out;
    Thread clock = new Thread(() -> openAfter(quietMillis), "prmalloc-progress-bar");
    clock.setDaemon(true);
    clock.start();
  }

  /** A progress bar if standard error is a terminal, else null: progress is not shown. */
  static TerminalProgress create() {
    return isTerminal(Path.of("/proc/self/fd/2"))
        ? new TerminalProgress(System.err, QUIET_MILLIS)
        : null;
  }

  /**
   * Says what is being done by work that does not know how far it is.
   *
   * @param progress null for none
   */
  static void begin(TerminalProgress progress, String task) {
    if (progress != null) {
      progress.update(task, 0, UNKNOWN);
    }
  }

  private void openAfter(long millis) {
    try {
      if (!ended.await(millis, TimeUnit.MILLISECONDS)) {
        open();
      }
    } catch (InterruptedException e) {
      // The clock is no longer needed.
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void open() {
    isQuiet = false;
    show();
  }

  /**
   * Whether an open file is a terminal. {@code System.console()} would not do: it is about standard
   * output on some JVMs and always there on others.
   */
  static boolean isTerminal(Path openFile) {
    try {
      String target = Files.readSymbolicLink(openFile).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException notTold) {
      return false;
    }
  }

  @Override
  public void update(ReplayAllocator allocator, long steps, long totalSteps) {
    update(allocator.label(), steps, totalSteps);
  }

  @Override
  public void warmUp(ReplayAllocator allocator, long steps) {
    update(allocator.label() + " warms up", steps, UNKNOWN);
  }

  /**
   * Says how far the work is.
   *
   * @param newTask what is being done; another one than before gets a bar of its own
   * @param newTotal how far it goes; negative if unknown
   */
  synchronized void update(String newTask, long newDone, long newTotal) {
    if (!newTask.equals(task)) {
      closeBar();
      message = "";
    }
    task = newTask;
    done = newDone;
    total = newTotal;
    show();
  }

  /** Whether a task was the last to say how far it is. */
  synchronized boolean isAt(String someTask) {
    return someTask.equals(task);
  }

  /** Shows some words behind the bar, if there is one by now. */
  synchronized void message(String words) {
    message = words;
    show();
  }

  private void show() {
    if (isQuiet || closed || task == null) {
      return;
    }
    if (bar == null) {
      bar =
          new ProgressBarBuilder()
              .setTaskName(task)
              .setInitialMax(total)
              .setUpdateIntervalMillis(UPDATE_MILLIS)
              .setStyle(ProgressBarStyle.ASCII)
              .setConsumer(new ConsoleProgressBarConsumer(out, COLUMNS))
              .clearDisplayOnFinish()
              .build();
    }
    bar.maxHint(total);
    bar.stepTo(done);
    bar.setExtraMessage(message);
  }

  private void closeBar() {
    if (bar != null) {
      bar.close();
      bar = null;
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    ended.countDown();
    closeBar();
  }
}
