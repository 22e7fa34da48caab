package io.prmalloc;

/**
 * What an allocator knows of memory that is out, by its address.
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
