package io.prmalloc.internal.os;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * Native calls through JNA's direct mapping, for 64-bit Linux. Making one loads JNA's native
 * library; from Java 24 on the JVM then prints a warning unless it runs with {@code
 * --enable-native-access=ALL-UNNAMED}.
 *
 * <p>Threading: any thread.
 */
final class JnaCalls implements NativeCalls {

  // Faults are asked for around every step of a replay, where garbage would falsify the numbers. So
  // there is one struct outside the heap, under a lock, and nothing is made per call.
  //
  //   struct rusage of 64-bit Linux, bytes:
  //   user time 0..15 | system time 16..31 | peak resident KiB 32..39 | shared, data, stack 40..63
  //   | minor faults 64..71 | major faults 72..79 | nine more counters 80..143

  private static final int PEAK_RESIDENT_OFFSET = 32;
  private static final int MINOR_FAULTS_OFFSET = 64;
  private static final int MAJOR_FAULTS_OFFSET = 72;
  private static final int USAGE_LENGTH = 144;

  private static final int RUSAGE_SELF = 0;
  private static final int RUSAGE_THREAD = 1;

  private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
  private static final int MAP_SHARED_FIXED = 0x11;
  private static final int MFD_CLOEXEC = 1;

  /**
   * Binds a class's native methods to the functions of the process itself, and not of "libc" by
   * name, so that a preloaded malloc is the one we ask.
   */
  private static void register(Class<?> functions) {
    // With options that only we have JNA makes an object that no other code uses.
    Map<String, Object> own = Map.of(Library.OPTION_FUNCTION_MAPPER, new PlainNames());
    NativeBindings.bind(functions, NativeLibrary.getInstance(null, own));
  }

  /** Names are what they are in C. */
  private static final class PlainNames implements FunctionMapper {
    @Override
    public String getFunctionName(NativeLibrary library, Method method) {
      return method.getName();
    }
  }

  /**
   * The C functions, with the C names. Only primitives and arrays of them: anything else makes JNA
   * convert.
   */
  private static final class Libc {
    static {
      register(Libc.class);
    }

    private Libc() {}

    static native int getpagesize();

    static native long mmap(
        long address, long length, int protection, int flags, int file, long offset);

    static native int munmap(long address, long length);

    static native int ftruncate(int file, long length);

    static native int close(int file);

    static native int madvise(long address, long length, int advice);

    static native int mprotect(long address, long length, int protection);

    static native int posix_memalign(long[] address, long alignment, long size);

    static native void free(long address);

    static native long malloc_usable_size(long address);

    static native int getrusage(int who, long usage);

    static native String strerror(int errorNumber);
  }

  /** Of its own, because other C libraries than glibc lack it, and one missing name spoils all. */
  private static final class Glibc {
    static final boolean AVAILABLE = bind();

    private Glibc() {}

    private static boolean bind() {
      try {
        JnaCalls.register(Glibc.class);
        return true;
      } catch (UnsatisfiedLinkError missing) {
        return false;
      }
    }

    static native int malloc_trim(long keepBytes);
  }

  /** Of its own, because glibc lacks it before 2.27, which inference engines need anyway. */
  private static final class MemoryFiles {
    static final byte[] NAME = {'p', 'r', 'm', 'a', 'l', 'l', 'o', 'c', 0};
    static final boolean AVAILABLE = bind();

    private MemoryFiles() {}

    private static boolean bind() {
      try {
        JnaCalls.register(MemoryFiles.class);
        return true;
      } catch (UnsatisfiedLinkError missing) {
        return false;
      }
    }

    static native int memfd_create(byte[] name, int flags);
  }

  private final long usageAddress;
  private final ByteBuffer usageStruct;

  /**
   * @throws LinkageError if JNA, its native library or one of the C functions is missing
   */
  JnaCalls() {
    // Kept for the life of the JVM.
    usageAddress = posixMemalign(Long.BYTES, USAGE_LENGTH);
    if (usageAddress < 0) {
      throw new OutOfMemoryError(
          "cannot take " + USAGE_LENGTH + " bytes: " + errorText((int) -usageAddress));
    }
    usageStruct = view(usageAddress, USAGE_LENGTH);
  }

