package io.prmalloc.jmh.rival;

import io.prmalloc.internal.os.MallocLibrary;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * A malloc and its free in a library of its own, called the cheapest way that this JDK has: through
 * its foreign-function interface from 22 on, through JNA's direct mapping before.
 *
 * <p>Threading: any thread.
 */
interface NativeHeap {

  // A method handle is as cheap as a call only where the JIT sees that it is a constant, that is in
  // a static final field. Hence a class for each library.

  /** An address, or 0. */
  long malloc(long bytes);

  void free(long address);

  /** Why the library is not available here; empty if it is. */
  static Optional<String> missing(String name) {
    try {
      MallocLibrary.load(name);
      return Optional.empty();
    } catch (UnsupportedOperationException e) {
      return Optional.of(e.getMessage());
    }
  }

  static NativeHeap jemalloc() {
    return ForeignMemory.missing().isEmpty() ? new Jemalloc() : mapped("jemalloc");
  }

  static NativeHeap mimalloc() {
    return ForeignMemory.missing().isEmpty() ? new Mimalloc() : mapped("mimalloc");
  }

  /** Through JNA. */
  static NativeHeap mapped(String name) {
    MallocLibrary library = MallocLibrary.load(name);
    return new NativeHeap() {
      @Override
      public long malloc(long bytes) {
        return library.malloc(bytes);
      }

      @Override
      public void free(long address) {
        library.free(address);
      }
    };
  }

  /** Through the JDK. */
  final class Jemalloc implements NativeHeap {
    private static final MethodHandle MALLOC =
        ForeignMemory.longToLong("libjemalloc.so.2", "malloc");
    private static final MethodHandle FREE = ForeignMemory.longToVoid("libjemalloc.so.2", "free");

    @Override
    public long malloc(long bytes) {
      try {
        return (long) MALLOC.invokeExact(bytes);
      } catch (Throwable e) {
        throw ForeignMemory.unexpected(e);
      }
    }

    @Override
    public void free(long address) {
      try {
        FREE.invokeExact(address);
      } catch (Throwable e) {
        throw ForeignMemory.unexpected(e);
      }
    }
  }

  /** Through the JDK. */
  final class Mimalloc implements NativeHeap {
    private static final MethodHandle MALLOC =
        ForeignMemory.longToLong("libmimalloc.so.2", "mi_malloc");
    private static final MethodHandle FREE =
        ForeignMemory.longToVoid("libmimalloc.so.2", "mi_free");

    @Override
    public long malloc(long bytes) {
      try {
        return (long) MALLOC.invokeExact(bytes);
      } catch (Throwable e) {
        throw ForeignMemory.unexpected(e);
      }
    }

    @Override
    public void free(long address) {
      try {
        FREE.invokeExact(address);
      } catch (Throwable e) {
        throw ForeignMemory.unexpected(e);
      }
    }
  }
}
