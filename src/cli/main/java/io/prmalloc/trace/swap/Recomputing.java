package io.prmalloc.trace.swap;

import java.util.Arrays;

/**
 * Says which feature maps can be computed again.
 *
 * <p>Threading: immutable.
 */
final class Recomputing {

  // A map's operator can run again at the map's first backward operator if all that it reads is in
  // memory then: released no earlier, and if it is a feature map itself, not away. One that is away
  // is back in time if it is needed before, or at the same operator: there, swapped maps come
  // before recomputed ones, and these in their order.

  private final SwapStep step;
  // By tensor: its place among the maps, or −1.
  private final int[] places;

  Recomputing(SwapStep step) {
    this.step = step;
    places = new int[step.ids.length];
    Arrays.fill(places, -1);
    for (int place = 0; place < step.maps.size(); place++) {
      places[step.maps.get(place).tensor()] = place;
    }
  }

  /** Whether all maps that are to be recomputed can be. */
  boolean isPossible(Treatment[] treatments) {
    for (int place = 0; place < treatments.length; place++) {
      if (treatments[place] == Treatment.RECOMPUTE && !isPossible(place, treatments)) {
        return false;
      }
    }
    return true;
  }

  private boolean isPossible(int place, Treatment[] treatments) {
    FeatureMap map = step.maps.get(place);
    int at = map.firstBackwardOp();
    if (at < 0) {
      return false;
    }
    for (int input : step.ops.get(map.producer()).inputs) {
      if (step.releaseOps[input] < at) {
        return false;
      }
      int of = places[input];
      if (of < 0 || treatments[of] == Treatment.KEEP) {
        continue;
      }
      int back = step.maps.get(of).firstBackwardOp();
      boolean inTime =
          back >= 0
              && (back < at
                  || (back == at
                      && (treatments[of] == Treatment.SWAP || comesBefore(of, place, at))));
      if (!inTime) {
        return false;
      }
    }
    return true;
  }

  private boolean comesBefore(int one, int other, int op) {
    for (int place : step.returning[op]) {
      if (place == one) {
        return true;
      }
      if (place == other) {
        return false;
      }
    }
    return false;
  }
}
