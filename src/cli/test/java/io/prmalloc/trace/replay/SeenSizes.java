package io.prmalloc.trace.replay;

import io.prmalloc.trace.replay.lane.AddressLane;
import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.MallocLane;
import io.prmalloc.trace.replay.lane.ReplayTarget;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The C library's malloc, which keeps the sizes that it was asked for, by lane, and counts the
 * steps.
 */
final class SeenSizes implements ReplayTarget {

  private final List<List<Long>> sizes = Collections.synchronizedList(new ArrayList<>());
  private final List<Integer> steps = Collections.synchronizedList(new ArrayList<>());

  /** What each lane was asked for, in order. */
  List<List<Long>> sizes() {
    return sizes;
  }

  /** One for each step that was opened, minus one for each that was closed. */
  List<Integer> steps() {
    return steps;
  }

  @Override
  public Lane lane(int tensors) {
    List<Long> asked = new ArrayList<>();
    sizes.add(asked);
    MallocLane behind = new MallocLane(tensors);
    return new AddressLane(tensors) {
      @Override
      public void openStep() {
        steps.add(1);
      }

      @Override
      public void closeStep() {
        steps.add(-1);
      }

      @Override
      public long take(int tensor, long bytes) {
        asked.add(bytes);
        return behind.take(tensor, bytes);
      }

      @Override
      public void giveBack(int tensor, long address) {
        behind.giveBack(tensor, address);
      }
    };
  }

  @Override
  public boolean isWarm() {
    return true;
  }

  @Override
  public void markStart() {}

  @Override
  public long peakReservedBytes() {
    return 0;
  }

  @Override
  public Optional<ReplayRun.PoolCounts> poolCounts() {
    return Optional.empty();
  }

  @Override
  public void close() {}
}
