package io.prmalloc.internal.planner.index;

import java.util.Arrays;

/**
 * The tasks in which no tensor of a growing set is alive.
 *
 * <p>Threading: not safe.
 */
final class EmptyTasks {

  // Tasks are taken together in stretches without birth or death. Each knows a later one, up to
  // which no other is empty, or itself if it is empty; the ways are halved as they are walked.

  private final int[] firsts;
  private final int[] lasts;
  private final int[] next;

  /** All tasks are empty. */
  EmptyTasks(Lives lives) {
    int count = lives.count();
    long[] borders = new long[2 * count];
    for (int tensor = 0; tensor < count; tensor++) {
      borders[2 * tensor] = lives.firstTask(tensor);
      borders[2 * tensor + 1] = lives.lastTask(tensor) + 1;
    }
    Arrays.sort(borders);
    int distinct = 0;
    for (long border : borders) {
      if (distinct == 0 || borders[distinct - 1] != border) {
        borders[distinct++] = border;
      }
    }
    firsts = new int[count];
    lasts = new int[count];
    for (int tensor = 0; tensor < count; tensor++) {
      firsts[tensor] = Arrays.binarySearch(borders, 0, distinct, lives.firstTask(tensor));
      lasts[tensor] = Arrays.binarySearch(borders, 0, distinct, lives.lastTask(tensor) + 1) - 1;
    }
    next = new int[distinct + 1];
    Arrays.setAll(next, i -> i);
  }

  /** One more tensor. Close to O(1) for each tensor and each stretch, over all calls. */
  void add(int tensor) {
    int stretch = emptyFrom(firsts[tensor]);
    while (stretch <= lasts[tensor]) {
      next[stretch] = stretch + 1;
      stretch = emptyFrom(stretch);
    }
  }

  /** Whether a task of a tensor's life is empty. */
  boolean isSomeEmpty(int tensor) {
    return emptyFrom(firsts[tensor]) <= lasts[tensor];
  }

  private int emptyFrom(int from) {
    int stretch = from;
    while (next[stretch] != stretch) {
      next[stretch] = next[next[stretch]];
      stretch = next[stretch];
    }
    return stretch;
  }
}
