/**
 * Plans in files: a pool's plans, for the next process or for its replicas.
 *
 * <p>{@link io.prmalloc.kept.KeptPlan} is the whole; it has a {@link io.prmalloc.kept.KeptPool} and
 * a {@link io.prmalloc.kept.KeptStep} for each structure of steps.
 *
 * <p>May use: {@code lifetime}, {@code plan} and {@code internal.os}; outside the JDK only
 * Jackson's streaming core, which is an optional dependency and needed only to read or write a
 * file.
 *
 * <p>Conventions: a file is checked as a whole before objects are made of it; nothing here depends
 * on the pool.
 */
package io.prmalloc.kept;
