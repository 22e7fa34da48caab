package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Mallocs;
import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorContractTest;
import io.prmalloc.internal.os.MallocRegion;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class MallocSubAllocatorTest extends SubAllocatorContractTest {

  @BeforeEach
  void withTheCLibraryOnly() {
    Mallocs.assumeCLibrary();
  }

  @Override
  public SubAllocator unlimited() {
    return SubAllocator.posixMemalign();
  }

  @Override
  public SubAllocator limited(long limitBytes) {
    return SubAllocator.posixMemalign(limitBytes);
  }

  /** A malloc loaded by name. */
  private abstract static class OfLibrary extends SubAllocatorContractTest {

    private final String name;

    OfLibrary(String name) {
      this.name = name;
    }

    @BeforeEach
    void whereItIsInstalled() {
      Mallocs.assumeLibrary(name);
    }

    @Override
    public SubAllocator unlimited() {
      return SubAllocator.malloc(name);
    }

    @Override
    public SubAllocator limited(long limitBytes) {
      return SubAllocator.malloc(name, limitBytes);
    }
  }

  @Nested
  class Jemalloc extends OfLibrary {
    Jemalloc() {
      super("jemalloc");
    }
  }

  @Nested
  class JemallocByFile extends OfLibrary {
    JemallocByFile() {
      super("libjemalloc.so.2");
    }
  }

  @Nested
  class Mimalloc extends OfLibrary {
    Mimalloc() {
      super("mimalloc");
    }
  }

  @Nested
  class MimallocByFile extends OfLibrary {
    MimallocByFile() {
      super("libmimalloc.so.2");
    }
  }

  @Test
  void shouldCountWhatIsAskedWhenMallocSetsAsideMore() {
    SubAllocator source = unlimited();
    MemoryRegion region = source.alloc(1, 1001);
    assertEquals(1001, region.sizeBytes());
    assertEquals(1001, source.bytesReserved());
    assertInstanceOf(MallocRegion.class, region);
    assertTrue(region.usableBytes() >= 1001);
    source.free(region);
  }

  @Test
  void shouldNameTheLibraryAndWhatWasLookedForWhenThereIsNoSuchLibrary() {
    assertEquals(
        "no-such-malloc cannot be loaded: libno-such-malloc.so.2: cannot open shared object file:"
            + " No such file or directory (looked for `no-such-malloc` and"
            + " `libno-such-malloc.so.2`)",
        assertThrows(
                UnsupportedOperationException.class, () -> SubAllocator.malloc("no-such-malloc"))
            .getMessage());
    assertEquals(
        "/none/libx.so cannot be loaded: /none/libx.so: cannot open shared object file: No such"
            + " file or directory (looked for `/none/libx.so`)",
        assertThrows(
                UnsupportedOperationException.class, () -> SubAllocator.malloc("/none/libx.so", 1))
            .getMessage());
  }

  @Test
  void shouldNotTakeTheCLibrarysFunctionsForItsOwnWhenALibraryHasNone() {
    String message =
        assertThrows(UnsupportedOperationException.class, () -> SubAllocator.malloc("libm.so.6"))
            .getMessage();
    assertEquals(
        "library `libm.so.6` (libm.so.6) has no malloc of its own: looked for mi_posix_memalign"
            + " and mi_free, je_posix_memalign and je_free, posix_memalign and free",
        message);
  }

  @Test
  void shouldLookAtTheLimitFirstWhenTheLibraryIsBadToo() {
    assertThrows(IllegalArgumentException.class, () -> SubAllocator.malloc("no-such-malloc", -1));
  }
}