  @Override
  public int pageSizeBytes() {
    return Libc.getpagesize();
  }

  @Override
  public long mmap(long lengthBytes) {
    long address = Libc.mmap(0, lengthBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
    return address == -1 ? -Native.getLastError() : address;
  }

  @Override
  public long reserve(long lengthBytes) {
    long address = Libc.mmap(0, lengthBytes, PROT_NONE, MAP_PRIVATE_ANONYMOUS, -1, 0);
    return address == -1 ? -Native.getLastError() : address;
  }

  @Override
  public int memoryFile(long lengthBytes) {
    if (!MemoryFiles.AVAILABLE) {
      return -ENOSYS;
    }
    int file = MemoryFiles.memfd_create(MemoryFiles.NAME, MFD_CLOEXEC);
    if (file < 0) {
      return -Native.getLastError();
    }
    int error = error(Libc.ftruncate(file, lengthBytes));
    if (error != 0) {
      Libc.close(file);
      return -error;
    }
    return file;
  }

  @Override
  public int mapFile(int file, long address, long lengthBytes) {
    long mapped =
        Libc.mmap(address, lengthBytes, PROT_READ | PROT_WRITE, MAP_SHARED_FIXED, file, 0);
    return mapped == -1 ? Native.getLastError() : 0;
  }

  @Override
  public int closeFile(int file) {
    return error(Libc.close(file));
  }

  @Override
  public int munmap(long address, long lengthBytes) {
    return error(Libc.munmap(address, lengthBytes));
  }

  @Override
  public int madvise(long address, long lengthBytes, int advice) {
    return error(Libc.madvise(address, lengthBytes, advice));
  }

  @Override
  public int mprotect(long address, long lengthBytes, int protection) {
    return error(Libc.mprotect(address, lengthBytes, protection));
  }

  private static int error(int result) {
    return result == 0 ? 0 : Native.getLastError();
  }

  @Override
  public long posixMemalign(long alignment, long bytes) {
    long[] address = new long[1];
    int error = Libc.posix_memalign(address, alignment, bytes);
    return error == 0 ? address[0] : -error;
  }

  @Override
  public void free(long address) {
    Libc.free(address);
  }

  @Override
  public long mallocUsableSize(long address) {
    return Libc.malloc_usable_size(address);
  }

  @Override
  public MallocCalls malloc(String libraryName) {
    try (LoadedLibrary library = LoadedLibrary.load(libraryName)) {
      return new LoadedMalloc(library);
    }
  }

  @Override
  public boolean mallocTrim() {
    if (Glibc.AVAILABLE) {
      Glibc.malloc_trim(0);
    }
    return Glibc.AVAILABLE;
  }

  @Override
  public ResourceUsage usage(UsageScope scope) {
    synchronized (usageStruct) {
      readUsage(scope);
      return new ResourceUsage(
          usageStruct.getLong(MINOR_FAULTS_OFFSET),
          usageStruct.getLong(MAJOR_FAULTS_OFFSET),
          peakResidentBytes());
    }
  }

  /** Not the struct's, if the kernel tells better: that one starts with our parent's peak. */
  private long peakResidentBytes() {
    long told = ProcFiles.kibibyteLine(ProcFiles.text("/proc/self/status"), "VmHWM");
    return told > 0 ? told : usageStruct.getLong(PEAK_RESIDENT_OFFSET) * 1024;
  }

  @Override
  public long minorFaults(UsageScope scope) {
    synchronized (usageStruct) {
      readUsage(scope);
      return usageStruct.getLong(MINOR_FAULTS_OFFSET);
    }
  }

  private void readUsage(UsageScope scope) {
    int who = scope == UsageScope.PROCESS ? RUSAGE_SELF : RUSAGE_THREAD;
    int error = error(Libc.getrusage(who, usageAddress));
    if (error != 0) {
      throw new IllegalStateException("getrusage of " + scope + ": " + errorText(error));
    }
  }

  @Override
  public String errorText(int errorNumber) {
    return Libc.strerror(errorNumber) + " (error " + errorNumber + ")";
  }

  @Override
  public ByteBuffer view(long address, long bytes) {
    return new Pointer(address).getByteBuffer(0, bytes);
  }

  @Override
  public long address(ByteBuffer buffer) {
    return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
  }
}
