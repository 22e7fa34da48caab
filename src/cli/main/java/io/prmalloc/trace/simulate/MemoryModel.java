package io.prmalloc.trace.simulate;

/**
 * An allocator that takes no memory and only counts.
 *
 * <p>Threading: one thread at a time.
 */
public interface MemoryModel {

  /**
   * A tensor comes.
   *
   * <p>Threading: one thread at a time.
   *
   * @param tensor its number, from 0 to less than the number of tensors the model was made for
   * @param bytes its size, from 0
   * @throws IllegalStateException if it is there already
   */
  void allocate(int tensor, long bytes);

  /**
   * A tensor goes.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IllegalStateException if it is not there
   */
  void free(int tensor);

  /** Bytes the model holds now: of tensors, or of the pool. Threading: one thread at a time. */
  long heldBytes();

  /** The most bytes the model ever held. Threading: one thread at a time. */
  long peakBytes();
}
