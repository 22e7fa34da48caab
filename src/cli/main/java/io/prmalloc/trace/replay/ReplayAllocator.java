package io.prmalloc.trace.replay;

import io.prmalloc.internal.os.MallocLibrary;
import io.prmalloc.trace.replay.lane.AddressTarget;
import io.prmalloc.trace.replay.lane.CpuTarget;
import io.prmalloc.trace.replay.lane.DirectLane;
import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.MallocLane;
import io.prmalloc.trace.replay.lane.NettyLane;
import io.prmalloc.trace.replay.lane.PoolTarget;
import io.prmalloc.trace.replay.lane.ReplayTarget;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The allocators a trace can be replayed through.
 *
 * <p>Threading: immutable.
 */
public enum ReplayAllocator {
  /** Our pool: learns in warm-up steps, then serves from pooled stacks. */
  POOL,
  /** The same with planned steps: each leases an arena with an offset plan. */
  PLANNED,
  /** {@code ByteBuffer.allocateDirect}, and the JVM's cleaner called at once, without our code. */
  DIRECT,
  /** Our allocator without learning: a region from the system for each tensor. */
  CPU,
  /** Netty's {@code PooledByteBufAllocator}: direct buffers, caches for all threads. */
  NETTY,
  /** Netty's {@code AdaptiveByteBufAllocator}: direct buffers, caches for all threads. */
  NETTY_ADAPTIVE,
  /** jemalloc: this process's malloc if it was preloaded, else through JNA where it is there. */
  JEMALLOC,
  /** mimalloc: this process's malloc if it was preloaded, else through JNA where it is there. */
  MIMALLOC,
  /** The C library's malloc, through the JVM's internal Unsafe. */
  MALLOC;

  /** As the command line has it: {@code netty-adaptive}. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * The allocator of a label, in small or capital letters.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if there is none; the message names all there are
   */
  public static ReplayAllocator ofLabel(String label) {
    for (ReplayAllocator allocator : values()) {
      if (allocator.label().equalsIgnoreCase(label)) {
        return allocator;
      }
    }
    throw new IllegalArgumentException(
        "allocator `"
            + label
            + "` is none of "
            + Arrays.stream(values())
                .map(ReplayAllocator::label)
                .collect(Collectors.joining(", ")));
  }

  /**
   * Whether it can take the place of the C library's malloc in a process. Threading: any thread.
   */
  public boolean canBePreloaded() {
    return this == JEMALLOC || this == MIMALLOC;
  }

  /**
   * Opens the allocator for one run.
   *
   * <p>Threading: any thread.
   *
   * @param askedForBytes the most bytes that all threads together ask for at one time
   * @param asServed whether a pool plans in the background, by its defaults
   * @throws UnsupportedOperationException if it is not available here; the message says why
   */
  ReplayTarget open(ReplayOptions options, long askedForBytes, boolean asServed) {
    return switch (this) {
      case POOL -> new PoolTarget(options, false, asServed);
      case PLANNED -> new PoolTarget(options, true, asServed);
      case CPU -> new CpuTarget(options);
      case DIRECT -> new AddressTarget(DirectLane::new, askedForBytes);
      case MALLOC -> new AddressTarget(MallocLane::new, askedForBytes);
      case NETTY -> netty(NettyLane::pooled, askedForBytes);
      case NETTY_ADAPTIVE -> netty(NettyLane::adaptive, askedForBytes);
      case JEMALLOC, MIMALLOC ->
          MallocLibrary.isPreloaded(label())
              ? new AddressTarget(MallocLane::new, askedForBytes)
              : AddressTarget.ofLibrary(label(), askedForBytes);
    };
  }

  private static ReplayTarget netty(Supplier<IntFunction<Lane>> lanes, long askedForBytes) {
    try {
      return new AddressTarget(lanes.get(), askedForBytes);
    } catch (NoClassDefFoundError absent) {
      throw new UnsupportedOperationException(
          "Netty is not on the class path: " + absent.getMessage() + " is missing", absent);
    }
  }
}
