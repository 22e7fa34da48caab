package io.prmalloc.internal.block;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Logs without harm: there may be no heap for a message, and a handler of the application's may
 * throw.
 *
 * <p>The caller has its logger from {@link #logger}, so that this class is there when it is needed:
 * to load it takes heap. A loop that nothing may end catches what is thrown on the way here, too:
 * the first use of a constant takes heap as well.
 *
 * <p>Threading: any thread.
 */
public final class SafeLog {

  private SafeLog() {}

  /** The logger of a class. */
  public static Logger logger(Class<?> user) {
    return System.getLogger(user.getName());
  }

  /**
   * Logs a failure, as far as possible. Throws nothing.
   *
   * @param message whole already: to put it together takes heap, too
   * @param failure may be null
   */
  public static void log(Logger logger, Level level, String message, Throwable failure) {
    try {
      logger.log(level, message, failure);
    } catch (Throwable unsaid) {
      // It stays unlogged.
    }
  }
}
