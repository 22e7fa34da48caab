package io.prmalloc.internal.steps;

import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.StepMemory;

/**
 * A step that is not planned.
 *
 * <p>Threading: requests by the owner, releases by any thread.
 */
final class SharedStep extends StepMemory {

  private final PlannedSteps owner;

  /** For a step of the calling thread. */
  SharedStep(PlannedSteps owner) {
    this.owner = owner;
    takeOwnership();
  }

  @Override
  protected Block takeUnplanned(long bytes) {
    return owner.takeShared(bytes, StepPlan.ALIGNMENT);
  }

  @Override
  protected long takeUnplannedRaw(long bytes) {
    return owner.takeSharedRaw(bytes);
  }

  @Override
  protected void releaseUnexpected(long address) {
    owner.releaseShared(address);
  }

  @Override
  public void end() {
    if (isMine()) {
      dropOwnership();
    }
  }
}
