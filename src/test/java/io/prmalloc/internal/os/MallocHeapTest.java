package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.MemoryRegion;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MallocHeapTest {

  /** The C library's malloc, which fails on order and writes down what it is asked. */
  private static final class Recording implements MallocCalls {
    /** How far beside an address may lie that should be aligned. */
    private static final int SHIFT = 16;

    final List<String> calls = new ArrayList<>();
    private final Set<Long> shifted = new HashSet<>();
    private final NativeCalls real = Natives.calls();
    int error;
    int unaligned;
    long last;

    @Override
    public long posixMemalign(long alignment, long bytes) {
      calls.add("take " + alignment + " " + bytes);
      last = error != 0 ? -error : real.posixMemalign(alignment, bytes + SHIFT);
      if (error == 0 && unaligned > 0) {
        unaligned--;
        last += SHIFT;
        shifted.add(last);
      }
      return last;
    }

    @Override
    public void free(long address) {
      calls.add("free " + (address == last ? "it" : "another"));
      real.free(shifted.remove(address) ? address - SHIFT : address);
    }

    @Override
    public long mallocUsableSize(long address) {
      return 0;
    }
  }

  private final Recording malloc = new Recording();
  private final MallocHeap heap = new MallocHeap("library `x`", Natives.calls(), malloc);

  @BeforeEach
  void withJnaOnly() {
    assumeTrue(Natives.calls() instanceof JnaCalls, "native calls do not work here");
  }

  @Test
  void shouldFreeWithTheMallocThatTookWhenARegionGoes() {
    MallocRegion region = heap.allocate(1, 100);
    assertEquals(malloc.last, region.address());
    assertEquals(100, region.usableBytes());
    assertFalse(region.isFreed());
    region.free();
    assertTrue(region.isFreed());
    assertThrows(IllegalStateException.class, region::free);
    assertThrows(IllegalStateException.class, region::usableBytes);
    assertEquals(List.of("take 8 100", "free it"), malloc.calls);
  }

  @Test
  void shouldSayWhatWasAskedOfWhomWhenThereIsNoMemory() {
    malloc.error = NativeCalls.ENOMEM;
    OutOfMemoryError refused = assertThrows(OutOfMemoryError.class, () -> heap.allocate(4096, 100));
    assertEquals(
        "posix_memalign of library `x`, 100 bytes aligned to 4096: Cannot allocate memory (error"
            + " 12)",
        refused.getMessage());
    assertEquals(List.of("take 4096 100"), malloc.calls);
  }

  @Test
  void shouldThrowAnotherWayWhenTheAlignmentIsNotLiked() {
    malloc.error = NativeCalls.EINVAL;
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> heap.allocate(1 << 30, 100));
    assertTrue(refused.getMessage().contains("aligned to 1073741824"), refused.getMessage());
  }

  @Test
  void shouldAskOnceMoreWhenTheAddressIsNotAligned() {
    malloc.unaligned = 1;
    MallocRegion region = heap.allocate(64, 128);
    assertEquals(0, region.address() % 64);
    assertEquals(128, region.sizeBytes());
    region.free();
    assertEquals(List.of("take 64 128", "free it", "take 64 129", "free it"), malloc.calls);
  }

  @Test
  void shouldRefuseWhenTheAddressIsNeverAligned() {
    malloc.unaligned = 2;
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> heap.allocate(64, 128));
    assertEquals(
        "posix_memalign of library `x`, 128 bytes aligned to 64: the address 0x"
            + Long.toHexString(malloc.last)
            + " is not, at the second try",
        refused.getMessage());
    assertEquals(List.of("take 64 128", "free it", "take 64 129", "free it"), malloc.calls);
  }

  @ParameterizedTest
  @ValueSource(strings = {"jemalloc", "mimalloc"})
  void shouldAlignWhenSizesAreMultiplesOfTheAlignment(String name) {
    load(name);
    MallocHeap library = MallocHeap.ofLibrary(name);
    List<MallocRegion> taken = new ArrayList<>();
    // mimalloc 2.0.9 gets some tens of these wrong.
    for (int i = 0; i < 2000; i++) {
      long alignment = 64L << i % 5;
      MallocRegion region = library.allocate(alignment, alignment * (1 + i % 3));
      taken.add(region);
      assertEquals(0, region.address() % alignment, alignment + ", region " + i);
    }
    taken.forEach(MallocRegion::free);
  }

  @Test
  void shouldAskNobodyWhenArgumentsAreBad() {
    assertThrows(IllegalArgumentException.class, () -> heap.allocate(3, 100));
    assertThrows(IllegalArgumentException.class, () -> heap.allocate(64, 0));
    assertThrows(
        IllegalArgumentException.class, () -> heap.allocate(64, MemoryRegion.MAX_BYTES + 1));
    assertEquals(List.of(), malloc.calls);
  }

  @Test
  void shouldFreeAgainWhenTheMemoryCannotBeSeen() {
    NativeCalls blind = new FallbackCalls("this is a test", null);
    assertThrows(
        UnsupportedOperationException.class,
        () -> new MallocHeap("x", blind, malloc).allocate(64, 100));
    assertEquals(List.of("take 64 100", "free it"), malloc.calls);
  }

  @Test
  void shouldTellWhatMallocSetAsideWhenItTells() {
    MallocRegion region = MallocHeap.ofCLibrary().allocate(64, 1001);
    assertEquals(Natives.calls().mallocUsableSize(region.address()), region.usableBytes());
    region.free();
  }

  private static LoadedLibrary load(String name) {
    try {
      return LoadedLibrary.load(name);
    } catch (UnsupportedOperationException absent) {
      return abort(absent.getMessage());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"jemalloc", "mimalloc", "libjemalloc.so.2", "libmimalloc.so.2"})
  void shouldKnowItsOwnFunctionsWhenALibraryIsLoaded(String name) {
    LoadedLibrary library = load(name);
    assertTrue(library.owns(library.prefix("posix_memalign", "free") + "posix_memalign"));
    // These lie in the C library, and are found all the same.
    assertTrue(library.function("getpagesize") != null);
    assertFalse(library.owns("getpagesize"));
    assertFalse(library.owns("no_such_function"));
  }

  @Test
  void shouldTakeMemoryFromTheLibraryWhenItIsNamed() {
    LoadedLibrary mimalloc = load("mimalloc");
    MallocRegion own = MallocHeap.ofLibrary("mimalloc").allocate(64, 100_000);
    MallocRegion other = MallocHeap.ofCLibrary().allocate(64, 100_000);
    assertTrue(isOf(mimalloc, own));
    assertFalse(isOf(mimalloc, other));
    own.free();
    other.free();
  }

  private static boolean isOf(LoadedLibrary mimalloc, MallocRegion region) {
    Object[] address = {region.address()};
    return (mimalloc.function("mi_is_in_heap_region").invokeInt(address) & 1) != 0;
  }
}
