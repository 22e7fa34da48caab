package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JnaCallsTest {

  private static final long MIB = 1 << 20;

  private final NativeCalls calls = Natives.calls();
  private final long page = calls.pageSizeBytes();

  @BeforeEach
  void withJnaOnly() {
    assumeTrue(calls instanceof JnaCalls, "native calls do not work here");
  }

  private long map(long bytes) {
    long address = calls.mmap(bytes);
    assertTrue(address > 0, () -> calls.errorText((int) -address));
    return address;
  }

  @Test
  void shouldGiveZeroedWritableMemoryWhenMapped() {
    long address = map(MIB);
    ByteBuffer view = calls.view(address, MIB);
    assertEquals(ByteOrder.nativeOrder(), view.order());
    assertEquals(MIB, view.capacity());
    assertEquals(address, calls.address(view));
    for (int i = 0; i < MIB; i++) {
      assertEquals(0, view.get(i));
      view.put(i, (byte) i);
    }
    assertEquals((byte) (MIB - 1), view.get((int) MIB - 1));
    assertEquals(0, calls.munmap(address, MIB));
  }

  @Test
  void shouldTellErrorWhenMappingIsTooLarge() {
    assertEquals(-NativeCalls.ENOMEM, calls.mmap(1L << 60));
    assertEquals(-NativeCalls.EINVAL, calls.mmap(0));
  }

  @Test
  void shouldTellErrorWhenUnmappingFromWithinAPage() {
    long address = map(page);
    assertEquals(NativeCalls.EINVAL, calls.munmap(address + 1, page));
    assertEquals(Optional.of("rw-p"), Mappings.permissions(address));
    assertEquals(0, calls.munmap(address, page));
  }

  @Test
  void shouldZeroPagesWhenAdvisedThatTheyAreNotNeeded() {
    long address = map(2 * page);
    ByteBuffer view = calls.view(address, 2 * page);
    view.putLong(0, 7).putLong((int) page, 8);
    assertEquals(0, calls.madvise(address, page, NativeCalls.MADV_DONTNEED));
    assertEquals(0, view.getLong(0));
    assertEquals(8, view.getLong((int) page));
    assertEquals(0, calls.munmap(address, 2 * page));
  }

  @Test
  void shouldTellErrorWhenAdviceIsUnknown() {
    long address = map(page);
    assertEquals(NativeCalls.EINVAL, calls.madvise(address, page, 9999));
    assertEquals(0, calls.munmap(address, page));
  }

  @Test
  void shouldChangePermissionsWhenProtected() {
    long address = map(3 * page);
    assertEquals(0, calls.mprotect(address + page, page, NativeCalls.PROT_READ));
    assertEquals(Optional.of("rw-p"), Mappings.permissions(address));
    assertEquals(Optional.of("r--p"), Mappings.permissions(address + page));
    assertEquals(Optional.of("rw-p"), Mappings.permissions(address + 2 * page));
    assertEquals(0, calls.mprotect(address + page, page, NativeCalls.PROT_NONE));
    assertEquals(Optional.of("---p"), Mappings.permissions(address + page));
    assertEquals(
        0, calls.mprotect(address + page, page, NativeCalls.PROT_READ | NativeCalls.PROT_WRITE));
    calls.view(address, 3 * page).putInt((int) page, 5);
    assertEquals(NativeCalls.EINVAL, calls.mprotect(address + 1, page, NativeCalls.PROT_READ));
    assertEquals(0, calls.munmap(address, 3 * page));
  }

  @Test
  void shouldGiveAlignedUsableMemoryWhenAskedOfTheCLibrary() {
    for (long alignment = 8; alignment <= 2 * MIB; alignment *= 2) {
      long address = calls.posixMemalign(alignment, 1001);
      assertTrue(address > 0 && address % alignment == 0, "address " + address);
      long usable = calls.mallocUsableSize(address);
      assertTrue(usable >= 1001, "usable " + usable);
      calls.view(address, usable).put((int) usable - 1, (byte) 1);
      calls.free(address);
    }
  }

  @Test
  void shouldTellErrorWhenTheCLibraryRefuses() {
    assertEquals(-NativeCalls.EINVAL, calls.posixMemalign(24, 8));
    assertEquals(-NativeCalls.ENOMEM, calls.posixMemalign(64, 1L << 60));
  }

  @Test
  void shouldIgnoreAddressWhenZero() {
    assertEquals(0, calls.mallocUsableSize(0));
    calls.free(0);
  }

  @Test
  void shouldSayInWordsWhenAskedForAnError() {
    assertEquals("Cannot allocate memory (error 12)", calls.errorText(NativeCalls.ENOMEM));
  }

  @Test
  void shouldAgreeWithProcWhenCountingFaults() {
    NativeCalls fallback = new FallbackCalls("this is a test", null);
    for (NativeCalls.UsageScope scope : NativeCalls.UsageScope.values()) {
      long before = calls.minorFaults(scope);
      long between = fallback.minorFaults(scope);
      long after = calls.usage(scope).minorFaults();
      assertTrue(before <= between && between <= after, before + " " + between + " " + after);
    }
  }
}
