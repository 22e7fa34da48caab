package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.Mallocs;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/**
 * The contract for the plain allocator over several mallocs, and over a sub-allocator with region
 * visitors.
 */
class CpuAllocatorOverSourcesTest {

  private abstract static class Cpu extends AllocatorContractTest {
    @Override
    Allocator create(SubAllocator source) {
      return new CpuAllocator(source);
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
