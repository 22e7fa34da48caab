/**
 * Recordings: files with every allocation and release of a live allocator, in order.
 *
 * <p>{@link io.prmalloc.recording.Recorder} writes one, {@link
 * io.prmalloc.recording.RecordingReader} reads it; users of a pool see a {@link
 * io.prmalloc.recording.Recording}. The format is described in {@code docs/recording.md} and known
 * to this package alone. On the way to the file events go through {@code EventLanes}, and {@code
 * EventOrder} brings them together.
 *
 * <p>May use: the JDK, Agrona, {@code NoInline}, {@code SafeLog}.
 *
 * <p>Conventions: an allocator calls the recorder within a request. So the methods it calls
 * allocate no heap, and wait for no other thread as long as there are no more threads than lanes
 * and the writer keeps up. All other work is done by the writer's thread. A <em>tick</em> is an
 * event's number in the file, from 0. A <em>stamp</em> is its Lamport time before it is in the
 * file; several events may have the same stamp. In a file an allocation is known by its tick,
 * before that by its lane and its place in the lane.
 */
package io.prmalloc.recording;
