package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.HugePages;
import io.prmalloc.MemoryRegion;
import io.prmalloc.Prefault;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MappedRegionTest {

  private static final int MIB = 1 << 20;
  private static final int PAGE = OperatingSystem.pageSizeBytes();

  private final ScriptedCalls calls = new ScriptedCalls();

  @BeforeEach
  void withJnaOnly() {
    assumeTrue(Natives.calls() instanceof JnaCalls, "native calls do not work here");
  }

  private MappedRegion map(long alignment, long bytes, HugePages hugePages, Prefault prefault) {
    return MappedRegion.map(calls, alignment, bytes, hugePages, prefault);
  }

  @Test
  void shouldMapWholePagesAndNothingMoreWhenAligned() {
    for (long alignment = 1; alignment <= 8 * MIB; alignment *= 2) {
      MappedRegion region = map(alignment, PAGE + 1, HugePages.OFF, Prefault.NONE);
      assertEquals(0, region.address() % alignment);
      assertEquals(2L * PAGE, region.sizeBytes());
      assertEquals(2L * PAGE, calls.mappedBytes);
      region.buffer().put(2 * PAGE - 1, (byte) 1);
      assertEquals(region.address(), Natives.calls().address(region.buffer()));
      region.free();
      assertEquals(0, calls.mappedBytes);
    }
  }

  @Test
  void shouldTellTheSizeBeforehandWhenAsked() {
    assertEquals(PAGE, MappedRegion.sizeBytesFor(1));
    assertEquals(PAGE, MappedRegion.sizeBytesFor(PAGE));
    assertEquals(2L * PAGE, MappedRegion.sizeBytesFor(PAGE + 1));
    assertEquals(MemoryRegion.MAX_BYTES, MappedRegion.sizeBytesFor(MemoryRegion.MAX_BYTES));
    assertThrows(IllegalArgumentException.class, () -> MappedRegion.sizeBytesFor(0));
  }

  @Test
  void shouldReachTheLastByteWhenAsLargeAsCanBe() {
    MappedRegion region = map(64, MemoryRegion.MAX_BYTES, HugePages.OFF, Prefault.NONE);
    assertEquals(MemoryRegion.MAX_BYTES, region.sizeBytes());
    region.buffer().put(Integer.MAX_VALUE - 1, (byte) 9);
    assertEquals(9, region.buffer().get(Integer.MAX_VALUE - 1));
    region.free();
    assertEquals(0, calls.mappedBytes);
  }

  @Test
  void shouldReachTheLastByteWhenLargerThanABuffer() {
    long bytes = (5L << 30) + 1;
    assertEquals((5L << 30) + PAGE, MappedRegion.sizeBytesFor(bytes));
    MappedRegion region = map(64, bytes, HugePages.OFF, Prefault.NONE);
    assertEquals((5L << 30) + PAGE, region.sizeBytes());
    assertEquals(MemoryRegion.MAX_BYTES, region.buffer().capacity());
    ByteBuffer last = calls.view(region.address() + bytes - 1, 1);
    last.put(0, (byte) 9);
    assertEquals(PAGE, region.discard(5L << 30, PAGE));
    assertEquals(0, last.get(0));
    region.free();
    assertEquals(0, calls.mappedBytes);
  }

  @Test
  void shouldAskForHugePagesWhenThp() {
    assumeTrue(
        OperatingSystem.hugePageMode() != HugePageMode.UNSUPPORTED, "no transparent huge pages");
    MappedRegion region = map(64, 5 * MIB, HugePages.THP, Prefault.NONE);
    assertEquals(0, region.address() % OperatingSystem.hugePageSizeBytes());
    List<String> flags = Mappings.flags(region.address());
    assertTrue(flags.contains("hg"), "flags " + flags);
    assertEquals(5L * MIB, calls.mappedBytes);
    region.free();
    assertEquals(0, calls.mappedBytes);
  }

  @Test
  void shouldNotAskForHugePagesWhenOff() {
    MappedRegion region = map(64, 5 * MIB, HugePages.OFF, Prefault.NONE);
    List<String> flags = Mappings.flags(region.address());
    region.free();
    assumeTrue(!flags.isEmpty(), "the kernel does not tell");
    assertTrue(!flags.contains("hg"), "flags " + flags);
    assertEquals(OperatingSystem.hugePageMode() == HugePageMode.ALWAYS, flags.contains("nh"), "nh");
  }

  @ParameterizedTest
  @EnumSource(names = {"TOUCH", "POPULATE"})
  void shouldLeaveNoFaultsToTheUserWhenPrefaulted(Prefault prefault) {
    for (HugePages hugePages : HugePages.values()) {
      MappedRegion region = map(64, 8 * MIB, hugePages, prefault);
      assertFewFaults(region);
      region.free();
    }
  }

  @Test
  void shouldTouchWhenTheKernelCannotPopulate() {
    calls.madviseErrors.put(NativeCalls.MADV_POPULATE_WRITE, NativeCalls.EINVAL);
    MappedRegion region = map(64, 8 * MIB, HugePages.OFF, Prefault.POPULATE);
    assertFewFaults(region);
    region.free();
  }

  private static void assertFewFaults(MappedRegion region) {
    long pages = region.sizeBytes() / PAGE;
    long before = OperatingSystem.threadMinorFaults();
    for (int offset = 0; offset < region.sizeBytes(); offset += PAGE) {
      region.buffer().put(offset, (byte) 1);
    }
    long faults = OperatingSystem.threadMinorFaults() - before;
    // Room for what the JVM itself does on this thread.
    assertTrue(faults < pages / 4, faults + " faults on " + pages + " pages");
  }

  @Test
  void shouldThrowOutOfMemoryWithSizeAndReasonWhenTheSystemHasNone() {
    calls.mmapError = NativeCalls.ENOMEM;
    OutOfMemoryError refused =
        assertThrows(OutOfMemoryError.class, () -> map(64, PAGE, HugePages.OFF, Prefault.NONE));
    assertEquals(
        "mmap of " + PAGE + " bytes: Cannot allocate memory (error 12)", refused.getMessage());
  }

  @Test
  void shouldThrowIllegalStateWhenTheSystemRefusesForAnotherReason() {
    calls.mmapError = 1;
    IllegalStateException refused =
        assertThrows(
            IllegalStateException.class, () -> map(64, PAGE, HugePages.OFF, Prefault.NONE));
    assertTrue(refused.getMessage().endsWith("(error 1)"), refused.getMessage());
  }

  @Test
  void shouldUnmapEverythingWhenPopulatingFails() {
    calls.madviseErrors.put(NativeCalls.MADV_POPULATE_WRITE, NativeCalls.ENOMEM);
    assertThrows(OutOfMemoryError.class, () -> map(64, 8 * MIB, HugePages.THP, Prefault.POPULATE));
    assertEquals(0, calls.mappedBytes);
  }

  @Test
  void shouldGoOnWithoutHugePagesWhenTheKernelHasNone() {
    calls.madviseErrors.put(NativeCalls.MADV_HUGEPAGE, NativeCalls.EINVAL);
    map(64, 8 * MIB, HugePages.THP, Prefault.NONE).free();
    assertEquals(0, calls.mappedBytes);
  }

  @Test
  void shouldUnmapEverythingWhenAdviceFails() {
    calls.madviseErrors.put(NativeCalls.MADV_HUGEPAGE, 1);
    assertThrows(IllegalStateException.class, () -> map(64, 8 * MIB, HugePages.THP, Prefault.NONE));
    assertEquals(0, calls.mappedBytes);
  }

  @Test
  void shouldReportWhenTheEndsCannotBeCutOff() {
    calls.munmapError = NativeCalls.ENOMEM;
    OutOfMemoryError refused =
        assertThrows(
            OutOfMemoryError.class, () -> map(64 * MIB, PAGE, HugePages.OFF, Prefault.NONE));
    assertTrue(refused.getMessage().startsWith("munmap around"), refused.getMessage());
    assertEquals(0, calls.mappedBytes);
  }

  @Test
  void shouldBeFreeableAgainWhenTheSystemRefusesToUnmap() {
    MappedRegion region = map(64, PAGE, HugePages.OFF, Prefault.NONE);
    calls.munmapError = NativeCalls.EINVAL;
    assertEquals(
        "munmap of " + PAGE + " bytes: Invalid argument (error 22)",
        assertThrows(IllegalStateException.class, region::free).getMessage());
    calls.munmapError = 0;
    region.free();
    assertEquals(0, calls.mappedBytes);
    assertThrows(IllegalStateException.class, region::free);
    assertEquals(0, calls.mappedBytes);
  }

  @Test
  void shouldDiscardWholePagesOnlyWhenThePartBeginsWithinOne() {
    MappedRegion region = map(64, 4L * PAGE, HugePages.OFF, Prefault.NONE);
    for (int i = 0; i < 4 * PAGE; i++) {
      region.buffer().put(i, (byte) 5);
    }
    assertEquals(2L * PAGE, region.discard(PAGE - 1, 2L * PAGE + 2));
    for (int i = 0; i < 4 * PAGE; i++) {
      assertEquals(i / PAGE == 1 || i / PAGE == 2 ? 0 : 5, region.buffer().get(i), "at " + i);
    }
    assertEquals(0, region.discard(1, PAGE));
    assertEquals(0, region.discard(0, 0));
    assertEquals(4L * PAGE, region.discard(0, 4L * PAGE));
    region.free();
  }

  @Test
  void shouldRefuseToDiscardWhenOutOfBoundsOrFreedOrLocked() {
    MappedRegion region = map(64, PAGE, HugePages.OFF, Prefault.NONE);
    assertThrows(IndexOutOfBoundsException.class, () -> region.discard(1, PAGE));
    assertThrows(IndexOutOfBoundsException.class, () -> region.discard(-1, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> region.discard(0, -1));
    calls.madviseErrors.put(NativeCalls.MADV_DONTNEED, NativeCalls.EINVAL);
    assertThrows(IllegalStateException.class, () -> region.discard(0, PAGE));
    calls.madviseErrors.clear();
    region.free();
    assertEquals(
        "region of " + PAGE + " bytes was freed before",
        assertThrows(IllegalStateException.class, () -> region.discard(0, PAGE)).getMessage());
  }

  @Test
  void shouldNameArgumentAndBoundWhenArgumentsAreBad() {
    assertThrows(
        IllegalArgumentException.class, () -> MappedRegion.map(3, 1, HugePages.OFF, Prefault.NONE));
    assertThrows(
        IllegalArgumentException.class,
        () -> MappedRegion.map(64, 0, HugePages.OFF, Prefault.NONE));
    assertThrows(
        IllegalArgumentException.class,
        () -> MappedRegion.map(64, (1L << 47) + 1, HugePages.OFF, Prefault.NONE));
  }

  @Test
  void shouldHoldEveryPageAndKeepItsBytesWhenPopulated() {
    MappedRegion region = map(64, 64L * PAGE, HugePages.OFF, Prefault.NONE);
    region.buffer().put(3 * PAGE, (byte) 9);
    boolean populated = region.populate();
    long before = OperatingSystem.threadMinorFaults();
    for (int i = 0; i < 64 * PAGE; i += PAGE) {
      assertEquals(i == 3 * PAGE ? 9 : 0, region.buffer().get(i));
    }
    long faults = OperatingSystem.threadMinorFaults() - before;
    // Kernels before 5.14 do not know how to.
    assumeTrue(populated, "this kernel cannot populate memory that is mapped already");
    assertTrue(faults < 32, () -> "page faults " + faults);
    region.free();
    assertThrows(IllegalStateException.class, region::populate);
  }

  @Test
  void shouldSayThatItDidNotWhenTheKernelCannotPopulate() {
    MappedRegion region = map(64, PAGE, HugePages.OFF, Prefault.NONE);
    calls.madviseErrors.put(NativeCalls.MADV_POPULATE_WRITE, NativeCalls.EINVAL);
    assertFalse(region.populate());
    calls.madviseErrors.put(NativeCalls.MADV_POPULATE_WRITE, NativeCalls.ENOMEM);
    assertThrows(OutOfMemoryError.class, region::populate);
    region.free();
  }
}
