package io.prmalloc.jmh.rival;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.util.Optional;

/**
 * The JDK's foreign memory and functions, final since 22, looked up by name: this module is built
 * for 17. The JIT sees through the handles found here where they lie in static final fields.
 *
 * <p>Threading: any thread.
 */
final class ForeignMemory {

  private static final int SINCE = 22;
  private static final String PACKAGE = "java.lang.foreign.";
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.publicLookup();

  private ForeignMemory() {}

  /** Why it is not available here; empty if it is. */
  static Optional<String> missing() {
    return missing(Runtime.version());
  }

  static Optional<String> missing(Runtime.Version version) {
    return version.feature() >= SINCE
        ? Optional.empty()
        : Optional.of("java.lang.foreign needs JDK " + SINCE + " or later, this is " + version);
  }

  /** A type of {@code java.lang.foreign}, which must be there. */
  static Class<?> type(String simpleName) {
    try {
      return Class.forName(PACKAGE + simpleName);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(missing().orElse(e.getMessage()), e);
    }
  }

  /** A method of one of its types, as a handle that names none of them. */
  static MethodHandle method(String owner, String name, MethodType type, MethodType seenAs) {
    try {
      return LOOKUP.findVirtual(type(owner), name, type).asType(seenAs);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A static method without arguments. */
  static MethodHandle maker(String owner, String name) {
    try {
      Class<?> type = type(owner);
      return LOOKUP
          .findStatic(type, name, MethodType.methodType(type))
          .asType(MethodType.methodType(Object.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A C function with one 64-bit argument and a 64-bit result. */
  static MethodHandle longToLong(String library, String symbol) {
    return downcall(library, symbol, true);
  }

  /** A C function with one 64-bit argument and no result. */
  static MethodHandle longToVoid(String library, String symbol) {
    return downcall(library, symbol, false);
  }

  private static MethodHandle downcall(String library, String symbol, boolean hasResult) {
    Class<?> arena = type("Arena");
    Class<?> descriptor = type("FunctionDescriptor");
    Class<?> layout = type("MemoryLayout");
    Class<?> layouts = layout.arrayType();
    Class<?> linker = type("Linker");
    Class<?> lookup = type("SymbolLookup");
    try {
      Object word = type("ValueLayout").getField("JAVA_LONG").get(null);
      Object arguments = Array.newInstance(layout, 1);
      Array.set(arguments, 0, word);
      Object signature =
          hasResult
              ? descriptor.getMethod("of", layout, layouts).invoke(null, word, arguments)
              : descriptor.getMethod("ofVoid", layouts).invoke(null, arguments);
      Object global = arena.getMethod("global").invoke(null);
      Object symbols =
          lookup.getMethod("libraryLookup", String.class, arena).invoke(null, library, global);
      Optional<?> function =
          (Optional<?>) lookup.getMethod("find", String.class).invoke(symbols, symbol);
      Class<?> options = type("Linker$Option").arrayType();
      return (MethodHandle)
          linker
              .getMethod("downcallHandle", type("MemorySegment"), descriptor, options)
              .invoke(
                  linker.getMethod("nativeLinker").invoke(null),
                  function.orElseThrow(),
                  signature,
                  Array.newInstance(options.componentType(), 0));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(library + " has no " + symbol + " to call", e);
    }
  }

  /** What a handle threw that throws nothing checked. */
  static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
  }
}
