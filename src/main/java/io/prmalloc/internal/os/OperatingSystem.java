package io.prmalloc.internal.os;

import java.util.Locale;

/**
 * Figures of the operating system and of this process.
 *
 * <p>Faults and peak memory load JNA's native library at the first call, of which Java 24 and later
 * warn unless they run with {@code --enable-native-access=ALL-UNNAMED}. Where JNA does not work,
 * faults and peak memory come from {@code /proc}, and where that is missing too they are 0. {@link
 * #trimHeap} says when it does. Everything else is read from files and never loads anything.
 *
 * <p>Threading: any thread.
 */
public final class OperatingSystem {

  private static final String HUGE_PAGE_DIRECTORY = "/sys/kernel/mm/transparent_hugepage/";

  private static final int PAGE_SIZE_BYTES =
      new FallbackCalls("not asked for", null).pageSizeBytes();

  private OperatingSystem() {}

  /**
   * Bytes of one page of memory, a power of two; 4096 where the system does not tell.
   *
   * <p>Threading: any thread.
   */
  public static int pageSizeBytes() {
    return PAGE_SIZE_BYTES;
  }

  /**
   * For which memory this system makes huge pages now; the administrator may change it at any time.
   *
   * <p>Threading: any thread.
   */
  public static HugePageMode hugePageMode() {
    return hugePageMode(ProcFiles.text(HUGE_PAGE_DIRECTORY + "enabled"));
  }

  static HugePageMode hugePageMode(String enabled) {
    return switch (ProcFiles.selected(enabled).toLowerCase(Locale.ROOT)) {
      case "always" -> HugePageMode.ALWAYS;
      case "madvise" -> HugePageMode.MADVISE;
      case "never" -> HugePageMode.NEVER;
      default -> HugePageMode.UNSUPPORTED;
    };
  }

  /**
   * Bytes of one huge page, a power of two, mostly 2 MiB; 0 where the system has none.
   *
   * <p>Threading: any thread.
   */
  public static long hugePageSizeBytes() {
    long told = ProcFiles.number(ProcFiles.text(HUGE_PAGE_DIRECTORY + "hpage_pmd_size"));
    return told > 0
        ? told
        : ProcFiles.kibibyteLine(ProcFiles.text("/proc/meminfo"), "Hugepagesize");
  }

  /**
   * Page faults of all threads of this process, and the most memory it ever had.
   *
   * <p>Threading: any thread.
   *
   * @return zeros where the platform does not tell
   */
  public static ResourceUsage processUsage() {
    return Natives.calls().usage(NativeCalls.UsageScope.PROCESS);
  }

  /**
   * Page faults of the calling thread (of a virtual thread: its carrier), and the most memory the
   * process ever had.
   *
   * <p>Threading: any thread.
   *
   * @return zeros where the platform does not tell
   */
  public static ResourceUsage threadUsage() {
    return Natives.calls().usage(NativeCalls.UsageScope.THREAD);
  }

  /**
   * Minor page faults of all threads of this process. Makes no garbage where JNA works.
   *
   * <p>Threading: any thread.
   *
   * @return faults since the process started, 0 where the platform does not tell
   */
  public static long processMinorFaults() {
    return Natives.calls().minorFaults(NativeCalls.UsageScope.PROCESS);
  }

  /**
   * Minor page faults of the calling thread (of a virtual thread: its carrier). Makes no garbage
   * where JNA works.
   *
   * <p>Threading: any thread.
   *
   * @return faults since the thread started, 0 where the platform does not tell
   */
  public static long threadMinorFaults() {
    return Natives.calls().minorFaults(NativeCalls.UsageScope.THREAD);
  }

  /**
   * Bytes this process has in memory now, heap, code and all. The kernel's count lags behind by a
   * few pages per thread.
   *
   * <p>Threading: any thread.
   *
   * @return bytes, 0 where the platform does not tell
   */
  public static long residentBytes() {
    return ProcFiles.word(ProcFiles.text("/proc/self/statm"), 1) * PAGE_SIZE_BYTES;
  }

  /**
   * Asks the C library to give the free memory of its own heap back to the system. May take
   * milliseconds on a large heap, and the first call a tenth of a second or two. Loads JNA's native
   * library only where it is not loaded and the JVM does not know how to.
   *
   * <p>Threading: any thread; other threads' {@code malloc} waits meanwhile.
   *
   * @return whether this C library knows how to; false changes nothing
   */
  public static boolean trimHeap() {
    return Natives.areChosen()
        ? Natives.calls().mallocTrim()
        : JvmCommands.trimNativeHeap() || Natives.calls().mallocTrim();
  }

  /**
   * Makes sure that native calls work. May load JNA's native library.
   *
   * <p>Threading: any thread.
   *
   * @param what needs them, for the message
   * @throws UnsupportedOperationException if they do not; the message says why, and what helps
   */
  public static void requireNativeCalls(String what) {
    Natives.calls().require(what);
  }

  /**
   * Has JNA forget our native methods, so that they do not keep our class loader; native calls do
   * not work from then on. For {@code Prmalloc.shutdown}.
   *
   * <p>Threading: any thread, when no region is in use that did not come from direct buffers.
   */
  public static void releaseNativeCalls() {
    Natives.release();
  }

  /**
   * Whether native calls work here, and making one does not make the JVM print a warning that was
   * not there before: JDK 24 and later warn when JNA is loaded without {@code
   * --enable-native-access}.
   *
   * <p>Threading: any thread. May load JNA's native library.
   */
  public static boolean callsNativeSilently() {
    return Natives.areSilent() && Natives.calls() instanceof JnaCalls;
  }
}
