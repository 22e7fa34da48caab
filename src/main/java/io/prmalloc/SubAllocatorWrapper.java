package io.prmalloc;

import java.util.Objects;
import java.util.OptionalLong;

/**
 * Passes every call on to another sub-allocator. Extend it to see or change one call and leave the
 * others as they are. Regions are those of the other sub-allocator.
 *
 * <p>Threading: as {@link SubAllocator} says.
 */
public class SubAllocatorWrapper implements SubAllocator {

  private final SubAllocator wrapped;

  /**
   * Threading: any thread.
   *
   * @param wrapped where every call goes
   * @throws NullPointerException if {@code wrapped} is null
   */
  public SubAllocatorWrapper(SubAllocator wrapped) {
    this.wrapped = Objects.requireNonNull(wrapped, "wrapped");
  }

  /** Where every call goes. Threading: any thread. */
  public final SubAllocator wrapped() {
    return wrapped;
  }

  @Override
  public boolean isResident() {
    return wrapped.isResident();
  }

  @Override
  public boolean isGuarded() {
    return wrapped.isGuarded();
  }

  @Override
  public void checkUsable() {
    wrapped.checkUsable();
  }

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    return wrapped.alloc(alignment, bytes);
  }

  @Override
  public void free(MemoryRegion region) {
    wrapped.free(region);
  }

  @Override
  public long bytesReserved() {
    return wrapped.bytesReserved();
  }

  @Override
  public OptionalLong bytesLimit() {
    return wrapped.bytesLimit();
  }

  @Override
  public long bytesAvailable() {
    return wrapped.bytesAvailable();
  }
}
