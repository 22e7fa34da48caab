/**
 * Recordings: files of what a live allocator gave out and got back, in order.
 *
 * <p>{@link io.prmalloc.recording.Recorder} writes one, {@link
 * io.prmalloc.recording.RecordingReader} reads it; users of a pool see a {@link
 * io.prmalloc.recording.Recording}. The format is described in {@code docs/recording.md} and known
 * to this package alone. On the way to the file allocations go through the {@code EventRing},
 * releases through the {@code ReleaseLanes}, and {@code EventOrder} brings both together.
 *
 * <p>May use: the JDK.
 *
 * <p>Conventions: what calls the recorder stands on an allocator's way, so no method it calls
 * allocates heap or takes a lock; everything else is done by the writer's thread. A tick is an
 * event's number, from 0: in a file, among all its events; before that, among those that came
 * through the ring, and then a release of a lane has none. An allocation is known by the tick of
 * its event.
 */
package io.prmalloc.recording;
