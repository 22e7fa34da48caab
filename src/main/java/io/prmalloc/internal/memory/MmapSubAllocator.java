package io.prmalloc.internal.memory;

import io.prmalloc.MemoryRegion;
import io.prmalloc.MmapOptions;
import io.prmalloc.Prefault;
import io.prmalloc.internal.os.MappedRegion;
import io.prmalloc.internal.os.OperatingSystem;

/**
 * Memory from anonymous private mappings: whole pages, outside {@code MaxDirectMemorySize}.
 *
 * <p>Threading: any thread.
 */
public final class MmapSubAllocator extends LimitedSubAllocator {

  private final MmapOptions options;

  public MmapSubAllocator(MmapOptions options) {
    super(options.limitBytes().orElse(NO_LIMIT));
    this.options = options;
  }

  @Override
  long regionBytes(long alignment, long bytes) {
    return options.guardPages()
        ? MappedRegion.guardedSizeBytesFor(alignment, bytes)
        : MappedRegion.sizeBytesFor(bytes);
  }

  @Override
  public void checkUsable() {
    OperatingSystem.requireNativeCalls("mapped memory");
  }

  @Override
  public boolean isResident() {
    return options.prefault() != Prefault.NONE;
  }

  @Override
  MemoryRegion take(long alignment, long bytes) {
    return options.guardPages()
        ? MappedRegion.mapGuarded(alignment, bytes, options.hugePages(), options.prefault())
        : MappedRegion.map(alignment, bytes, options.hugePages(), options.prefault());
  }

  @Override
  long largeBytes(long alignment, long bytes) {
    return regionBytes(alignment, bytes);
  }

  @Override
  MemoryRegion takeLarge(long alignment, long bytes) {
    return take(alignment, bytes);
  }

  @Override
  public boolean isGuarded() {
    return options.guardPages();
  }
}
