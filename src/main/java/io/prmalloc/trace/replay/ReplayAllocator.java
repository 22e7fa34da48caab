package io.prmalloc.trace.replay;

import java.util.Locale;

/**
 * The allocators a trace can be replayed through.
 *
 * <p>Threading: immutable.
 */
public enum ReplayAllocator {
  /** Ours: learns in warm-up steps, then serves from pooled stacks. */
  POOL,
  /** The same with planned steps: each leases an arena with an offset plan. */
  PLANNED,
  /** {@code ByteBuffer.allocateDirect}, and the JVM's cleaner called at once, without our code. */
  DIRECT,
  /** Ours without learning: a region from the system for each tensor. */
  CPU,
  /** jemalloc through JNA, where the library is there. */
  JEMALLOC,
  /** mimalloc through JNA, where the library is there. */
  MIMALLOC,
  /** The C library's malloc, through the JVM's internal Unsafe. */
  MALLOC;

  /** As the command line has it, in small letters. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Opens the allocator for one run.
   *
   * <p>Threading: any thread.
   *
   * @param askedForBytes the most bytes that all threads together ask for at one time
   * @throws UnsupportedOperationException if it is not to be had here; the message says why
   */
  ReplayTarget open(ReplayOptions options, long askedForBytes) {
    return switch (this) {
      case POOL -> new PoolTarget(options, false);
      case PLANNED -> new PoolTarget(options, true);
      case CPU -> new CpuTarget(options);
      case DIRECT -> new AddressTarget(DirectLane::new, askedForBytes);
      case MALLOC -> new AddressTarget(MallocLane::new, askedForBytes);
      case JEMALLOC, MIMALLOC -> AddressTarget.ofLibrary(label(), askedForBytes);
    };
  }
}
