package io.prmalloc;

/**
 * The record that an allocator keeps of one address that is in use.
 *
 * <p>The {@code Chunk} of TensorFlow's {@code TrackingAllocator}.
 *
 * <p>Threading: immutable.
 *
 * @param requestedBytes bytes asked for
 * @param allocatedBytes bytes set aside for it, header and rounding included
 * @param allocationId which allocation it is; see {@link Allocator#allocationId}
 */
public record Chunk(long requestedBytes, long allocatedBytes, long allocationId) {}
