package io.prmalloc.os;

/**
 * A memory barrier that one thread has all others pass, so that they need none of their own.
 *
 * <p>Of two threads that each write a word and then read the other's, one must see what the other
 * wrote; each needs a barrier between the two for that. Where one of them does so all the time and
 * the other hardly ever, the second can pay for both: it writes, calls {@link #run}, and reads. Of
 * the first only the order of the two instructions is asked, which an opaque write and an opaque
 * read of a {@code VarHandle} have in HotSpot's compilers. Behind it is Linux's {@code membarrier},
 * which interrupts every processor that runs a thread of this process.
 *
 * <p>Threading: any thread.
 */
public final class ProcessBarrier {

  /** Whether to have it: if it is neither true nor false, where it loads nothing. */
  private static final String WANTED = System.getProperty("prmalloc.processBarrier", "");

  private static final class Holder {
    static final boolean SUPPORTED =
        isOrdered(System.getProperty("java.vm.name", ""))
            && OperatingSystem.callsNativeSilently()
            && register(Natives.calls());
  }

  private ProcessBarrier() {}

  /**
   * Whether there is such a barrier here: on Linux with HotSpot where JNA works without a warning
   * (see {@link OperatingSystem#callsNativeSilently}), if JNA is in use anyway or the system
   * property {@code prmalloc.processBarrier} is {@code true}, and not if that is {@code false}.
   *
   * <p>Threading: any thread. The first call may load JNA's native library if the property is
   * {@code true}; without it, the answer may change once from no to yes.
   */
  public static boolean isSupported() {
    return isWanted(WANTED, Natives.areChosen()) && Holder.SUPPORTED;
  }

  static boolean isWanted(String wanted, boolean nativesInUse) {
    return wanted.equals("true") || (nativesInUse && !wanted.equals("false"));
  }

  /** Whether this JVM keeps opaque accesses of one thread in their order, as HotSpot does. */
  static boolean isOrdered(String virtualMachine) {
    return virtualMachine.contains("HotSpot") || virtualMachine.startsWith("OpenJDK");
  }

  static boolean register(NativeCalls calls) {
    int known = calls.membarrier(NativeCalls.MEMBARRIER_QUERY);
    return known > 0
        && (known & NativeCalls.MEMBARRIER_PRIVATE_EXPEDITED) != 0
        && calls.membarrier(NativeCalls.MEMBARRIER_REGISTER_PRIVATE_EXPEDITED) == 0;
  }

  /**
   * Returns after every other thread of this process has passed a full memory barrier since the
   * call began. Takes some microseconds.
   *
   * <p>Threading: any thread.
   *
   * @throws UnsupportedOperationException if there is none here
   * @throws IllegalStateException if the kernel refuses; it did not when it was asked first
   */
  public static void run() {
    if (!isSupported()) {
      throw new UnsupportedOperationException("no process-wide memory barrier on this platform");
    }
    int result = Natives.calls().membarrier(NativeCalls.MEMBARRIER_PRIVATE_EXPEDITED);
    if (result != 0) {
      throw new IllegalStateException("membarrier: " + Natives.calls().errorText(-result));
    }
  }
}
