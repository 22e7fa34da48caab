package io.prmalloc.trace.swap;

/**
 * A tensor of the forward pass that outlives it.
 *
 * <p>Threading: immutable.
 *
 * @param tensor its number
 * @param bytes its size
 * @param producer the operator that writes it
 * @param lastForwardOp the last operator of the forward pass that reads or writes it: then it may
 *     go
 * @param firstBackwardOp the first operator of the backward pass that reads it: by then it must be
 *     back; −1 if none does
 */
record FeatureMap(int tensor, long bytes, int producer, int lastForwardOp, int firstBackwardOp) {}
