package io.prmalloc.internal.os;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import java.util.Map;

/**
 * A malloc of another make, loaded by name next to the C library's own: jemalloc or mimalloc. The
 * process's own malloc stays what it is.
 *
 * <p>Calls go through JNA's direct mapping. The memory is aligned as the library likes, at least to
 * 16 bytes.
 *
 * <p>Threading: any thread; memory may be freed by another thread than the one that took it.
 */
public abstract class MallocLibrary {

  private MallocLibrary() {}

  /**
   * Takes memory; the bytes are not zeroed.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how many, from 1; what no bytes are is up to the library
   * @return the address, or 0 if the memory is not available
   */
  public abstract long malloc(long bytes);

  /**
   * Gives memory back.
   *
   * <p>Threading: any thread.
   *
   * @param address what {@link #malloc} of this library returned, once; 0 is ignored, anything else
   *     is undefined
   */
  public abstract void free(long address);

  /**
   * Loads a library. The system's linker looks for it as it does for any; JNA's {@code
   * jna.library.path} is looked at first.
   *
   * <p>Threading: any thread.
   *
   * @param name {@code jemalloc} or {@code mimalloc}
   * @throws IllegalArgumentException if the name is another
   * @throws UnsupportedOperationException if it cannot be loaded here; the message says why
   */
  public static MallocLibrary load(String name) {
    if (!name.equals("jemalloc") && !name.equals("mimalloc")) {
      throw new IllegalArgumentException("library `" + name + "` is not jemalloc or mimalloc");
    }
    try (LoadedLibrary library = LoadedLibrary.load(name)) {
      String prefix = library.prefix("malloc", "free");
      return name.equals("jemalloc")
          ? new Jemalloc(library, prefix)
          : new Mimalloc(library, prefix);
    }
  }

  /**
   * Whether a library is this process's own malloc, because the process was started with the
   * library preloaded.
   *
   * <p>Threading: any thread.
   *
   * @param name {@code jemalloc} or {@code mimalloc}
   */
  public static boolean isPreloaded(String name) {
    String file = LoadedLibrary.fileOfProcess("malloc");
    return file.substring(file.lastIndexOf('/') + 1).startsWith("lib" + name + ".");
  }

  /**
   * What to set {@code LD_PRELOAD} to, so that a process gets a library for its malloc: a name
   * without a directory, which the system's linker looks for as it does for any library.
   *
   * <p>Threading: any thread.
   *
   * @param name {@code jemalloc} or {@code mimalloc}
   */
  public static String preloadName(String name) {
    return LoadedLibrary.fileName(name);
  }

  /** Binds the native methods of a class, which have the plain names, to those with a prefix. */
  private static void bind(Class<?> calls, LoadedLibrary library, String prefix) {
    FunctionMapper mapper = (owner, method) -> prefix + method.getName();
    Map<String, Object> options = LoadedLibrary.openAlone();
    options.put(Library.OPTION_FUNCTION_MAPPER, mapper);
    NativeBindings.bind(calls, NativeLibrary.getInstance(library.path(), options));
  }

  private static final class JemallocCalls {
    private JemallocCalls() {}

    static native long malloc(long bytes);

    static native void free(long address);
  }

  private static final class Jemalloc extends MallocLibrary {

    Jemalloc(LoadedLibrary library, String prefix) {
      bind(JemallocCalls.class, library, prefix);
    }

    @Override
    public long malloc(long bytes) {
      return JemallocCalls.malloc(bytes);
    }

    @Override
    public void free(long address) {
      JemallocCalls.free(address);
    }
  }

  private static final class MimallocCalls {
    private MimallocCalls() {}

    static native long malloc(long bytes);

    static native void free(long address);
  }

  private static final class Mimalloc extends MallocLibrary {

    Mimalloc(LoadedLibrary library, String prefix) {
      bind(MimallocCalls.class, library, prefix);
    }

    @Override
    public long malloc(long bytes) {
      return MimallocCalls.malloc(bytes);
    }

    @Override
    public void free(long address) {
      MimallocCalls.free(address);
    }
  }
}
