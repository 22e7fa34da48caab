package io.prmalloc.trace.replay.lane;

import io.prmalloc.internal.os.MallocLibrary;
import io.prmalloc.trace.replay.ReplayRun;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * An allocator that has no state of its own here: every lane calls straight into it.
 *
 * <p>Threading: any thread.
 */
public final class AddressTarget implements ReplayTarget {

  private final IntFunction<Lane> lanes;
  private final long askedForBytes;

  /**
   * Threading: any thread.
   *
   * @param askedForBytes the load of the trace times the number of threads
   */
  public AddressTarget(IntFunction<Lane> lanes, long askedForBytes) {
    this.lanes = lanes;
    this.askedForBytes = askedForBytes;
  }

  /**
   * A malloc loaded by name.
   *
   * @throws UnsupportedOperationException if it cannot be loaded; the message says why
   */
  public static ReplayTarget ofLibrary(String name, long askedForBytes) {
    MallocLibrary library = MallocLibrary.load(name);
    return new AddressTarget(tensors -> new LibraryLane(library, tensors), askedForBytes);
  }

  @Override
  public Lane lane(int tensors) {
    return lanes.apply(tensors);
  }

  @Override
  public boolean isWarm() {
    return true;
  }

  @Override
  public void markStart() {}

  @Override
  public long peakReservedBytes() {
    return askedForBytes;
  }

  @Override
  public Optional<ReplayRun.PoolCounts> poolCounts() {
    return Optional.empty();
  }

  @Override
  public void close() {}
}
