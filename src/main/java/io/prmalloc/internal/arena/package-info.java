/**
 * The memory of a plan, carved into equal chunks for each bin: one reservation, or many small
 * regions under a limit.
 *
 * <p>Read {@code BinTable} first (from a size to a block), then {@code Arena} (the memory, region
 * by region), {@code ArenaSpan} (the block at an address), {@code Bin} and {@code Buffer} (the
 * chunks of one size class), {@code VirtualBuffer} (the larger bins that it borrows from), {@code
 * GrownBlocks} (blocks that were added later), {@code NullBins} (requests of sizes that no bin
 * has).
 *
 * <p>Invariants: chunks do not overlap; a request borrows only where the plan or the bound for
 * larger chunks allows it; a block without memory stays claimed.
 */
package io.prmalloc.internal.arena;
