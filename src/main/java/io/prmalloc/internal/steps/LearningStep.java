package io.prmalloc.internal.steps;

import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.EndListener;
import io.prmalloc.internal.block.StepMemory;
import io.prmalloc.internal.steps.StepPlan.Recording;

/**
 * A step that is recorded so that later steps can be planned. Every request is served by a block of
 * the live heap, which reports its release.
 *
 * <p>Threading: requests by the owner, releases by any thread.
 */
public final class LearningStep extends StepMemory {

  /** A request whose memory is in use. */
  final class Life implements EndListener {
    private int request;

    @Override
    public void end() {
      recorder.ended(request);
    }
  }

  private final PlannedSteps owner;
  private final KeyedSteps kind;
  private final StepRecorder recorder = new StepRecorder();

  /** For a step of the calling thread, or what is left of one. */
  LearningStep(PlannedSteps owner, KeyedSteps kind) {
    this.owner = owner;
    this.kind = kind;
    takeOwnership();
  }

  @Override
  protected Block takeUnplanned(long bytes) {
    if (!StepPlan.canPlan(bytes)) {
      return owner.takeShared(bytes, StepPlan.ALIGNMENT);
    }
    Life life = beforeRequest();
    Block block = owner.takeWatched(bytes, life);
    begin(life, bytes);
    return block;
  }

  @Override
  protected long takeUnplannedRaw(long bytes) {
    if (!StepPlan.canPlan(bytes)) {
      return owner.takeSharedRaw(bytes);
    }
    Life life = beforeRequest();
    long address = owner.takeWatchedRaw(bytes, life);
    if (address != 0) {
      begin(life, bytes);
    }
    return address;
  }

  /** Takes the heap that the request needs here, before it has its memory. */
  private Life beforeRequest() {
    recorder.makeRoom();
    return new Life();
  }

  private void begin(Life life, long bytes) {
    life.request = recorder.begin(bytes);
  }

  /** As {@link StepRecorder#makeRoom}. */
  void makeRoom() {
    recorder.makeRoom();
  }

  /** Records a request that was served from elsewhere, and how long it is expected to live. */
  void pass(long bytes, int end) {
    recorder.pass(bytes, end);
  }

  /** Records that such a request lives longer. */
  void extend(int request, int end) {
    recorder.extend(request, end);
  }

  @Override
  protected void releaseUnexpected(long address) {
    owner.releaseShared(address);
  }

  @Override
  public void end() {
    boolean own = isMine();
    if (own) {
      dropOwnership();
    }
    kind.learnt(own ? recording() : null);
  }

  /** The recorded requests, or null if they cannot be planned; nothing more is recorded. */
  Recording recording() {
    return recorder.recording(owner.isolation().roomBytes());
  }
}
