/**
 * Runs the allocations of a trace for real, again and again, through one allocator or several, and
 * measures what a step costs.
 *
 * <p>{@link io.prmalloc.trace.replay.Replayer} is the way in; {@link
 * io.prmalloc.trace.replay.ReplayReport} shows what came out. {@link
 * io.prmalloc.trace.replay.ShiftReplayer} and {@link io.prmalloc.trace.replay.ShiftReport} do the
 * same for traffic that changes, {@link io.prmalloc.trace.replay.VaryingReplayer} and {@link
 * io.prmalloc.trace.replay.RecordedReplayer} for steps that vary and for recordings as they were,
 * measured from the first step on ({@code ColdRun}, {@code ColdWorker}). Inside, each thread has a
 * worker, a worker has a lane into the allocator under test, and the loop over the events of a step
 * knows only its lane.
 *
 * <p>May use: every package of the library; HdrHistogram, Jackson, Netty's buffers.
 *
 * <p>Conventions: the loop that is measured makes no garbage and takes no locks of its own; what an
 * allocator does wrong is a {@link io.prmalloc.trace.replay.ReplayRun#failure} of its run and not
 * an exception of the replayer.
 */
package io.prmalloc.trace.replay;
