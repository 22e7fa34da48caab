/**
 * What readers of model files make: graphs for the arena planner, which of them call which, and
 * notes that say to people where a tensor comes from; and {@link io.prmalloc.model.FileInput},
 * which names a file that cannot be read on.
 *
 * <p>May use: {@code io.prmalloc.plan.arena}.
 *
 * <p>Conventions: immutable records, but for that stream; nothing here knows a file format.
 */
package io.prmalloc.model;
