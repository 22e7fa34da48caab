package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.lifetime.StepMemory;
import io.prmalloc.pool.StepPlan.Recording;
import java.util.Arrays;

/**
 * A step that is written down so that later ones can be planned. Every request is served by a
 * region of its own, which tells when it comes back.
 *
 * <p>Threading: requests by the owner, releases by any thread.
 */
final class LearningStep extends StepMemory {

  /** A step with more requests than this is not planned. */
  private static final int MAX_REQUESTS = 1 << 20;

  /** A request that is out. */
  final class Life {
    private int request;

    /** It came back. Threading: any thread. */
    void end() {
      ended(request);
    }
  }

  private final PlannedSteps owner;
  private final KeyedSteps kind;
  private long[] sizesBytes = new long[64];
  private int[] ends = new int[64];
  private int requests;
  private boolean tooLong;
  private boolean over;

  /** For a step of the calling thread, or what is left of one. */
  LearningStep(PlannedSteps owner, KeyedSteps kind) {
    this.owner = owner;
    this.kind = kind;
    takeOwnership();
  }

  @Override
  protected Block takeUnplanned(long bytes) {
    if (bytes <= 0) {
      return owner.takeShared(bytes, StepPlan.ALIGNMENT);
    }
    Life life = new Life();
    Block block = owner.takeWatched(bytes, 0, life);
    begin(life, bytes);
    return block;
  }

  @Override
  protected long takeUnplannedRaw(long bytes) {
    if (bytes <= 0) {
      return owner.takeSharedRaw(bytes);
    }
    Life life = new Life();
    long address = owner.takeWatchedRaw(bytes, life);
    if (address != 0) {
      begin(life, bytes);
    }
    return address;
  }

  private synchronized void begin(Life life, long bytes) {
    life.request = add(bytes);
  }

  /** Its number; −1 if there is no room for it. */
  private int add(long bytes) {
    if (requests == MAX_REQUESTS) {
      tooLong = true;
      return -1;
    }
    if (requests == ends.length) {
      sizesBytes = Arrays.copyOf(sizesBytes, 2 * requests);
      ends = Arrays.copyOf(ends, 2 * requests);
    }
    sizesBytes[requests] = bytes;
    return requests++;
  }

  /** Writes down a request that was served from elsewhere, and how long it is taken to live. */
  synchronized void pass(long bytes, int end) {
    int request = add(bytes);
    if (request >= 0) {
      ends[request] = end;
    }
  }

  /** Writes down that such a request lives longer. */
  synchronized void extend(int request, int end) {
    ends[request] = Math.max(ends[request], end);
  }

  private synchronized void ended(int request) {
    if (!over && request >= 0) {
      ends[request] = requests;
    }
  }

  @Override
  protected void releaseUnexpected(long address) {
    owner.releaseShared(address);
  }

  @Override
  protected void end() {
    boolean own = isMine();
    if (own) {
      dropOwnership();
    }
    kind.learnt(own ? recording() : null);
  }

  /** What it asked for, or null if that cannot be planned; nothing is written down any more. */
  synchronized Recording recording() {
    over = true;
    if (tooLong || requests == 0) {
      return null;
    }
    for (int request = 0; request < requests; request++) {
      if (ends[request] == 0 || ends[request] > requests) {
        ends[request] = requests;
      }
    }
    return new Recording(
        Arrays.copyOf(sizesBytes, requests),
        Arrays.copyOf(ends, requests),
        owner.isolation().roomBytes());
  }
}
