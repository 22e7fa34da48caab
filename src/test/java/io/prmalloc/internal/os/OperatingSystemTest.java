package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.prmalloc.HugePages;
import io.prmalloc.Prefault;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OperatingSystemTest {

  private static final int MIB = 1 << 20;

  @BeforeEach
  void onLinuxOnly() {
    assumeTrue(Files.exists(Path.of("/proc/self/statm")), "faults and memory are read from Linux");
  }

  @Test
  void shouldAgreeWithTheKernelWhenAskedForThePageSize() {
    assertEquals(Natives.calls().pageSizeBytes(), OperatingSystem.pageSizeBytes());
  }

  @Test
  void shouldKnowEveryModeWhenTheKernelTellsIt() {
    assertEquals(HugePageMode.ALWAYS, OperatingSystem.hugePageMode("[always] madvise never\n"));
    assertEquals(HugePageMode.MADVISE, OperatingSystem.hugePageMode("always [madvise] never\n"));
    assertEquals(HugePageMode.NEVER, OperatingSystem.hugePageMode("always madvise [never]\n"));
    assertEquals(HugePageMode.UNSUPPORTED, OperatingSystem.hugePageMode(""));
    assertEquals(HugePageMode.UNSUPPORTED, OperatingSystem.hugePageMode("[new-mode] never"));
  }

  @Test
  void shouldTellHugePageSizeWhenThereAreHugePages() {
    assumeTrue(
        OperatingSystem.hugePageMode() != HugePageMode.UNSUPPORTED, "no transparent huge pages");
    long bytes = OperatingSystem.hugePageSizeBytes();
    assertEquals(1, Long.bitCount(bytes), "a power of two, not " + bytes);
    assertTrue(bytes > OperatingSystem.pageSizeBytes());
  }

  @Test
  void shouldCountEveryPageWhenFreshMemoryIsTouched() {
    assumeTrue(Natives.calls() instanceof JnaCalls, "needs mmap");
    MappedRegion region = MappedRegion.map(1, 4 * MIB, HugePages.OFF, Prefault.NONE);
    long pages = region.sizeBytes() / OperatingSystem.pageSizeBytes();
    long threadBefore = OperatingSystem.threadMinorFaults();
    long processBefore = OperatingSystem.processMinorFaults();
    for (int offset = 0; offset < region.sizeBytes(); offset += OperatingSystem.pageSizeBytes()) {
      region.buffer().put(offset, (byte) 1);
    }
    long threadFaults = OperatingSystem.threadMinorFaults() - threadBefore;
    long processFaults = OperatingSystem.processMinorFaults() - processBefore;
    region.free();
    assertTrue(threadFaults >= pages, threadFaults + " faults of the thread on " + pages);
    assertTrue(processFaults >= pages, processFaults + " faults of the process on " + pages);
  }

  @Test
  void shouldCountThisThreadOnlyWhenAnotherTouchesMemory() throws InterruptedException {
    assumeTrue(Natives.calls() instanceof JnaCalls, "needs mmap");
    long pages = 64L * MIB / OperatingSystem.pageSizeBytes();
    long before = OperatingSystem.threadMinorFaults();
    Thread other =
        new Thread(() -> MappedRegion.map(1, 64 * MIB, HugePages.OFF, Prefault.TOUCH).free());
    other.start();
    other.join();
    long faults = OperatingSystem.threadMinorFaults() - before;
    assertTrue(faults < pages, faults + " faults of this thread for another's " + pages);
  }

  @Test
  void shouldMakeNoGarbageWhenFaultsAreCounted() {
    assumeTrue(Natives.calls() instanceof JnaCalls, "only getrusage is free of garbage");
    ThreadMXBean threads =
        assertInstanceOf(ThreadMXBean.class, ManagementFactory.getThreadMXBean());
    long sum = 0;
    for (int i = 0; i < 1000; i++) {
      sum += OperatingSystem.threadMinorFaults() + threads.getCurrentThreadAllocatedBytes();
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 1000; i++) {
      sum += OperatingSystem.threadMinorFaults();
    }
    long garbageBytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(sum > 0);
    assertTrue(garbageBytes < 1000, "1000 calls made " + garbageBytes + " bytes of garbage");
  }

  @Test
  void shouldSeeResidentMemoryRiseAndFallWhenMappedAndFreed() throws InterruptedException {
    assumeTrue(Natives.calls() instanceof JnaCalls, "needs mmap");
    EarlierTests.awaitTheirMemory();
    long before = OperatingSystem.residentBytes();
    MappedRegion region = MappedRegion.map(1, 256 * MIB, HugePages.OFF, Prefault.TOUCH);
    long during = OperatingSystem.residentBytes();
    long peak = OperatingSystem.processUsage().peakResidentBytes();
    region.free();
    long after = OperatingSystem.residentBytes();
    // The collector and the compiler come and go meanwhile; 64 MiB of 256 are theirs.
    assertTrue(during - before >= 192L * MIB, "rose by " + (during - before));
    assertTrue(during - after >= 192L * MIB, "fell by " + (during - after));
    assertTrue(peak >= 192L * MIB, "peak " + peak);
  }

  @Test
  void shouldTellTheSamePeakWhenAskedOfThreadAndProcess() {
    ResourceUsage process = OperatingSystem.processUsage();
    ResourceUsage thread = OperatingSystem.threadUsage();
    assertTrue(thread.peakResidentBytes() >= process.peakResidentBytes());
    assertTrue(process.minorFaults() > thread.minorFaults() && thread.minorFaults() > 0);
    assertTrue(process.majorFaults() >= thread.majorFaults());
  }

  @Test
  void shouldTellWhetherHeapWasTrimmedWhenAsked() {
    boolean glibc = ProcFiles.text("/proc/self/maps").contains("libc.so.6");
    assumeTrue(Natives.calls() instanceof JnaCalls && glibc, "only glibc trims");
    assertTrue(OperatingSystem.trimHeap());
  }

  @Test
  void shouldChooseTheStandInWhenTheSystemIsNotLinux() {
    assertInstanceOf(FallbackCalls.class, Natives.load("Mac OS X", "aarch64"));
    assertInstanceOf(FallbackCalls.class, Natives.load("Linux", "mips64"));
  }
}
