package io.prmalloc.internal.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The most memory this process had at one time since a moment of the caller's choice.
 *
 * <p>The kernel keeps one high-water mark per process, which starts with it; Linux lets the process
 * set it back to what is resident now. Where that is not possible the mark of the whole process is
 * all there is, and later measurements include the earlier ones.
 *
 * <p>Threading: any thread; but two users who set the mark back disturb each other.
 */
public final class ResidentPeak {

  private static final Path CLEAR_REFS = Path.of("/proc/self/clear_refs");
  private static final String RESET_PEAK = "5";

  private ResidentPeak() {}

  /**
   * Sets the mark back to what is resident now.
   *
   * <p>Threading: any thread.
   *
   * @return whether the system did it
   */
  public static boolean reset() {
    try {
      Files.writeString(CLEAR_REFS, RESET_PEAK);
      return true;
    } catch (IOException | SecurityException notPossible) {
      return false;
    }
  }

  /**
   * The mark: the most bytes in memory since the last {@link #reset} that the system did, or since
   * the process started. Heap, code and all.
   *
   * <p>Threading: any thread.
   *
   * @return bytes, 0 where the platform does not tell
   */
  public static long bytes() {
    long marked = ProcFiles.kibibyteLine(ProcFiles.text("/proc/self/status"), "VmHWM");
    return marked > 0 ? marked : OperatingSystem.processUsage().peakResidentBytes();
  }
}
