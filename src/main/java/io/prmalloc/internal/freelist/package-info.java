/**
 * What is free, and where a thread looks first.
 *
 * <p>Read {@code FreeIndex} first: words of bits by stripe, the closer's own and those that other
 * threads set; then {@code ChunkIndex} (how blocks of a plan get from one stripe to another),
 * {@code BlockNumbers} (in which word a block is), {@code InitialPartition} (who has which blocks
 * in the beginning), {@code PooledBlock} (a block that is noted there).
 *
 * <p>Invariants: bits are hints, and a wrong one costs time and nothing else; a block has one owner
 * by its state alone.
 */
package io.prmalloc.internal.freelist;
