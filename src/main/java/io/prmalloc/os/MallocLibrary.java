package io.prmalloc.os;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
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

  /** The major version both libraries have had for years, as the linker's file names end. */
  private static final String SONAME_SUFFIX = ".so.2";

  private MallocLibrary() {}

  /**
   * Takes memory; the bytes are not zeroed.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how many, from 1; what no bytes are is up to the library
   * @return the address, or 0 if the memory is not to be had
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
    try {
      NativeLibrary library = find(name);
      return name.equals("jemalloc") ? new Jemalloc(library) : new Mimalloc(library);
    } catch (LinkageError e) {
      throw new UnsupportedOperationException(name + " cannot be loaded: " + reason(e), e);
    }
  }

  /** The library, under the name developers have it or the one that programs are linked to. */
  private static NativeLibrary find(String name) {
    try {
      return NativeLibrary.getInstance(name);
    } catch (UnsatisfiedLinkError absent) {
      return NativeLibrary.getInstance("lib" + name + SONAME_SUFFIX);
    }
  }

  /** JNA says in one line that it did not work, and in the next lines why each attempt did not. */
  private static String reason(LinkageError e) {
    String message = String.valueOf(e.getMessage());
    String reason = message.lines().skip(1).findFirst().orElse(message);
    return reason.contains("static TLS")
        ? reason + "; start the JVM with GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096"
        : reason;
  }

  /** Binds the native methods of a class, which have the plain names, to those with a prefix. */
  private static void bind(Class<?> calls, NativeLibrary library, String prefix) {
    String path = library.getFile() == null ? library.getName() : library.getFile().getPath();
    FunctionMapper mapper = (owner, method) -> prefix + method.getName();
    Native.register(
        calls, NativeLibrary.getInstance(path, Map.of(Library.OPTION_FUNCTION_MAPPER, mapper)));
  }

  private static boolean has(NativeLibrary library, String symbol) {
    try {
      return library.getFunction(symbol) != null;
    } catch (UnsatisfiedLinkError absent) {
      return false;
    }
  }

  private static final class JemallocCalls {
    private JemallocCalls() {}

    static native long malloc(long bytes);

    static native void free(long address);
  }

  private static final class Jemalloc extends MallocLibrary {

    Jemalloc(NativeLibrary library) {
      // A build may put je_ in front of its names. Asking it for plain malloc then would find the C
      // library's, on which it depends; mallctl exists in jemalloc alone.
      bind(JemallocCalls.class, library, has(library, "mallctl") ? "" : "je_");
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

    Mimalloc(NativeLibrary library) {
      bind(MimallocCalls.class, library, "mi_");
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
