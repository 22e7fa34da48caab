package org.apache.arrow.memory;

import io.prmalloc.AllocatorRegistry;
import io.prmalloc.arrow.PrmallocAllocationManager;

/**
 * Makes the default allocator of our registry the memory of every {@code RootAllocator} that does
 * not say what its own is.
 *
 * <p>Arrow finds this class by its name before those of {@code arrow-memory-unsafe} and {@code
 * arrow-memory-netty}, unless the system property {@code arrow.allocation.manager.type} names one
 * of these.
 *
 * <p>Threading: any thread.
 */
public final class DefaultAllocationManagerFactory {
  // The name, the package and the field are Arrow's, read by CheckAllocator and
  // DefaultAllocationManagerOption of 18.3. There is no other way in for code that makes its
  // RootAllocator itself.

  /**
   * What Arrow takes its memory from: {@code AllocatorRegistry.global().allocator()}, which {@code
   * -Dprmalloc.allocator} and factories of the service {@code io.prmalloc.AllocatorFactory} choose.
   *
   * <p>Threading: any thread.
   */
  public static final AllocationManager.Factory FACTORY =
      PrmallocAllocationManager.factory(AllocatorRegistry.global().allocator());

  private DefaultAllocationManagerFactory() {}
}
