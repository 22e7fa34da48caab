package io.prmalloc.jmh.rival;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.trace.replay.Touch;
import java.util.Optional;

/**
 * An allocator under test.
 *
 * <p>Threading: any thread, at any time; {@link #close} when all others are done.
 */
public interface Strategy extends AutoCloseable {

  /**
   * Allocates, writes the first 8 bytes, reads them back and releases.
   *
   * @param bytes how many to allocate, at least 8
   * @param value what to write
   * @return what was read, {@code value}
   * @throws IllegalStateException if it was something else
   */
  long pair(long bytes, long value);

  /**
   * A thread's place for the tensors of a step.
   *
   * @param step what will be run, and nothing else
   * @param touch how much of each tensor is written
   */
  Lane lane(Step step, Touch touch);

  /**
   * A way from a thread that allocates to one that releases.
   *
   * @param capacity how many allocations may be on the way, a power of two
   */
  Handover handover(int capacity);

  /** Begins a step of the calling thread; null where the allocator knows no steps. */
  default ScopedMemoryCollector openStep() {
    return null;
  }

  /** Whether the allocator has learned what it needs before it may be measured. */
  default boolean isWarm() {
    return true;
  }

  /** A line on how the allocator served, if there is anything to say. */
  default Optional<String> report() {
    return Optional.empty();
  }

  @Override
  void close();
}
