package io.prmalloc.internal.planner.index;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which tensors have an edge at an address, and when they live.
 *
 * <p>Threading: not safe.
 */
final class EdgeMap {

  // A hash table with open addresses, from an address to the tensors that have the edge there, by
  // their births. Tensors with the same edge never live at the same time, so their deaths are in
  // that order, too. Mostly there is one, which stands in the table itself: a list for each would
  // be two million small arrays in a plan of a million.

  static final int NEVER = -1;

  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  private final Lives lives;
  private final long[] addresses;
  // By slot: 0 is an empty one, n + 1 the tensor n, ~n the n-th list.
  private final int[] tensors;
  // How many there are, and behind that the tensors.
  private final List<int[]> lists = new ArrayList<>();

  EdgeMap(Lives lives) {
    this.lives = lives;
    int slots = (int) Math.min(1 << 30, 4L * Integer.highestOneBit(Math.max(1, lives.count())));
    addresses = new long[slots];
    tensors = new int[slots];
  }

  /** Adds a tensor. No other one with an edge at this address lives in one of its ticks. */
  void add(long address, int tensor) {
    int slot = slot(address);
    if (tensors[slot] == 0) {
      addresses[slot] = address;
      tensors[slot] = tensor + 1;
      return;
    }
    if (tensors[slot] > 0) {
      lists.add(new int[] {1, tensors[slot] - 1, 0, 0});
      tensors[slot] = -lists.size();
    }
    int[] list = lists.get(~tensors[slot]);
    int count = list[0];
    if (count + 1 == list.length) {
      list = Arrays.copyOf(list, 2 * list.length);
      lists.set(~tensors[slot], list);
    }
    int at = 1 + bornUpTo(list, lives.firstTick(tensor));
    System.arraycopy(list, at, list, at + 1, count + 1 - at);
    list[at] = tensor;
    list[0]++;
  }

  /**
   * The last tick, up to {@code tick}, in which a tensor with this edge lives, or {@link #NEVER}.
   * There is at least one tensor with this edge.
   */
  int lastUpTo(long address, int tick) {
    int found = tensors[slot(address)];
    if (found > 0) {
      return lives.firstTick(found - 1) > tick ? NEVER : Math.min(tick, lives.lastTick(found - 1));
    }
    int[] list = lists.get(~found);
    int at = bornUpTo(list, tick);
    return at == 0 ? NEVER : Math.min(tick, lives.lastTick(list[at]));
  }

  /**
   * The first tick, from {@code tick} on, in which a tensor with this edge lives, or {@link
   * #NEVER}. There is at least one tensor with this edge.
   */
  int firstFrom(long address, int tick) {
    int found = tensors[slot(address)];
    if (found > 0) {
      return lives.lastTick(found - 1) < tick ? NEVER : Math.max(tick, lives.firstTick(found - 1));
    }
    int[] list = lists.get(~found);
    int at = bornUpTo(list, tick);
    if (at > 0 && lives.lastTick(list[at]) >= tick) {
      return tick;
    }
    return at == list[0] ? NEVER : lives.firstTick(list[at + 1]);
  }

  /**
   * The tensor with this edge that lives in a tick, or else the first born after it, or {@link
   * #NEVER}. There is at least one tensor with this edge.
   */
  int tensorFrom(long address, int tick) {
    int found = tensors[slot(address)];
    if (found > 0) {
      return lives.lastTick(found - 1) < tick ? NEVER : found - 1;
    }
    int[] list = lists.get(~found);
    int at = bornUpTo(list, tick);
    if (at > 0 && lives.lastTick(list[at]) >= tick) {
      return list[at];
    }
    return at == list[0] ? NEVER : list[at + 1];
  }

  /** Whether a tensor with this edge, if there is any, lives in one of the ticks of a life. */
  boolean isEdge(long address, int firstTick, int lastTick) {
    return tensors[slot(address)] != 0 && lastUpTo(address, lastTick) >= firstTick;
  }

  private int slot(long address) {
    int slot = (int) ((address * GOLDEN_RATIO) >>> 32) & (addresses.length - 1);
    while (tensors[slot] != 0 && addresses[slot] != address) {
      slot = (slot + 1) & (addresses.length - 1);
    }
    return slot;
  }

  /** How many of a list are born up to a tick, so the place of the last of them. */
  private int bornUpTo(int[] list, int tick) {
    int from = 0;
    int to = list[0];
    while (from < to) {
      int middle = (from + to + 1) >>> 1;
      if (lives.firstTick(list[middle]) <= tick) {
        from = middle;
      } else {
        to = middle - 1;
      }
    }
    return from;
  }
}
