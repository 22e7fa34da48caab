/**
 * Observers of allocations: recordings, leak detection, learning.
 *
 * <p>Read {@code ObserverRegistry} first: while there are observers, all requests take the slow
 * path, which calls them. Then {@code RecordingObserver} and {@code LeakDetector}.
 *
 * <p>Invariants: an observer that was told of an allocation is told of its release; an observer
 * that throws changes nothing for those who allocate.
 */
package io.prmalloc.internal.observe;
