package io.prmalloc;

import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * A log whose handler throws while this is open, as one does that has no heap for the message.
 *
 * <p>Threading: one thread.
 */
public final class BrokenLog implements AutoCloseable {

  // Held, or the handler would be forgotten with the logger.
  private final Logger logger;

  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          throw new Error("no heap for the message");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  public BrokenLog(Class<?> user) {
    logger = Logger.getLogger(user.getName());
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }
}
