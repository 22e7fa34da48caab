package io.prmalloc.internal.os;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Commands of the JVM that its tools use, called from within. Needs no native call of ours.
 *
 * <p>Threading: any thread.
 */
final class JvmCommands {

  private JvmCommands() {}

  /**
   * Asks the C library, through the JVM, to give the free memory of its own heap back to the
   * system. The first call starts the JVM's management and takes a tenth of a second or two.
   *
   * @return whether this JVM and this C library know how to
   */
  static boolean trimNativeHeap() {
    try {
      Object answer =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "systemTrimNativeHeap",
                  new Object[0],
                  new String[0]);
      // With a C library that cannot, the command is there and says "Not available".
      return String.valueOf(answer).startsWith("Trim native heap:");
    } catch (JMException | RuntimeException | LinkageError unknown) {
      // An older or another JVM, or one made without the management modules.
      return false;
    }
  }
}
