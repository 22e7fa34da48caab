package io.prmalloc.internal.steps;

import io.prmalloc.internal.steps.StepPlan.Recording;
import java.util.Arrays;

/**
 * The requests of one step in their order, and when each was released.
 *
 * <p>Threading: any thread.
 */
final class StepRecorder {

  /** A step with more requests than this is not planned. */
  private static final int MAX_REQUESTS = 1 << 20;

  private long[] sizesBytes = new long[64];
  private int[] ends = new int[64];
  private int requests;
  private boolean tooLong;
  private boolean over;

  /**
   * Makes room for one more request. What is recorded next then needs no heap, which could run out
   * when the request has its memory already.
   */
  synchronized void makeRoom() {
    if (requests == ends.length && requests < MAX_REQUESTS) {
      // The shorter array says how much room there is, if there is no heap for the second one.
      sizesBytes = Arrays.copyOf(sizesBytes, 2 * requests);
      ends = Arrays.copyOf(ends, 2 * requests);
    }
  }

  /** A request begins; its number, or −1 if there is no room for it. */
  synchronized int begin(long bytes) {
    return add(bytes);
  }

  private int add(long bytes) {
    if (requests == MAX_REQUESTS) {
      tooLong = true;
      return -1;
    }
    makeRoom();
    sizesBytes[requests] = bytes;
    return requests++;
  }

  /** Adds a request of which is known how long it is taken to live. */
  synchronized void pass(long bytes, int end) {
    int request = add(bytes);
    if (request >= 0) {
      ends[request] = end;
    }
  }

  /** Such a request lives longer. */
  synchronized void extend(int request, int end) {
    ends[request] = Math.max(ends[request], end);
  }

  /** A request was freed; nothing changes for −1 or after {@link #recording}. */
  synchronized void ended(int request) {
    if (!over && request >= 0) {
      ends[request] = requests;
    }
  }

  /**
   * The whole step, or null if that cannot be planned. Nothing is recorded from then on.
   *
   * @param roomBytes what every request needs beside its bytes
   */
  synchronized Recording recording(int roomBytes) {
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
        Arrays.copyOf(sizesBytes, requests), Arrays.copyOf(ends, requests), roomBytes);
  }
}
