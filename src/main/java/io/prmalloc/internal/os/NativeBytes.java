package io.prmalloc.internal.os;

import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Copies between byte buffers and memory of which only the address is known. Through Agrona where
 * the JVM is open to it, else through JNA.
 *
 * <p>Addresses are not checked: a wrong one ends the JVM.
 *
 * <p>Threading: any thread, when no other thread writes the same bytes.
 */
public final class NativeBytes {

  private NativeBytes() {}

  /**
   * Copies to an address all that remains in a buffer, whose position stays.
   *
   * <p>Threading: as the class says.
   *
   * @throws IllegalStateException if neither the JVM flag that Agrona needs nor JNA is there; the
   *     message holds the flag
   */
  public static void write(long address, ByteBuffer from) {
    if (AgronaAccess.isAvailable()) {
      new UnsafeBuffer(address, from.remaining())
          .putBytes(0, from, from.position(), from.remaining());
    } else {
      view(address, from.remaining()).put(from.duplicate());
    }
  }

  /**
   * Copies from an address as much as has room in a buffer, whose position moves to its limit.
   *
   * <p>Threading: as the class says.
   *
   * @throws IllegalStateException if neither the JVM flag that Agrona needs nor JNA is there; the
   *     message holds the flag
   */
  public static void read(long address, ByteBuffer into) {
    if (AgronaAccess.isAvailable()) {
      int bytes = into.remaining();
      new UnsafeBuffer(address, bytes).getBytes(0, into, into.position(), bytes);
      into.position(into.limit());
    } else {
      into.put(view(address, into.remaining()));
    }
  }

  private static ByteBuffer view(long address, int bytes) {
    try {
      return Natives.calls().view(address, bytes);
    } catch (UnsupportedOperationException outOfReach) {
      throw new IllegalStateException(
          "access by address needs JNA or the JVM flag: " + AgronaAccess.FLAG, outOfReach);
    }
  }
}
