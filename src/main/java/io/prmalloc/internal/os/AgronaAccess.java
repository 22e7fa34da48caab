package io.prmalloc.internal.os;

/**
 * Whether Agrona's off-heap buffers work in this JVM. Agrona 2 reaches memory through a
 * JDK-internal class that the JVM opens only on request.
 *
 * <p>Threading: any thread.
 */
public final class AgronaAccess {

  private static final Module AGRONA = org.agrona.DirectBuffer.class.getModule();

  /**
   * The JVM flag that opens what Agrona needs, to be pasted as it is: to the class path, or to the
   * module that Agrona is here.
   */
  public static final String FLAG =
      "--add-opens java.base/jdk.internal.misc="
          + (AGRONA.isNamed() ? AGRONA.getName() : "ALL-UNNAMED");

  private static final boolean AVAILABLE =
      Object.class.getModule().isOpen("jdk.internal.misc", AGRONA);

  private AgronaAccess() {}

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
