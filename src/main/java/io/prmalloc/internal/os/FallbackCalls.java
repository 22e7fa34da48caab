package io.prmalloc.internal.os;

import java.nio.ByteBuffer;

/**
 * The implementation where native calls do not work: reads what it can from {@code /proc} and
 * refuses the rest, with the reason.
 *
 * <p>Threading: any thread.
 */
final class FallbackCalls implements NativeCalls {

  private static final int DEFAULT_PAGE_BYTES = 4096;
  private static final int MINOR_FAULTS_FIELD = 10;
  private static final int MAJOR_FAULTS_FIELD = 12;

  private final String reason;
  private final Throwable cause;

  /**
   * @param reason why native calls are out of reach, as the end of a sentence
   * @param cause what was thrown when they were tried, or null
   */
  FallbackCalls(String reason, Throwable cause) {
    this.reason = reason;
    this.cause = cause;
  }

  private UnsupportedOperationException unsupported(String call) {
    return new UnsupportedOperationException(
        call + " is not supported on this platform: " + reason, cause);
  }

  @Override
  public void require(String what) {
    throw unsupported(what);
  }

  /** As the kernel told this process when it started; 4096 where it did not. */
  @Override
  public int pageSizeBytes() {
    int told = ProcFiles.pageSizeBytes(ProcFiles.bytes("/proc/self/auxv"));
    return told > 0 ? told : DEFAULT_PAGE_BYTES;
  }

  @Override
  public long mmap(long lengthBytes) {
    throw unsupported("mmap");
  }

  @Override
  public long reserve(long lengthBytes) {
    throw unsupported("mmap");
  }

  @Override
  public int memoryFile(long lengthBytes) {
    throw unsupported("memfd_create");
  }

  @Override
  public int mapFile(int file, long address, long lengthBytes) {
    throw unsupported("mmap");
  }

  @Override
  public int closeFile(int file) {
    throw unsupported("close");
  }

  @Override
  public int munmap(long address, long lengthBytes) {
    throw unsupported("munmap");
  }

  @Override
  public int madvise(long address, long lengthBytes, int advice) {
    throw unsupported("madvise");
  }

  @Override
  public int mprotect(long address, long lengthBytes, int protection) {
    throw unsupported("mprotect");
  }

  @Override
  public long posixMemalign(long alignment, long bytes) {
    throw unsupported("posix_memalign");
  }

  @Override
  public void free(long address) {
    throw unsupported("free");
  }

  @Override
  public long mallocUsableSize(long address) {
    throw unsupported("malloc_usable_size");
  }

  @Override
  public MallocCalls malloc(String libraryName) {
    throw unsupported("the malloc of library `" + libraryName + "`");
  }

  @Override
  public boolean mallocTrim() {
    return JvmCommands.trimNativeHeap();
  }

  @Override
  public ResourceUsage usage(UsageScope scope) {
    String stat = stat(scope);
    return new ResourceUsage(
        ProcFiles.statField(stat, MINOR_FAULTS_FIELD),
        ProcFiles.statField(stat, MAJOR_FAULTS_FIELD),
        ProcFiles.kibibyteLine(ProcFiles.text("/proc/self/status"), "VmHWM"));
  }

  @Override
  public long minorFaults(UsageScope scope) {
    return ProcFiles.statField(stat(scope), MINOR_FAULTS_FIELD);
  }

  private static String stat(UsageScope scope) {
    return ProcFiles.text(
        scope == UsageScope.PROCESS ? "/proc/self/stat" : "/proc/thread-self/stat");
  }

  @Override
  public String errorText(int errorNumber) {
    return "error " + errorNumber;
  }

  @Override
  public ByteBuffer view(long address, long bytes) {
    throw unsupported("a buffer on foreign memory");
  }

  @Override
  public long address(ByteBuffer buffer) {
    throw unsupported("the address of a buffer");
  }
}
