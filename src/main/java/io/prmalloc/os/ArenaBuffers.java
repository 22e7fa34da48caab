package io.prmalloc.os;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Direct buffers from {@code java.lang.foreign}, each in a shared arena of its own that is closed
 * to give it back. Needs Java 22.
 *
 * <p>Differences to {@link CleanedBuffers}: closing stops all threads for a handshake and so costs
 * some 70 µs; a buffer that nobody gives back is never freed; access after the end throws {@link
 * IllegalStateException} instead of being undefined; and asynchronous channels refuse these
 * buffers. Both count against {@code MaxDirectMemorySize} and zero the memory.
 *
 * <p>Threading: any thread.
 */
final class ArenaBuffers implements DirectMemory {

  // By method handles, because our bytecode is of Java 17. None of these methods is a restricted
  // one, so the JVM has nothing to warn of.

  private final MethodHandle open;
  private final MethodHandle allocate;
  private final MethodHandle asByteBuffer;
  private final MethodHandle close;

  /**
   * @throws IllegalStateException if this JVM has no {@code java.lang.foreign}; the message holds
   *     the flag that helps
   */
  ArenaBuffers() {
    try {
      Class<?> arena = Class.forName("java.lang.foreign.Arena");
      Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      open =
          lookup
              .findStatic(arena, "ofShared", MethodType.methodType(arena))
              .asType(MethodType.methodType(Object.class));
      allocate =
          lookup
              .findVirtual(
                  arena, "allocate", MethodType.methodType(segment, long.class, long.class))
              .asType(MethodType.methodType(Object.class, Object.class, long.class, long.class));
      asByteBuffer =
          lookup
              .findVirtual(segment, "asByteBuffer", MethodType.methodType(ByteBuffer.class))
              .asType(MethodType.methodType(ByteBuffer.class, Object.class));
      close =
          lookup
              .findVirtual(arena, "close", MethodType.methodType(void.class))
              .asType(MethodType.methodType(void.class, Object.class));
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(
          "direct buffers cannot be given back without java.lang.foreign or the JVM flag: "
              + AgronaAccess.FLAG,
          missing);
    }
  }

  @Override
  public Piece allocate(long alignment, long bytes) {
    try {
      Object arena = (Object) open.invokeExact();
      Object segment = (Object) allocate.invokeExact(arena, bytes, alignment);
      ByteBuffer view = (ByteBuffer) asByteBuffer.invokeExact(segment);
      return new Piece(view.order(ByteOrder.nativeOrder()), arena);
    } catch (Throwable thrown) {
      throw Rethrow.unchecked(thrown);
    }
  }

  @Override
  public void free(Object owner) {
    try {
      close.invokeExact(owner);
    } catch (Throwable thrown) {
      throw Rethrow.unchecked(thrown);
    }
  }
}
