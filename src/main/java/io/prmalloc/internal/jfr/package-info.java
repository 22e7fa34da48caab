/**
 * Events of Java Flight Recorder: a class for each, and {@link
 * io.prmalloc.internal.jfr.FlightEvents}, which the rest of the project tells what happened.
 *
 * <p>May use: {@code java..} and {@code jdk.jfr}. The event classes are loaded only where the
 * module {@code jdk.jfr} is there.
 *
 * <p>Conventions: names begin with {@code io.prmalloc.}; nothing is told on the way of a request
 * that finds its block; an event that nobody records costs a look at a flag. What may come often
 * and in good health is off until a recording asks for it.
 */
package io.prmalloc.internal.jfr;
