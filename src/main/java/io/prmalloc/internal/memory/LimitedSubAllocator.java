package io.prmalloc.internal.memory;

import io.prmalloc.HugePages;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.OutOfNativeMemoryException.Limit;
import io.prmalloc.Prefault;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.internal.jfr.FlightEvents.LimitKind;
import io.prmalloc.internal.os.MappedRegion;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The accounting of a sub-allocator: the bytes it has reserved, its limit, and its regions.
 *
 * <p>Bytes are reserved before the system is asked and given back if it refuses, so that threads
 * together never pass the limit, and a failure leaves the counter as it was.
 *
 * <p>Threading: any thread, without a lock.
 */
public abstract class LimitedSubAllocator implements SubAllocator {

  /** Stands for "no limit". */
  public static final long NO_LIMIT = -1;

  private final long limitBytes;
  private final AtomicLong reservedBytes = new AtomicLong();
  private final OwnRegions regions = new OwnRegions();

  /**
   * @param limitBytes the most bytes to reserve, from 0, or {@link #NO_LIMIT}
   */
  LimitedSubAllocator(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   */
  public static long checkLimit(long limitBytes) {
    if (limitBytes < 0) {
      throw new IllegalArgumentException(
          "limitBytes " + limitBytes + " is negative; the least is 0");
    }
    return limitBytes;
  }

  /** Size of the region that {@link #take} makes of so many bytes. */
  abstract long regionBytes(long alignment, long bytes);

  /**
   * Takes a region of {@link #regionBytes} bytes from the system.
   *
   * @throws OutOfMemoryError if the system does not grant it
   */
  abstract MemoryRegion take(long alignment, long bytes);

  /** {@link #regionBytes} of more bytes, with room to align them, than one buffer has. */
  long largeBytes(long alignment, long bytes) {
    return MappedRegion.sizeBytesFor(bytes);
  }

  /** {@link #take} of as many: mapped, whatever the kind. */
  MemoryRegion takeLarge(long alignment, long bytes) {
    return MappedRegion.map(alignment, bytes, HugePages.OFF, Prefault.NONE);
  }

  /** What to throw when {@link #take} was refused; parameters as of the exception. */
  OutOfNativeMemoryException refusal(
      long bytes, long reserved, long limit, OutOfMemoryError refused) {
    return new OutOfNativeMemoryException(bytes, reserved, limit, Limit.SYSTEM, refused);
  }

  /** The most bytes that {@link #take} could get by limits other than its own. */
  long bytesToTake() {
    return Long.MAX_VALUE;
  }

  @Override
  public final MemoryRegion alloc(long alignment, long bytes) {
    Requests.checkAlignment(alignment);
    if (bytes < 1 || bytes > Requests.MAX_BYTES) {
      throw new IllegalArgumentException(
          "bytes " + bytes + " is not from 1 to " + Requests.MAX_BYTES);
    }
    boolean large = Requests.isLarge(bytes + alignment - 1);
    long size = large ? largeBytes(alignment, bytes) : regionBytes(alignment, bytes);
    reserve(size, bytes);
    boolean taken = false;
    MemoryRegion region = null;
    try {
      region = large ? takeLarge(alignment, bytes) : take(alignment, bytes);
      regions.add(region);
      taken = true;
      return region;
    } catch (OutOfMemoryError refused) {
      FlightEvents.limitHit(LimitKind.SYSTEM, bytes, reservedBytes.get() - size, limitBytes);
      throw refusal(bytes, reservedBytes.get() - size, limitBytes, refused);
    } finally {
      if (!taken) {
        if (region != null) {
          region.free();
        }
        reservedBytes.addAndGet(-size);
      }
    }
  }

  private void reserve(long size, long bytes) {
    long before;
    do {
      before = reservedBytes.get();
      if (limitBytes != NO_LIMIT && size > limitBytes - before) {
        FlightEvents.limitHit(LimitKind.HARD, bytes, before, limitBytes);
        throw new OutOfNativeMemoryException(bytes, before, limitBytes, Limit.SUB_ALLOCATOR, null);
      }
    } while (!reservedBytes.compareAndSet(before, before + size));
  }

  @Override
  public final void free(MemoryRegion region) {
    regions.claim(region);
    try {
      region.free();
    } catch (Throwable e) {
      regions.giveUp(region);
      throw e;
    }
    regions.remove(region);
    reservedBytes.addAndGet(-region.sizeBytes());
  }

  @Override
  public final long bytesReserved() {
    return reservedBytes.get();
  }

  @Override
  public final OptionalLong bytesLimit() {
    return limitBytes == NO_LIMIT ? OptionalLong.empty() : OptionalLong.of(limitBytes);
  }

  @Override
  public final long bytesAvailable() {
    long own = limitBytes == NO_LIMIT ? Long.MAX_VALUE : limitBytes - reservedBytes.get();
    return Math.min(own, bytesToTake());
  }
}
