package io.prmalloc.jmh.rival;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import org.agrona.UnsafeApi;

/**
 * The JDK's {@code Arena}: one for each allocation, because memory comes back when its arena is
 * closed and not before.
 *
 * <p>Threading: as {@link Strategy} says, but what a confined arena gave is released by the thread
 * that took it.
 */
final class ForeignArenas extends HandleStrategy<ForeignArenas.Piece> {

  /** An arena with one segment. Threading: immutable. */
  record Piece(Object arena, long address) {}

  private static final class Handles {
    static final MethodHandle CONFINED = ForeignMemory.maker("Arena", "ofConfined");
    static final MethodHandle SHARED = ForeignMemory.maker("Arena", "ofShared");
    static final MethodHandle ALLOCATE =
        ForeignMemory.method(
            "Arena",
            "allocate",
            MethodType.methodType(ForeignMemory.type("MemorySegment"), long.class, long.class),
            MethodType.methodType(Object.class, Object.class, long.class, long.class));
    static final MethodHandle ADDRESS =
        ForeignMemory.method(
            "MemorySegment",
            "address",
            MethodType.methodType(long.class),
            MethodType.methodType(long.class, Object.class));
    static final MethodHandle CLOSE =
        ForeignMemory.method(
            "Arena",
            "close",
            MethodType.methodType(void.class),
            MethodType.methodType(void.class, Object.class));
  }

  private final boolean confined;

  private ForeignArenas(boolean confined) {
    this.confined = confined;
  }

  static ForeignArenas confined() {
    return new ForeignArenas(true);
  }

  static ForeignArenas shared() {
    return new ForeignArenas(false);
  }

  @Override
  Piece take(long bytes) {
    try {
      Object arena =
          confined
              ? (Object) Handles.CONFINED.invokeExact()
              : (Object) Handles.SHARED.invokeExact();
      Object segment = (Object) Handles.ALLOCATE.invokeExact(arena, bytes, 64L);
      return new Piece(arena, (long) Handles.ADDRESS.invokeExact(segment));
    } catch (Throwable e) {
      throw ForeignMemory.unexpected(e);
    }
  }

  @Override
  long touch(Piece piece, long value) {
    UnsafeApi.putLong(piece.address, value);
    return UnsafeApi.getLong(piece.address);
  }

  @Override
  long address(Piece piece) {
    return piece.address;
  }

  @Override
  void giveBack(Piece piece) {
    try {
      Handles.CLOSE.invokeExact(piece.arena);
    } catch (Throwable e) {
      throw ForeignMemory.unexpected(e);
    }
  }

  @Override
  public void close() {}
}
