package io.prmalloc.pool;

import java.time.Duration;

/**
 * What goes on around a pool without anybody asking for memory.
 *
 * <p>Threading: any thread; {@link #start} once.
 */
final class Housekeeping implements IdleTrimmer.Target {

  private final TensorPoolAllocator pool;
  private final PoolBooks books;
  private final Duration trimAfterIdle;
  private final String beanName;
  private IdleTrimmer trimmer;
  private PoolBean bean;

  Housekeeping(TensorPoolAllocator pool, PoolBooks books, TensorPoolBuilder builder) {
    this.pool = pool;
    this.books = books;
    this.trimAfterIdle = builder.trimAfterIdle();
    this.beanName = builder.beanName();
  }

  /** Begins, when the pool is ready to be used. */
  synchronized void start() {
    if (trimAfterIdle != null) {
      trimmer = IdleTrimmer.start(this, trimAfterIdle);
    }
    if (beanName != null) {
      bean = PoolBean.register(pool, beanName);
    }
  }

  /** Ends, when the pool is closed. */
  synchronized void stop() {
    if (trimmer != null) {
      trimmer.stop();
    }
    if (bean != null) {
      bean.unregister();
    }
  }

  @Override
  public long changes() {
    return books.changes();
  }

  @Override
  public long trim() {
    return pool.trim();
  }
}
