package io.prmalloc.internal.block;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * An observer whose exceptions are logged and not thrown to the caller that allocates, frees or
 * ends a step. If it failed on an allocation, it is not told of the release.
 *
 * <p>Threading: as the observer.
 */
public final class TolerantObserver implements PoolObserver {

  private static final Logger LOGGER = System.getLogger(TolerantObserver.class.getName());

  /** A ticket of an allocation that the observer was not told of. */
  private static final long UNTOLD = Long.MIN_VALUE;

  private final PoolObserver observer;

  public TolerantObserver(PoolObserver observer) {
    this.observer = observer;
  }

  /** Whether this is for an observer. */
  public boolean isOf(PoolObserver other) {
    return observer == other;
  }

  /** Logs what an observer threw, as far as possible. */
  public static void failed(Throwable thrown) {
    try {
      LOGGER.log(Level.WARNING, "an observer of the pool failed, which goes on", thrown);
    } catch (Throwable ignored) {
      // There may be no heap or no stack for the log.
    }
  }

  @Override
  public boolean seesSteps() {
    return observer.seesSteps();
  }

  @Override
  public long allocated(long bytes, long alignment) {
    try {
      return observer.allocated(bytes, alignment);
    } catch (Throwable e) {
      failed(e);
      return UNTOLD;
    }
  }

  @Override
  public void released(long ticket) {
    if (ticket == UNTOLD) {
      return;
    }
    try {
      observer.released(ticket);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public long stepOpened() {
    try {
      return observer.stepOpened();
    } catch (Throwable e) {
      failed(e);
      return UNTOLD;
    }
  }

  @Override
  public void stepClosed(long ticket) {
    if (ticket == UNTOLD) {
      return;
    }
    try {
      observer.stepClosed(ticket);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void stillInUse() {
    try {
      observer.stillInUse();
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void poolClosed() {
    try {
      observer.poolClosed();
    } catch (Throwable e) {
      failed(e);
    }
  }
}
