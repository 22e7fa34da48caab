package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class FallbackCallsTest {

  private final Throwable cause = new UnsatisfiedLinkError("no library");
  private final NativeCalls calls = new FallbackCalls("JNA is broken", cause);

  @Test
  void shouldNameTheJarWhenJnaIsTooOld() {
    // As version 5.11 and those before are: NativeLibrary.close() is not in them.
    String old = Natives.whyUnreachable(new NoSuchMethodError("close()"));
    assertTrue(
        old.startsWith(
            "JNA does not work in this JVM: close() (JNA 5.12 or later is needed, and an older one"
                + " is loaded, from file:"),
        old);
    assertTrue(old.endsWith(".jar)"), old);
    String unpacked = Natives.whyUnreachable(new UnsatisfiedLinkError("no library"));
    assertTrue(unpacked.contains("no library (JNA needs its native library: "), unpacked);
  }

  @Test
  void shouldSayWhyWhenACallIsNotSupported() {
    List<Executable> unsupported =
        List.of(
            () -> calls.mmap(1),
            () -> calls.munmap(1, 1),
            () -> calls.madvise(1, 1, 1),
            () -> calls.mprotect(1, 1, 1),
            () -> calls.posixMemalign(8, 1),
            () -> calls.free(1),
            () -> calls.mallocUsableSize(1),
            () -> calls.malloc("jemalloc"),
            () -> calls.view(1, 1),
            () -> calls.address(ByteBuffer.allocateDirect(1)));
    for (Executable call : unsupported) {
      UnsupportedOperationException refused =
          assertThrows(UnsupportedOperationException.class, call);
      assertTrue(
          refused.getMessage().endsWith(" is not supported on this platform: JNA is broken"),
          refused.getMessage());
      assertSame(cause, refused.getCause());
    }
  }

  @Test
  void shouldTrimThroughTheJvmWhenAsked() {
    assumeTrue(ProcFiles.text("/proc/self/maps").contains("libc.so.6"), "only glibc trims");
    assumeTrue(Runtime.version().feature() >= 21, "older JVMs know how to from some update on");
    assertTrue(calls.mallocTrim());
  }

  @Test
  void shouldTellTheNumberWhenAskedForAnErrorInWords() {
    assertEquals("error 12", calls.errorText(12));
  }

  @Test
  void shouldReadUsageFromProcWhenThereIsOne() {
    assumeTrue(Files.exists(Path.of("/proc/thread-self/stat")), "no /proc of Linux");
    ResourceUsage process = calls.usage(NativeCalls.UsageScope.PROCESS);
    ResourceUsage thread = calls.usage(NativeCalls.UsageScope.THREAD);
    assertTrue(process.minorFaults() > thread.minorFaults() && thread.minorFaults() > 0);
    assertTrue(process.peakResidentBytes() >= 1 << 20);
    assertTrue(calls.pageSizeBytes() >= 4096);
  }
}
