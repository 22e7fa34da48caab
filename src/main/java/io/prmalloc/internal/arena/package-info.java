/**
 * The memory of a plan: one reservation, carved into equal chunks for each bin.
 *
 * <p>Read {@code BinTable} first (from a size to a block), then {@code Arena} (the memory, region
 * by region), {@code Bin} and {@code Buffer} (the chunks of one size class), {@code VirtualBuffer}
 * (the larger bins that it borrows from), {@code GrownBlocks} (blocks that were added later),
 * {@code NullBins} (requests of sizes that no bin has).
 *
 * <p>Invariants: chunks do not overlap; a request borrows only where the plan or the bound for
 * larger chunks allows it; a block without memory stays claimed.
 */
package io.prmalloc.internal.arena;
