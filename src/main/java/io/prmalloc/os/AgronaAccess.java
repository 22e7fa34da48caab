package io.prmalloc.os;

/**
 * Whether Agrona's off-heap buffers work in this JVM. Agrona 2 reaches memory through a
 * JDK-internal class that the JVM opens only on request.
 *
 * <p>Threading: any thread.
 */
public final class AgronaAccess {

  /** The JVM flag that opens what Agrona needs, to be pasted as it is. */
  public static final String FLAG = "--add-opens java.base/jdk.internal.misc=ALL-UNNAMED";

  private static final boolean AVAILABLE =
      Object.class.getModule().isOpen("jdk.internal.misc", agronaModule());

  private AgronaAccess() {}

  private static Module agronaModule() {
    return org.agrona.DirectBuffer.class.getModule();
  }

  /** Whether Agrona's buffers work in this JVM. Threading: any thread. */
  public static boolean isAvailable() {
    return AVAILABLE;
  }

  /**
   * Threading: any thread.
   *
   * @throws IllegalStateException if Agrona's buffers do not work in this JVM; the message holds
   *     the flag
   */
  public static void require() {
    if (!AVAILABLE) {
      throw new IllegalStateException(
          "Agrona's UnsafeBuffer needs the JVM flag: " + FLAG + " (byteBuffer() works without it)");
    }
  }
}
