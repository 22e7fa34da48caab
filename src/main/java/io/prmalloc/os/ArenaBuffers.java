package io.prmalloc.os;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Direct buffers from {@code java.lang.foreign}, each in a shared arena of its own that is closed
 * to give it back. Needs Java 22.
 *
 * <p>Differences to {@link CleanedBuffers}: closing stops all threads for a handshake and so costs
 * some 70 µs; a buffer that nobody gives back is never freed; access after the end throws {@link
 * IllegalStateException} instead of being undefined; asynchronous channels refuse these buffers;
 * and addresses are known without a flag or native call.
 *
 * <p>The JVM counts arenas neither against {@code MaxDirectMemorySize} nor in its {@code direct}
 * buffer pool. They are counted here, so that the same limit holds with and without the flag; the
 * JVM's other direct buffers are not in this count.
 *
 * <p>Threading: any thread.
 */
final class ArenaBuffers implements DirectMemory {

  // By method handles, because our bytecode is of Java 17. None of these methods is a restricted
  // one, so the JVM has nothing to warn of.

  /** An arena and how many bytes were counted for it. */
  private record Owner(Object arena, long bytes) {}

  private final long limitBytes;
  private final AtomicLong reservedBytes = new AtomicLong();
  private final MethodHandle open;
  private final MethodHandle allocate;
  private final MethodHandle asByteBuffer;
  private final MethodHandle address;
  private final MethodHandle close;

  /**
   * @param limitBytes the most bytes to take at a time
   * @throws IllegalStateException if this JVM has no {@code java.lang.foreign}; the message holds
   *     the flag that helps
   */
  ArenaBuffers(long limitBytes) {
    this.limitBytes = limitBytes;
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
      address =
          lookup
              .findVirtual(segment, "address", MethodType.methodType(long.class))
              .asType(MethodType.methodType(long.class, Object.class));
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
    reserve(bytes);
    boolean taken = false;
    try {
      Object arena = (Object) open.invokeExact();
      Object segment = (Object) allocate.invokeExact(arena, bytes, alignment);
      ByteBuffer view = (ByteBuffer) asByteBuffer.invokeExact(segment);
      long start = (long) address.invokeExact(segment);
      taken = true;
      return new Piece(view.order(ByteOrder.nativeOrder()), new Owner(arena, bytes), start);
    } catch (Throwable thrown) {
      throw Rethrow.unchecked(thrown);
    } finally {
      if (!taken) {
        reservedBytes.addAndGet(-bytes);
      }
    }
  }

  private void reserve(long bytes) {
    long before;
    do {
      before = reservedBytes.get();
      if (bytes > limitBytes - before) {
        throw new OutOfMemoryError(
            "cannot reserve "
                + bytes
                + " bytes of direct memory: "
                + before
                + " reserved, MaxDirectMemorySize "
                + limitBytes);
      }
    } while (!reservedBytes.compareAndSet(before, before + bytes));
  }

  @Override
  public long bytesAvailable() {
    return limitBytes - reservedBytes.get();
  }

  @Override
  public void free(Object owner) {
    Owner owned = (Owner) owner;
    try {
      close.invokeExact(owned.arena());
    } catch (Throwable thrown) {
      throw Rethrow.unchecked(thrown);
    }
    reservedBytes.addAndGet(-owned.bytes());
  }
}
