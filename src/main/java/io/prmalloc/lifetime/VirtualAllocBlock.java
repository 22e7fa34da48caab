package io.prmalloc.lifetime;

/**
 * A use that a bin makes of a block of a larger bin. It costs nothing: the block is counted where
 * it lies.
 *
 * <p>Threading: immutable, though the bin it points to is not.
 *
 * @param bin the bin that owns the block
 */
public record VirtualAllocBlock(LifetimeBin bin) {}
