/**
 * Observers of allocations: recordings, leak detection, learning.
 *
 * <p>Read {@code ObserverRegistry} first: while there are observers, all requests take the slow
 * path, which calls them. Then {@code RecordingObserver} and {@code LeakDetector}.
 *
 * <p>Invariants: an observer that was told of an allocation is told of its release; an exception of
 * an observer does not reach callers that allocate.
 */
package io.prmalloc.internal.observe;
