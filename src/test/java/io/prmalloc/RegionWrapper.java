package io.prmalloc;

/**
 * A region of a class of its user's, which does what another one does.
 *
 * <p>Threading: as the other one.
 */
public class RegionWrapper extends MemoryRegion {

  private final MemoryRegion wrapped;

  /** Around a region, whose memory it has. */
  public RegionWrapper(MemoryRegion wrapped) {
    super(wrapped.buffer(), wrapped.sizeBytes());
    this.wrapped = wrapped;
  }

  /** The other one. */
  public final MemoryRegion wrapped() {
    return wrapped;
  }

  @Override
  public long usableBytes() {
    return wrapped.usableBytes();
  }

  @Override
  public long address() {
    return wrapped.address();
  }

  @Override
  public long discard(long offset, long bytes) {
    return wrapped.discard(offset, bytes);
  }

  @Override
  public boolean populate() {
    return wrapped.populate();
  }

  @Override
  public void free() {
    wrapped.free();
  }

  @Override
  public boolean isFreed() {
    return wrapped.isFreed();
  }
}
