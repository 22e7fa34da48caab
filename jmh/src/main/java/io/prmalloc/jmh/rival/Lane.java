package io.prmalloc.jmh.rival;

import io.prmalloc.lifetime.ScopedMemoryCollector;

/**
 * One thread's tensors, by number. It costs every rival the same: a store into an array and a load
 * from it.
 *
 * <p>Threading: one thread at a time.
 */
public interface Lane {

  /**
   * Makes room for a step's tensors. None is in use.
   *
   * @param step whose tensors they are; null where the allocator knows no steps
   */
  void begin(ScopedMemoryCollector step);

  /**
   * Allocates a tensor, writes as much of it as the lane was made for, the first 8 bytes last, and
   * reads those back.
   *
   * @param tensor its number, not in use now
   * @param bytes its size, at least 8
   * @param value what to write
   * @return what was read; {@code value} where nothing is touched
   */
  long allocate(int tensor, long bytes, long value);

  /**
   * Releases a tensor.
   *
   * @param tensor its number, in use now
   */
  void release(int tensor);
}
