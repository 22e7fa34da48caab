/**
 * The free index: which blocks are free, and where a thread looks first.
 *
 * <p>Read {@code FreeIndex} first: words of bits by stripe, local ones that the stripe's threads
 * set and remote ones that other threads set. Then {@code ChunkIndex} (how blocks of a plan move
 * from one stripe to another), {@code BlockNumbers} (the word and bit of a block), {@code
 * InitialPartition} (which stripe has which blocks in the beginning), {@code PooledBlock} (a block
 * that is noted in the index).
 *
 * <p>Invariants: bits are hints, and a wrong one costs time and nothing else; only the state of a
 * block decides which thread owns it.
 */
package io.prmalloc.internal.freelist;
