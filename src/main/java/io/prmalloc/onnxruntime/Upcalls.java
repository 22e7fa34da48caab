package io.prmalloc.onnxruntime;

import com.sun.jna.Callback;
import com.sun.jna.CallbackThreadInitializer;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * An {@code OrtAllocator} whose functions are Java's. What it is made of stays for as long as the
 * process runs: no call of ONNX Runtime is known to be the last.
 *
 * <p>Threading: any thread.
 */
final class Upcalls {

  // struct OrtAllocator { uint32_t version; void* (*Alloc)(self, size_t); void (*Free)(self,
  // void*); const OrtMemoryInfo* (*Info)(self); void* (*Reserve)(self, size_t); ... }. It says how
  // many of its functions are there by its version; later ones are null.

  private static final int VERSION = 18;
  private static final int STRUCT_BYTES = 128;
  private static final int ALLOC = 8;
  private static final int FREE = 16;
  private static final int INFO = 24;
  private static final int RESERVE = 32;

  /** The first Java that has {@code java.lang.foreign}. */
  private static final int FOREIGN_JAVA = 22;

  /** What must never be collected. */
  private static final List<Object> KEPT = new ArrayList<>();

  /** {@code Alloc} for JNA. Public, for JNA makes a proxy. */
  public interface Allocate extends Callback {
    /** As {@link EngineCalls#allocate}. */
    long callback(long self, long bytes);
  }

  /** {@code Free} for JNA. */
  public interface Free extends Callback {
    /** As {@link EngineCalls#free}. */
    void callback(long self, long address);
  }

  /** {@code Info} for JNA. */
  public interface Info extends Callback {
    /** As {@link EngineCalls#info}. */
    long callback(long self);
  }

  private Upcalls() {}

  /** Makes the struct. */
  static Pointer allocator(EngineCalls calls) {
    Pointer struct = new Pointer(Native.malloc(STRUCT_BYTES));
    struct.clear(STRUCT_BYTES);
    struct.setInt(0, VERSION);
    if (Runtime.version().feature() >= FOREIGN_JAVA) {
      fillByForeignFunctions(struct, calls);
    } else {
      fillByJna(struct, calls);
    }
    return struct;
  }

  private static void fillByJna(Pointer struct, EngineCalls calls) {
    Allocate allocate = calls::allocate;
    Free free = calls::free;
    Info info = calls::info;
    for (Callback callback : List.of(allocate, free, info)) {
      // JNA would attach and detach a thread of the engine's at each call.
      Native.setCallbackThreadInitializer(
          callback, new CallbackThreadInitializer(true, false, "prmalloc-engine"));
      keep(callback);
    }
    struct.setLong(ALLOC, Direct.llabs(allocate));
    struct.setLong(RESERVE, Direct.llabs(allocate));
    struct.setLong(FREE, Direct.llabs(free));
    struct.setLong(INFO, Direct.llabs(info));
  }

  /**
   * JNA calls a callback without boxes, and so without heap, only where it was handed to a function
   * that is mapped directly. This one hands its address back: it is positive.
   */
  private static final class Direct {
    static {
      Native.register(Direct.class, Platform.C_LIBRARY_NAME);
    }

    static native long llabs(Callback callback);
  }

  private static synchronized void keep(Object value) {
    KEPT.add(value);
  }

  private static void fillByForeignFunctions(Pointer struct, EngineCalls calls) {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      MethodType allocate = MethodType.methodType(long.class, long.class, long.class);
      MethodType free = MethodType.methodType(void.class, long.class, long.class);
      MethodType info = MethodType.methodType(long.class, long.class);
      long alloc = stub(lookup.bind(calls, "allocate", allocate));
      struct.setLong(ALLOC, alloc);
      struct.setLong(RESERVE, alloc);
      struct.setLong(FREE, stub(lookup.bind(calls, "free", free)));
      struct.setLong(INFO, stub(lookup.bind(calls, "info", info)));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("java.lang.foreign is not as expected", e);
    }
  }

  /** By reflection, for our bytecode is of Java 17. */
  private static long stub(MethodHandle target) throws ReflectiveOperationException {
    Class<?> linkerType = Class.forName("java.lang.foreign.Linker");
    Class<?> optionType = Class.forName("java.lang.foreign.Linker$Option");
    Class<?> arenaType = Class.forName("java.lang.foreign.Arena");
    Class<?> descriptorType = Class.forName("java.lang.foreign.FunctionDescriptor");
    Object arena = arenaType.getMethod("global").invoke(null);
    Object linker = linkerType.getMethod("nativeLinker").invoke(null);
    Object stub =
        linkerType
            .getMethod(
                "upcallStub", MethodHandle.class, descriptorType, arenaType, optionType.arrayType())
            .invoke(
                linker,
                target,
                descriptor(descriptorType, target.type()),
                arena,
                java.lang.reflect.Array.newInstance(optionType, 0));
    return (long)
        Class.forName("java.lang.foreign.MemorySegment").getMethod("address").invoke(stub);
  }

  private static Object descriptor(Class<?> type, MethodType of)
      throws ReflectiveOperationException {
    Class<?> layoutType = Class.forName("java.lang.foreign.MemoryLayout");
    Object layout = Class.forName("java.lang.foreign.ValueLayout").getField("JAVA_LONG").get(null);
    Object[] parameters =
        (Object[]) java.lang.reflect.Array.newInstance(layoutType, of.parameterCount());
    Arrays.fill(parameters, layout);
    return of.returnType() == void.class
        ? type.getMethod("ofVoid", layoutType.arrayType()).invoke(null, (Object) parameters)
        : type.getMethod("of", layoutType, layoutType.arrayType()).invoke(null, layout, parameters);
  }
}
