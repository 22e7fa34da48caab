package io.prmalloc;

import java.util.Objects;

/**
 * Passes every call on to another allocator. Extend it to see or change one call and leave the
 * others as they are.
 *
 * <p>What is built on other calls (typed allocation) comes back through this wrapper's own calls,
 * so an override of one of those sees it too.
 *
 * <p>Modelled on TensorFlow's {@code AllocatorWrapper}.
 *
 * <p>Threading: as {@link Allocator} says.
 */
public class AllocatorWrapper implements Allocator {

  private final Allocator wrapped;

  /**
   * Threading: any thread.
   *
   * @param wrapped where every call goes, {@link #close} included
   * @throws NullPointerException if {@code wrapped} is null
   */
  public AllocatorWrapper(Allocator wrapped) {
    this.wrapped = Objects.requireNonNull(wrapped, "wrapped");
  }

  /** Where every call goes. Threading: any thread. */
  public final Allocator wrapped() {
    return wrapped;
  }

  @Override
  public String name() {
    return wrapped.name();
  }

  @Override
  public Allocation allocate(long bytes) {
    return wrapped.allocate(bytes);
  }

  @Override
  public Allocation allocate(long bytes, long alignment) {
    return wrapped.allocate(bytes, alignment);
  }

  @Override
  public Allocation allocate(long bytes, long alignment, AllocationAttributes attributes) {
    return wrapped.allocate(bytes, alignment, attributes);
  }

  @Override
  public long allocateRaw(long alignment, long bytes) {
    return wrapped.allocateRaw(alignment, bytes);
  }

  @Override
  public long allocateRaw(long alignment, long bytes, AllocationAttributes attributes) {
    return wrapped.allocateRaw(alignment, bytes, attributes);
  }

  @Override
  public void deallocateRaw(long address) {
    wrapped.deallocateRaw(address);
  }

  @Override
  public boolean tracksAllocationSizes() {
    return wrapped.tracksAllocationSizes();
  }

  @Override
  public boolean shouldAllocateEmptyTensors() {
    return wrapped.shouldAllocateEmptyTensors();
  }

  @Override
  public long requestedSize(long address) {
    return wrapped.requestedSize(address);
  }

  @Override
  public long allocatedSize(long address) {
    return wrapped.allocatedSize(address);
  }

  @Override
  public long allocationId(long address) {
    return wrapped.allocationId(address);
  }

  @Override
  public long allocatedSizeSlow(long address) {
    return wrapped.allocatedSizeSlow(address);
  }

  @Override
  public AllocatorStats stats() {
    return wrapped.stats();
  }

  @Override
  public boolean clearStats() {
    return wrapped.clearStats();
  }

  @Override
  public void close() {
    wrapped.close();
  }
}
