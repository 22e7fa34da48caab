package io.prmalloc;

import io.prmalloc.internal.block.AllocationLog;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Collects the records of a logger while it is open, with the level on. */
public final class LogRecords implements AutoCloseable {

  // Held, or the level would be forgotten with the logger.
  private final Logger logger;
  private final List<String> lines = Collections.synchronizedList(new ArrayList<>());

  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  /** Of the {@link AllocationLog}. */
  public LogRecords() {
    this(AllocationLog.LOGGER_NAME);
  }

  /** Threading: one thread. */
  public LogRecords(String loggerName) {
    logger = Logger.getLogger(loggerName);
    logger.setLevel(Level.FINE);
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  public void off() {
    logger.setLevel(Level.INFO);
  }

  /** The one line that was written since the last call. */
  public String take() {
    if (lines.size() != 1) {
      throw new AssertionError("not one line: " + lines);
    }
    return lines.remove(0);
  }

  /** All lines that were written. Threading: one thread. */
  public List<String> all() {
    return lines;
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
    logger.setLevel(null);
  }
}
