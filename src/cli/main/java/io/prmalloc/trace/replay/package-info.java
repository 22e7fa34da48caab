/**
 * Replays the allocations of a trace again and again on one allocator or several, and measures the
 * cost of a step.
 *
 * <ul>
 *   <li>{@link io.prmalloc.trace.replay.Replayer} replays one step; {@link
 *       io.prmalloc.trace.replay.ReplayReport} shows the result.
 *   <li>{@link io.prmalloc.trace.replay.ShiftReplayer} and {@link
 *       io.prmalloc.trace.replay.ShiftReport} do the same for traffic that changes.
 *   <li>{@link io.prmalloc.trace.replay.VaryingReplayer} replays steps that vary, {@link
 *       io.prmalloc.trace.replay.RecordedReplayer} recordings as they were. Both measure from the
 *       first step on ({@code ColdRun}, {@code ColdWorker}).
 * </ul>
 *
 * <p>Each thread has a worker, and each worker a lane to the allocator under test. The loop over
 * the events of a step depends on the lane only.
 *
 * <p>May use: every package of the library; HdrHistogram, Jackson, Netty's buffers.
 *
 * <p>Conventions: the measured loop makes no garbage and takes no locks of its own; an error of an
 * allocator is a {@link io.prmalloc.trace.replay.ReplayRun#failure} of its run and not an exception
 * of the replayer.
 */
package io.prmalloc.trace.replay;
