/**
 * Who wants to hear of allocations: recordings, leak detection, learning.
 *
 * <p>Read {@code ObserverRegistry} first: while there are observers the fast path is closed, and
 * each request passes by them. Then {@code RecordingObserver} and {@code LeakDetector}.
 *
 * <p>Invariants: whoever is told of a begin is told of its end; an observer that throws changes
 * nothing for those who allocate.
 */
package io.prmalloc.internal.observe;
