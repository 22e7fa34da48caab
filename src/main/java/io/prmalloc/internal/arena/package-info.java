/**
 * A plan made real: one reservation, carved into equal chunks for each bin.
 *
 * <p>Read {@code BinTable} first (from a size to a block), then {@code Arena} (the memory, region
 * by region), {@code Bin} and {@code Buffer} (the chunks of one size class), {@code VirtualBuffer}
 * (from which bins it borrows), {@code GrownBlocks} (what bins got later), {@code NullBins} (sizes
 * that no bin has).
 *
 * <p>Invariants: chunks do not overlap; a request borrows only where the plan or the bound for
 * larger chunks lets it; a block without memory stays claimed.
 */
package io.prmalloc.internal.arena;
