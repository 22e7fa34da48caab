package io.prmalloc.internal.os;

import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * A library with a malloc in it, loaded by name next to the C library. The process's own malloc
 * stays what it is.
 *
 * <p>Threading: any thread.
 */
final class LoadedLibrary implements AutoCloseable {

  // A library that lacks a function is not told by the linker: it looks on in the libraries that
  // this one depends on, so every library on earth seems to have a posix_memalign, the C library's.
  // So we ask in which file the function that was found lies (dladdr), and count it only if that is
  // the library's own.
  //
  // Which file is the library's own is not always known: given a bare file name, the linker finds
  // the directory by itself. Then the file of that name next to the function is compared.

  /** What builds put in front of their functions' names. A plain name is the last resort. */
  private static final List<String> PREFIXES = List.of("mi_", "je_", "");

  /** The major version jemalloc and mimalloc have had for years, as file names end. */
  private static final String SONAME_SUFFIX = ".so.2";

  /** Four pointers, of which the first is the file's name. */
  private static final int DL_INFO_LENGTH = 4 * Long.BYTES;

  private final String name;
  // JNA opens libraries so that what is loaded later finds their functions, as if they had been
  // preloaded. Of a malloc that would be half of a replacement: a C++ library that comes later, an
  // inference engine say, would take operator new from here and give back to the C library. 1 is
  // RTLD_LAZY, without RTLD_GLOBAL.
  //
  // They are never unloaded (RTLD_NODELETE, 0x1000): a malloc leaves code to be run when threads
  // end. So JNA's object need not be kept. It must not, for a thread of JNA lives as long as there
  // is one, and keeps our class loader with it: code that opens a library closes it when it has the
  // functions, which stay usable.
  private static final int LAZY_LOCAL_AND_FOR_EVER = 1 | 0x1000;

  /** How libraries are opened: visible only to code that asks for them. */
  static final Map<String, Object> OPEN_LOCAL =
      Map.of(Library.OPTION_OPEN_FLAGS, LAZY_LOCAL_AND_FOR_EVER);

  private static final AtomicLong OPENED = new AtomicLong();

  /**
   * {@link #OPEN_LOCAL} for an object of JNA's that only the caller has, and so may close: JNA
   * gives the same one to all that ask with the same options.
   */
  static Map<String, Object> openAlone() {
    Map<String, Object> options = new HashMap<>(OPEN_LOCAL);
    options.put("io.prmalloc.opened", OPENED.incrementAndGet());
    return options;
  }

  /**
   * The C++ runtime, in memory before any other malloc is. If a malloc that brings its own operator
   * new were the one that loads it, the runtime would use that one, but a C++ library that comes
   * later would not, and the two would give back each other's memory. Most JVMs have it in memory
   * anyway.
   */
  private static final class CxxRuntime {
    private static final String SONAME = "libstdc++.so.6";

    static {
      try {
        NativeLibrary.getInstance(SONAME, openAlone()).close();
      } catch (LinkageError absent) {
        // Then no library here is written in C++.
      }
    }

    /** Loads it, at the first call. */
    static void load() {}
  }

  private final NativeLibrary library;

  private LoadedLibrary(String name, NativeLibrary library) {
    this.name = name;
    this.library = library;
  }

  /**
   * Loads a library. The system's linker looks for it as it does for any; JNA's {@code
   * jna.library.path} is looked at first.
   *
   * @param name without decoration ({@code mimalloc}), or a file name as programs are linked to it
   *     ({@code libmimalloc.so.2}), or a path
   * @throws UnsupportedOperationException if it cannot be loaded; the message names the library,
   *     the reason, and under which names it was looked for
   */
  static LoadedLibrary load(String name) {
    List<String> candidates =
        name.contains(".so") || name.contains(File.separator)
            ? List.of(name)
            : List.of(name, fileName(name));
    CxxRuntime.load();
    LinkageError absent = null;
    for (String candidate : candidates) {
      try {
        return new LoadedLibrary(name, NativeLibrary.getInstance(candidate, openAlone()));
      } catch (LinkageError e) {
        absent = e;
      }
    }
    throw new UnsupportedOperationException(
        name
            + " cannot be loaded: "
            + reason(absent)
            + " (looked for "
            + candidates.stream().map(each -> "`" + each + "`").collect(Collectors.joining(" and "))
            + ")",
        absent);
  }

  /** How the linker finds a library that is installed for programs to run with. */
  static String fileName(String name) {
    return "lib" + name + SONAME_SUFFIX;
  }

  /** JNA says in one line that it did not work, and in the next lines why each attempt did not. */
  private static String reason(LinkageError e) {
    String message = String.valueOf(e.getMessage());
    String reason = message.lines().skip(1).findFirst().orElse(message);
    return reason.contains("static TLS")
        ? reason + "; start the JVM with GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384"
        : reason;
  }

  /** The name it was asked for by. */
  String name() {
    return name;
  }

  /** The file, or what the linker finds the file by. */
  String path() {
    return library.getFile() == null ? library.getName() : library.getFile().getPath();
  }

  /** Lets JNA forget the library, which stays loaded; no more functions can be asked for. */
  @Override
  public void close() {
    library.close();
  }

  /** A function of the library, or of one that it needs. */
  Function function(String symbol) {
    return library.getFunction(symbol);
  }

  /**
   * What stands in front of this library's names of functions.
   *
   * @param functions the plain names; the library has all of them, with the same prefix
   * @throws UnsupportedOperationException if it has not; the message names the library and all that
   *     was looked for
   */
  String prefix(String... functions) {
    for (String prefix : PREFIXES) {
      if (Arrays.stream(functions).allMatch(function -> owns(prefix + function))) {
        return prefix;
      }
    }
    throw new UnsupportedOperationException(
        "library `"
            + name
            + "` ("
            + path()
            + ") has no malloc of its own: looked for "
            + PREFIXES.stream()
                .map(
                    prefix ->
                        Arrays.stream(functions)
                            .map(function -> prefix + function)
                            .collect(Collectors.joining(" and ")))
                .collect(Collectors.joining(", ")));
  }

  /** Whether this library, and not one that it depends on, has a function. */
  boolean owns(String symbol) {
    Function function;
    try {
      function = library.getFunction(symbol);
    } catch (UnsatisfiedLinkError absent) {
      return false;
    }
    // The process as a whole has all that it finds.
    return library.getFile() == null || isSameFile(Path.of(fileOf(function)), library.getFile());
  }

  private static boolean isSameFile(Path home, File file) {
    try {
      Path own = file.isAbsolute() ? file.toPath() : home.resolveSibling(file.getName());
      return own.toRealPath().equals(home.toRealPath());
    } catch (IOException noSuchFile) {
      return false;
    }
  }

  /** The file that this process has a function from; empty if it is not known. */
  static String fileOfProcess(String symbol) {
    try {
      return fileOf(NativeLibrary.getProcess().getFunction(symbol));
    } catch (LinkageError absent) {
      return "";
    }
  }

  private static String fileOf(Pointer function) {
    try (Memory info = new Memory(DL_INFO_LENGTH)) {
      info.clear();
      NativeLibrary.getProcess().getFunction("dladdr").invokeInt(new Object[] {function, info});
      Pointer file = info.getPointer(0);
      return file == null ? "" : file.getString(0);
    }
  }
}
