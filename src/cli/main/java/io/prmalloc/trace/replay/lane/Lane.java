package io.prmalloc.trace.replay.lane;

import io.prmalloc.trace.replay.ReplayFailure;

/**
 * One thread's way into the allocator under test. It remembers where each tensor lies, so that the
 * loop over a step deals in numbers of tensors only.
 *
 * <p>Threading: one thread at a time; the allocator behind it is shared by all lanes.
 */
public interface Lane {

  /** A step begins. */
  void openStep();

  /** A step has ended: all its tensors are released. */
  void closeStep();

  /**
   * Takes memory for a tensor.
   *
   * @throws ReplayFailure if it is not available
   */
  void allocate(int tensor, long bytes);

  /** Gives a tensor's memory back. */
  void release(int tensor);

  /** Writes eight bytes of each stretch of {@code stride} bytes; a tensor of less, bytewise. */
  void write(int tensor, long bytes, long stride, long value);

  /** Writes the pattern to every byte. */
  void fill(int tensor, long bytes, long seed);

  /** Offset of the first byte that is not the pattern's, or −1. */
  long mismatch(int tensor, long bytes, long seed);

  /** A byte of a tensor. */
  byte byteAt(int tensor, long offset);

  /** Gives back whatever is still out, after a failure. */
  void abandon();
}
