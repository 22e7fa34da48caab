package io.prmalloc.internal.os;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Direct buffers from {@code java.lang.foreign}, each in a shared arena of its own that is closed
 * to give it back. A buffer that is not freed explicitly is freed when the collector finds that
 * neither it nor a slice of it is in use. Needs Java 22.
 *
 * <p>Differences to {@link CleanedBuffers}: closing stops all threads for a handshake and so costs
 * some 70 µs; access after the end throws {@link IllegalStateException} instead of being undefined;
 * a {@code MemorySegment} made from a buffer does not keep the memory, and throws like that when
 * the buffer is gone; asynchronous channels refuse these buffers; and addresses are known without a
 * flag or native call.
 *
 * <p>The JVM counts arenas neither against {@code MaxDirectMemorySize} nor in its {@code direct}
 * buffer pool. They are counted here, so that the same limit holds with and without the flag; the
 * JVM's other direct buffers are not in this count. Where the limit is reached the collector is run
 * first, as the JVM does for its own buffers.
 *
 * <p>Threading: any thread.
 */
final class ArenaBuffers implements DirectMemory {

  // By method handles, because our bytecode is of Java 17. None of these methods is a restricted
  // one, so the JVM has nothing to warn of.

  // The JVM does not collect a shared arena, so a cleaner watches each buffer. What it runs is
  // built of method handles of the JDK only: the cleaner's thread holds it, and a class of ours in
  // it would keep our class loader, and with it all that its static fields hold, buffers included.

  /**
   * An arena as somebody took it.
   *
   * @param view which keeps the cleaner from freeing it
   * @param bytes counted for it
   */
  private record Owner(Object arena, ByteBuffer view, long bytes, Cleaner.Cleanable forgotten) {}

  /** The JVM's own way: the collector runs once, then we look after 1, 2, 4 … 256 ms. */
  private static final int WAITS_FOR_COLLECTOR = 9;

  private final Cleaner cleaner = Cleaner.create();
  private final long limitBytes;
  private final AtomicLong reservedBytes = new AtomicLong();
  private final MethodHandle open;
  private final MethodHandle allocate;
  private final MethodHandle asByteBuffer;
  private final MethodHandle address;
  private final MethodHandle close;
  private final MethodHandle scope;

  /** Frees an arena that was not closed. */
  private final MethodHandle freeForgotten;

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
      Class<?> scopeType = Class.forName("java.lang.foreign.MemorySegment$Scope");
      scope =
          lookup
              .findVirtual(arena, "scope", MethodType.methodType(scopeType))
              .asType(MethodType.methodType(Object.class, Object.class));
      freeForgotten =
          freeingForgotten(
              lookup
                  .findVirtual(scopeType, "isAlive", MethodType.methodType(boolean.class))
                  .asType(MethodType.methodType(boolean.class, Object.class)),
              close,
              lookup
                  .findVirtual(
                      AtomicLong.class, "addAndGet", MethodType.methodType(long.class, long.class))
                  .bindTo(reservedBytes)
                  .asType(MethodType.methodType(void.class, long.class)));
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
    Object arena = null;
    Cleaner.Cleanable forgotten = null;
    try {
      arena = (Object) open.invokeExact();
      Object segment = (Object) allocate.invokeExact(arena, bytes, alignment);
      ByteBuffer view = (ByteBuffer) asByteBuffer.invokeExact(segment);
      long start = (long) address.invokeExact(segment);
      // Slices hold the view.
      forgotten = cleaner.register(view, freeing(arena, bytes));
      return new Piece(
          view.order(ByteOrder.nativeOrder()), new Owner(arena, view, bytes, forgotten), start);
    } catch (Throwable thrown) {
      undo(arena, bytes, forgotten);
      throw Rethrow.unchecked(thrown);
    }
  }

  /**
   * A function of scope, arena and negated bytes that closes the arena and counts it, if it is
   * open.
   */
  private static MethodHandle freeingForgotten(
      MethodHandle isAlive, MethodHandle close, MethodHandle count) {
    MethodHandle free =
        MethodHandles.foldArguments(MethodHandles.dropArguments(count, 0, Object.class), close);
    MethodHandle ofScope = MethodHandles.dropArguments(free, 0, Object.class);
    return MethodHandles.guardWithTest(isAlive, ofScope, MethodHandles.empty(ofScope.type()));
  }

  private Runnable freeing(Object arena, long bytes) throws Throwable {
    Object alive = (Object) scope.invokeExact(arena);
    return MethodHandleProxies.asInterfaceInstance(
        Runnable.class, MethodHandles.insertArguments(freeForgotten, 0, alive, arena, -bytes));
  }

  private void undo(Object arena, long bytes, Cleaner.Cleanable forgotten) {
    if (forgotten != null) {
      forgotten.clean();
      return;
    }
    reservedBytes.addAndGet(-bytes);
    if (arena != null) {
      close(arena);
    }
  }

  private void close(Object arena) {
    try {
      close.invokeExact(arena);
    } catch (Throwable thrown) {
      throw Rethrow.unchecked(thrown);
    }
  }

  /** Counts bytes. Runs the collector, and waits for it, before it says that there are none. */
  private void reserve(long bytes) {
    if (tryReserve(bytes)) {
      return;
    }
    System.gc();
    boolean reserved = tryReserve(bytes);
    boolean interrupted = false;
    for (int wait = 0; !reserved && wait < WAITS_FOR_COLLECTOR; wait++) {
      try {
        Thread.sleep(1L << wait);
      } catch (InterruptedException told) {
        interrupted = true;
      }
      reserved = tryReserve(bytes);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!reserved) {
      throw new OutOfMemoryError(
          "cannot reserve "
              + bytes
              + " bytes of direct memory: "
              + reservedBytes.get()
              + " reserved, MaxDirectMemorySize "
              + limitBytes);
    }
  }

  private boolean tryReserve(long bytes) {
    long before;
    do {
      before = reservedBytes.get();
      if (bytes > limitBytes - before) {
        return false;
      }
    } while (!reservedBytes.compareAndSet(before, before + bytes));
    return true;
  }

  @Override
  public long bytesAvailable() {
    return limitBytes - reservedBytes.get();
  }

  @Override
  public void free(Object owner) {
    Owner owned = (Owner) owner;
    try {
      close(owned.arena());
      reservedBytes.addAndGet(-owned.bytes());
      // Finds nothing to free any more.
      owned.forgotten().clean();
    } finally {
      // The cleaner must not come between.
      Reference.reachabilityFence(owned.view());
    }
  }
}
