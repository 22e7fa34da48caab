package io.prmalloc;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What {@link AllocationLog} writes while this is open, with the level on. */
final class LogRecords implements AutoCloseable {

  // Held, or the level would be forgotten with the logger.
  private final Logger logger = Logger.getLogger(AllocationLog.LOGGER_NAME);
  private final List<String> lines = new ArrayList<>();

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

  LogRecords() {
    logger.setLevel(Level.FINE);
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  void off() {
    logger.setLevel(Level.INFO);
  }

  /** The one line that was written since the last call. */
  String take() {
    if (lines.size() != 1) {
      throw new AssertionError("not one line: " + lines);
    }
    return lines.remove(0);
  }

  List<String> all() {
    return lines;
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
    logger.setLevel(null);
  }
}
