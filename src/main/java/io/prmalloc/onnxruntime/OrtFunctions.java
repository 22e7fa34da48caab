package io.prmalloc.onnxruntime;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.lang.System.Logger.Level;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;

/**
 * Functions of ONNX Runtime's C API that its Java API lacks, called through JNA.
 *
 * <p>Threading: any thread.
 */
final class OrtFunctions {

  // The API is a table of pointers to functions to which each version appends, so a function keeps
  // its place for ever. The Java API has the table's address and the environment's, but shows
  // neither; they are read by reflection. Places of onnxruntime_c_api.h:

  private static final int GET_ERROR_MESSAGE = 2;
  private static final int CREATE_CPU_MEMORY_INFO = 69;
  private static final int RELEASE_STATUS = 93;
  private static final int CREATE_AND_REGISTER_ALLOCATOR = 144;
  private static final int RELEASE_ARENA_CFG = 157;
  private static final int CREATE_ARENA_CFG_V2 = 164;
  private static final int REGISTER_ALLOCATOR = 176;
  private static final int UNREGISTER_ALLOCATOR = 177;

  private static final String USE_ENVIRONMENT_ALLOCATORS = "session.use_env_allocators";

  /** {@code OrtDeviceAllocator}. */
  static final int DEVICE_ALLOCATOR = 0;

  /** {@code OrtArenaAllocator}. */
  static final int ARENA_ALLOCATOR = 1;

  /** The first version whose Java API and table are as needed, and the last that was tried. */
  private static final int[] FIRST = {1, 17};

  private static final int[] LAST = {1, 29};

  private static final System.Logger LOGGER = System.getLogger(OrtFunctions.class.getName());

  private final Pointer table;
  private final Pointer environment;

  private OrtFunctions(long table, long environment) {
    this.table = new Pointer(table);
    this.environment = new Pointer(environment);
  }

  /**
   * Finds the functions.
   *
   * @throws UnsupportedOperationException if this version of ONNX Runtime is older than those that
   *     were tried, or hides what is needed; the message says which flag helps
   */
  static OrtFunctions of(OrtEnvironment environment) {
    checkVersion(environment.getVersion());
    try {
      Field table = Class.forName("ai.onnxruntime.OnnxRuntime").getDeclaredField("ortApiHandle");
      Method handle = OrtEnvironment.class.getDeclaredMethod("getNativeHandle");
      return new OrtFunctions(open(table).getLong(null), (long) open(handle).invoke(environment));
    } catch (ReflectiveOperationException e) {
      throw new UnsupportedOperationException(
          "ONNX Runtime "
              + environment.getVersion()
              + " keeps the address of its C API elsewhere; "
              + tried(),
          e);
    }
  }

  /** Lets sessions take the environment's allocators. */
  static void useEnvironmentAllocators(OrtSession.SessionOptions options) throws OrtException {
    // ONNX Runtime warns of an entry that is there.
    if (!"1".equals(options.getConfigEntries().get(USE_ENVIRONMENT_ALLOCATORS))) {
      options.addConfigEntry(USE_ENVIRONMENT_ALLOCATORS, "1");
    }
  }

  static void checkVersion(String version) {
    int[] parts;
    try {
      parts =
          Arrays.stream(version.split("[.+-]", -1)).limit(2).mapToInt(Integer::parseInt).toArray();
    } catch (NumberFormatException strange) {
      throw new UnsupportedOperationException(
          "ONNX Runtime " + version + " has no version that can be read; " + tried(), strange);
    }
    if (Arrays.compare(parts, FIRST) < 0) {
      throw new UnsupportedOperationException(
          "ONNX Runtime " + version + " is too old; " + tried());
    }
    if (Arrays.compare(parts, LAST) > 0) {
      LOGGER.log(
          Level.WARNING, "ONNX Runtime {0} is newer than what was tried; {1}", version, tried());
    }
  }

  private static String tried() {
    return "tried were " + FIRST[0] + "." + FIRST[1] + " to " + LAST[0] + "." + LAST[1];
  }

  private static <T extends AccessibleObject & Member> T open(T member) {
    try {
      member.setAccessible(true);
      return member;
    } catch (InaccessibleObjectException closed) {
      Module theirs = member.getDeclaringClass().getModule();
      Module ours = OrtFunctions.class.getModule();
      throw new UnsupportedOperationException(
          "ONNX Runtime is a module that hides "
              + member.getName()
              + ": start with --add-opens "
              + theirs.getName()
              + "/ai.onnxruntime="
              + (ours.isNamed() ? ours.getName() : "ALL-UNNAMED"),
          closed);
    }
  }

  private Function function(int place) {
    return Function.getFunction(table.getPointer((long) place * Native.POINTER_SIZE));
  }

  private void check(int place, Object... arguments) throws OrtException {
    Pointer status = function(place).invokePointer(arguments);
    if (status != null) {
      String message = function(GET_ERROR_MESSAGE).invokeString(new Object[] {status}, false);
      function(RELEASE_STATUS).invokeVoid(new Object[] {status});
      throw new OrtException(message);
    }
  }

  /** A description of the processor's memory; it stays for ever. */
  Pointer cpuMemoryInfo(int allocatorType) throws OrtException {
    PointerByReference result = new PointerByReference();
    check(CREATE_CPU_MEMORY_INFO, allocatorType, 0, result);
    return result.getValue();
  }

  /** Lets sessions of the environment take an allocator, an {@code OrtAllocator}. */
  void register(Pointer allocator) throws OrtException {
    check(REGISTER_ALLOCATOR, environment, allocator);
  }

  /**
   * Sessions that are made from here on do not take the allocator of that memory any more. Does
   * nothing when the JVM is about to end.
   */
  void unregister(Pointer memoryInfo) throws OrtException {
    if (!isShuttingDown()) {
      check(UNREGISTER_ALLOCATOR, environment, memoryInfo);
    }
  }

  /**
   * ONNX Runtime gives its environment up in a shutdown hook of its own, and hooks run side by
   * side: a use in another one may crash the process.
   */
  private static boolean isShuttingDown() {
    Thread none = new Thread(() -> {}, "prmalloc-none");
    try {
      Runtime.getRuntime().addShutdownHook(none);
      return !Runtime.getRuntime().removeShutdownHook(none);
    } catch (IllegalStateException shuttingDown) {
      return true;
    }
  }

  /** Lets sessions of the environment share an arena of the engine's own. */
  void registerArena(Pointer memoryInfo, Map<String, Long> settings) throws OrtException {
    PointerByReference result = new PointerByReference();
    check(
        CREATE_ARENA_CFG_V2,
        settings.keySet().toArray(new String[0]),
        settings.values().stream().mapToLong(Long::longValue).toArray(),
        new com.sun.jna.NativeLong(settings.size()),
        result);
    try {
      check(CREATE_AND_REGISTER_ALLOCATOR, environment, memoryInfo, result.getValue());
    } finally {
      function(RELEASE_ARENA_CFG).invokeVoid(new Object[] {result.getValue()});
    }
  }
}
