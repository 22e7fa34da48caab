/**
 * Recordings: files of what a live allocator gave out and got back, in order.
 *
 * <p>{@link io.prmalloc.recording.Recorder} writes one, {@link
 * io.prmalloc.recording.RecordingReader} reads it; users of a pool see a {@link
 * io.prmalloc.recording.Recording}. The format is described in {@code docs/recording.md} and known
 * to this package alone. On the way to the file events go through {@code EventLanes}, and {@code
 * EventOrder} brings them together.
 *
 * <p>May use: the JDK, Agrona, {@code NoInline}.
 *
 * <p>Conventions: what calls the recorder stands on an allocator's way, so no method it calls
 * allocates heap, and none waits for another thread where there are not more threads than lanes and
 * the writer keeps up; everything else is done by the writer's thread. A tick is an event's number
 * in the file, from 0; a stamp is its Lamport time before it is there, which others may share. In a
 * file an allocation is known by its tick, before that by its lane and place there.
 */
package io.prmalloc.recording;
