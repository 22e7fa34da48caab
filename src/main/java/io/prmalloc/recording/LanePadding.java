package io.prmalloc.recording;

/**
 * Two cache lines of padding in front of an {@link EventLane}, against false sharing. Threading:
 * stateless.
 */
@SuppressWarnings("UnusedVariable")
abstract class LanePadding {
  private long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15;
}
