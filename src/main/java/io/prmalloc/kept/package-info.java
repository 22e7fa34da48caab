/**
 * Plans in files: what a pool has learnt, for the next process or for its replicas.
 *
 * <p>May use: {@code lifetime}, {@code plan} and {@code os}; outside the JDK Jackson's streaming
 * core alone, which is an optional dependency and needed only where a file is read or written.
 *
 * <p>Conventions: what is read is checked whole before anything is made of it; nothing here knows
 * the pool.
 */
package io.prmalloc.kept;
