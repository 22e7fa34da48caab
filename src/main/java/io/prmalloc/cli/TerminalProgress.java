package io.prmalloc.cli;

import io.prmalloc.trace.replay.ReplayAllocator;
import io.prmalloc.trace.replay.ReplayProgress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

  private static final long QUIET_NANOS = 3_000_000_000L;
  private static final int UPDATE_MILLIS = 500;
  private static final int COLUMNS = 80;

  private final long begin = System.nanoTime();
  private ProgressBar bar;
  private boolean closed;

  private TerminalProgress() {}

  /** A progress bar if standard error is a terminal, else null: nobody is to be told. */
  static TerminalProgress create() {
    return isTerminal(Path.of("/proc/self/fd/2")) ? new TerminalProgress() : null;
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

  /**
   * Says how far the work is.
   *
   * @param task what is being done
   */
  synchronized void update(String task, long done, long total) {
    if (bar == null && !closed && System.nanoTime() - begin > QUIET_NANOS && done < total) {
      bar =
          new ProgressBarBuilder()
              .setTaskName(task)
              .setInitialMax(total)
              .setUpdateIntervalMillis(UPDATE_MILLIS)
              .setStyle(ProgressBarStyle.ASCII)
              .setConsumer(new ConsoleProgressBarConsumer(System.err, COLUMNS))
              .clearDisplayOnFinish()
              .build();
    }
    if (bar != null && !closed) {
      bar.maxHint(total);
      bar.stepTo(done);
    }
  }

  /** Shows some words behind the bar, if there is one by now. */
  synchronized void message(String words) {
    if (bar != null && !closed) {
      bar.setExtraMessage(words);
    }
  }

  @Override
  public synchronized void close() {
    if (bar != null && !closed) {
      bar.close();
    }
    closed = true;
  }
}
