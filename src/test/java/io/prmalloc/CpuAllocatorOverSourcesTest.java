package io.prmalloc;

import io.prmalloc.os.HugePages;
import io.prmalloc.os.Prefault;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/** The plain allocator over every other kind of memory. */
class CpuAllocatorOverSourcesTest {

  private abstract static class Cpu extends AllocatorContractTest {
    @Override
    Allocator create(SubAllocator source) {
      return new CpuAllocator(source);
    }
  }

  @Nested
  class Mmap extends Cpu {
    private final MmapOptions options =
        MmapOptions.DEFAULT.withHugePages(HugePages.OFF).withPrefault(Prefault.NONE);

    @BeforeEach
    void onLinuxOnly() {
      Mallocs.assumeCLibrary();
    }

    @Override
    SubAllocator unlimited() {
      return SubAllocator.mmap(options);
    }

    @Override
    SubAllocator limited(long limitBytes) {
      return SubAllocator.mmap(options.withLimitBytes(limitBytes));
    }
  }

  @Nested
  class PosixMemalign extends Cpu {
    @BeforeEach
    void onLinuxOnly() {
      Mallocs.assumeCLibrary();
    }

    @Override
    SubAllocator unlimited() {
      return SubAllocator.posixMemalign();
    }

    @Override
    SubAllocator limited(long limitBytes) {
      return SubAllocator.posixMemalign(limitBytes);
    }
  }

  private abstract static class OfLibrary extends Cpu {
    private final String name;

    OfLibrary(String name) {
      this.name = name;
    }

    @BeforeEach
    void whereItIsInstalled() {
      Mallocs.assumeLibrary(name);
    }

    @Override
    SubAllocator unlimited() {
      return SubAllocator.malloc(name);
    }

    @Override
    SubAllocator limited(long limitBytes) {
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
  class Mimalloc extends OfLibrary {
    Mimalloc() {
      super("mimalloc");
    }
  }

  @Nested
  class Visited extends Cpu {
    private final RegionVisitor visitor = RegionVisitor.onAlloc((region, index, bytes) -> {});

    @Override
    SubAllocator unlimited() {
      return SubAllocator.direct().withVisitors(0, visitor);
    }

    @Override
    SubAllocator limited(long limitBytes) {
      return SubAllocator.direct(limitBytes).withVisitors(0, visitor);
    }
  }
}
