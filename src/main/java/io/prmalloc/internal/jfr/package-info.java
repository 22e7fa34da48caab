/**
 * Events of Java Flight Recorder: a class for each, and {@link
 * io.prmalloc.internal.jfr.FlightEvents}, by which the other packages write them.
 *
 * <p>Read {@code FlightEvents} first, then the events:
 *
 * <ul>
 *   <li>of plans: {@code PlanMadeEvent}, {@code SwitchOverEvent}, {@code LearningFailedEvent}
 *   <li>of requests: {@code UnservedRequestEvent}, {@code OutsideAllocationEvent}, {@code
 *       LimitHitEvent}
 *   <li>{@code LeakFoundEvent}, and {@code EngineRunEvent} of an engine outside of Java
 * </ul>
 *
 * <p>May use: {@code java..} and {@code jdk.jfr}. The event classes are loaded only where the
 * module {@code jdk.jfr} is there.
 *
 * <p>Invariants: names begin with {@code io.prmalloc.}; the fast path writes no event; an event
 * that is not recorded costs a look at a flag. An event that may come often in normal operation is
 * off until a recording asks for it.
 */
package io.prmalloc.internal.jfr;
