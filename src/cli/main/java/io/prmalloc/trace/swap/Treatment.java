package io.prmalloc.trace.swap;

/**
 * The treatment of a feature map between the forward and the backward pass.
 *
 * <p>Threading: immutable.
 */
enum Treatment {
  /** It stays in memory. */
  KEEP,
  /** It is written to the disk and read again. */
  SWAP,
  /** It is dropped, and its operator runs again when it is needed. */
  RECOMPUTE
}
