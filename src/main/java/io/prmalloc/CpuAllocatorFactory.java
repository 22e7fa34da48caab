package io.prmalloc;

/**
 * Registers {@link CpuAllocator} over direct byte buffers as {@code cpu}. Found by {@link
 * java.util.ServiceLoader}.
 *
 * <p>Threading: any thread.
 */
public final class CpuAllocatorFactory implements AllocatorFactory {

  /** For {@link java.util.ServiceLoader}. Threading: any thread. */
  public CpuAllocatorFactory() {}

  @Override
  public String name() {
    return CpuAllocator.NAME;
  }

  @Override
  public int priority() {
    return 100;
  }

  @Override
  public Allocator create() {
    return new CpuAllocator(SubAllocator.direct());
  }
}
