package io.prmalloc.trace.swap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Chooses which feature maps leave memory so that the peak stays within a budget, and the step
 * takes as little longer as can be found.
 *
 * <p>Threading: not safe.
 */
final class MapChooser {

  // Choosing is a covering problem (each operator where too much is alive must be relieved by maps
  // that are away then), which is NP-hard even where a map's price is fixed; and with transfers
  // that hide behind computing, or behind each other, it is not. So prices are not modelled: every
  // choice that is considered is simulated.
  //
  // 1. Greedy. Of the maps still there, those that promise the most relief, and those that promise
  //    the most for their own time, are tried, each swapped and (if allowed) recomputed. The one
  //    that really relieves the most bytes per millisecond it really adds is taken. Relief is
  //    counted over operators, and only what is above the budget counts. This goes on until the
  //    budget is kept. The pool needs more than what is alive: for it, the line to get under is
  //    lowered until the pool keeps the budget.
  // 2. What follows is done with what greedy left, and once more with all maps swapped, which keeps
  //    budgets that greedy does not; the better of the two is the answer.
  // 3. Clean up: maps, the dearest first, are kept after all where the budget allows and time is
  //    won. Greedy takes maps early that later ones make superfluous.
  // 4. Exchange: one map for another, two for one, one for two, as long as time is won, within a
  //    number of simulations, so that the answer is the same on every machine.
  //
  // A simulation takes as long as the step has operators, and there are more of them the more maps
  // there are: a step of thousands takes minutes. So somebody may watch, and end it with what it
  // has by then; all maps swapped are still tried once.

  private static final int SHORT_LIST = 8;
  private static final int MAX_EXCHANGES = 4000;

  private final SwapStep step;
  private final SwapOptions options;
  private final long budgetBytes;
  private final Recomputing recomputing;
  private final SwapWatch watch;
  private final long[] opPeakBytes;
  private Treatment[] present;
  private SwapRun presentRun;
  private long exchanges;
  private long simulations;
  private boolean isEnded;

  MapChooser(SwapStep step, SwapOptions options) {
    this(step, options, SwapWatch.NOBODY);
  }

  MapChooser(SwapStep step, SwapOptions options, SwapWatch watch) {
    this.step = step;
    this.options = options;
    this.watch = watch;
    budgetBytes = options.budgetBytes().orElseThrow();
    recomputing = new Recomputing(step);
    opPeakBytes = new long[step.ops.size()];
    present = new Treatment[step.maps.size()];
    Arrays.fill(present, Treatment.KEEP);
    presentRun = simulate(present);
  }

  private record Move(int map, Treatment treatment) {}

  private SwapRun simulate(Treatment[] treatments) {
    simulations++;
    return SwapSimulator.run(step, treatments, options, null, opPeakBytes);
  }

  /** Whether the search has not been ended. */
  private boolean goesOn() {
    isEnded = isEnded || !watch.goOn(presentRun, simulations);
    return !isEnded;
  }

  private boolean isWithin(SwapRun run) {
    return run.peakBytes() <= budgetBytes;
  }

  /** How many exchanges were looked at since the last improvement began. */
  long exchanges() {
    return exchanges;
  }

  /** The choice: one that keeps the budget, if one was found; else the one with the least peak. */
  Treatment[] choose() {
    relieve();
    improve();
    Treatment[] relieved = present;
    SwapRun relievedRun = presentRun;
    present = new Treatment[relieved.length];
    Arrays.fill(present, Treatment.SWAP);
    presentRun = simulate(present);
    improve();
    return isBetter(relievedRun, presentRun) ? relieved : present;
  }

  private boolean isBetter(SwapRun one, SwapRun other) {
    if (isWithin(one) && isWithin(other)) {
      return one.totalMillis() <= other.totalMillis();
    }
    return one.peakBytes() <= other.peakBytes();
  }

  private void improve() {
    exchanges = 0;
    if (isWithin(presentRun)) {
      do {
        cleanUp();
      } while (exchange());
    }
  }

  private void relieve() {
    long line = budgetBytes;
    while (!isWithin(presentRun) && goesOn()) {
      presentRun = simulate(present);
      long alive = Arrays.stream(opPeakBytes).max().orElse(0);
      if (alive <= line) {
        // Only the pool is above the budget.
        line = alive - Math.max(1, Math.min(alive, presentRun.peakBytes() - budgetBytes) / 4);
        if (line < 0) {
          return;
        }
      }
      if (!takeBest(line)) {
        return;
      }
    }
  }

  /** Takes the map that relieves the most per millisecond; says whether there was one. */
  private boolean takeBest(long line) {
    long[] before = opPeakBytes.clone();
    Move best = null;
    double bestWorth = 0;
    for (Move move : shortList(before, line)) {
      if (!goesOn()) {
        return false;
      }
      Treatment was = present[move.map];
      present[move.map] = move.treatment;
      SwapRun run = simulate(present);
      present[move.map] = was;
      double relief = 0;
      for (int op = 0; op < before.length; op++) {
        relief += Math.max(0, before[op] - line) - Math.max(0, opPeakBytes[op] - line);
      }
      double millis = Math.max(1e-9, run.totalMillis() - presentRun.totalMillis());
      if (relief / millis > bestWorth) {
        bestWorth = relief / millis;
        best = move;
      }
    }
    if (best == null) {
      return false;
    }
    present[best.map] = best.treatment;
    presentRun = simulate(present);
    return true;
  }

  /** The moves that promise the most relief, and the most for their own time. */
  private List<Move> shortList(long[] peaks, long line) {
    record Promise(Move move, double relief, double perMilli) {}

    List<Promise> promises = new ArrayList<>();
    for (int map = 0; map < present.length; map++) {
      // To look at one map takes as long as the step has operators.
      if (!goesOn()) {
        return List.of();
      }
      if (present[map] != Treatment.KEEP) {
        continue;
      }
      double relief = promisedRelief(step.maps.get(map), peaks, line);
      if (relief <= 0) {
        continue;
      }
      for (Treatment treatment : leaving()) {
        Move move = new Move(map, treatment);
        if (isPossibleAfter(move)) {
          promises.add(new Promise(move, relief, relief / Math.max(1e-9, ownMillis(move))));
        }
      }
    }
    List<Move> moves = new ArrayList<>();
    promises.stream()
        .sorted(Comparator.comparingDouble(Promise::perMilli).reversed())
        .limit(SHORT_LIST)
        .forEach(promise -> moves.add(promise.move));
    promises.stream()
        .sorted(Comparator.comparingDouble(Promise::relief).reversed())
        .map(Promise::move)
        .filter(move -> !moves.contains(move))
        .limit(SHORT_LIST)
        .toList()
        .forEach(moves::add);
    return moves;
  }

  private List<Treatment> leaving() {
    return options.recompute()
        ? List.of(Treatment.SWAP, Treatment.RECOMPUTE)
        : List.of(Treatment.SWAP);
  }

  private boolean isPossibleAfter(Move... moves) {
    Treatment[] after = present.clone();
    for (Move move : moves) {
      after[move.map] = move.treatment;
    }
    return recomputing.isPossible(after);
  }

  private double promisedRelief(FeatureMap map, long[] peaks, long line) {
    int back = map.firstBackwardOp() < 0 ? peaks.length : map.firstBackwardOp();
    double relief = 0;
    for (int op = map.lastForwardOp() + 1; op < back; op++) {
      relief += Math.max(0, Math.min(map.bytes(), peaks[op] - line));
    }
    return relief;
  }

  /** How long it would take if nothing hid it. */
  private double ownMillis(Move move) {
    FeatureMap map = step.maps.get(move.map);
    return switch (move.treatment) {
      case KEEP -> 0;
      case SWAP ->
          options.outMillis(map.bytes())
              + (map.firstBackwardOp() < 0 ? 0 : options.inMillis(map.bytes()));
      case RECOMPUTE -> step.ops.get(map.producer()).millis;
    };
  }

  /** Keeps what need not leave, and changes swapped to recomputed or back, where time is won. */
  private void cleanUp() {
    for (int map : dearestFirst()) {
      for (Treatment treatment : Treatment.values()) {
        if (treatment != present[map] && (treatment == Treatment.KEEP || options.recompute())) {
          takeIfBetter(new Move(map, treatment));
        }
      }
    }
  }

  /** The maps that leave, by how long each would take by itself. */
  private List<Integer> dearestFirst() {
    List<Integer> maps = new ArrayList<>(mapsThat(true));
    maps.sort(Comparator.comparingDouble((Integer map) -> -ownMillis(new Move(map, present[map]))));
    return maps;
  }

  private List<Integer> mapsThat(boolean leave) {
    List<Integer> maps = new ArrayList<>();
    for (int map = 0; map < present.length; map++) {
      if (leave == (present[map] != Treatment.KEEP)) {
        maps.add(map);
      }
    }
    return maps;
  }

  /** Makes the moves if the budget is kept and time is won; says whether. */
  private boolean takeIfBetter(Move... moves) {
    if (!goesOn() || !isPossibleAfter(moves)) {
      return false;
    }
    Treatment[] before = present.clone();
    for (Move move : moves) {
      present[move.map] = move.treatment;
    }
    SwapRun run = simulate(present);
    // By more than the rounding of sums, else this would never end.
    if (isWithin(run) && run.totalMillis() < presentRun.totalMillis() - 1e-9) {
      presentRun = run;
      return true;
    }
    present = before;
    return false;
  }

  /** Looks for one exchange that wins time; says whether it found one. */
  private boolean exchange() {
    List<Integer> leaving = dearestFirst();
    List<Integer> staying = mapsThat(false);
    for (int out : leaving) {
      for (int in : staying) {
        for (Treatment treatment : leaving()) {
          if (isEnded || exchanges >= MAX_EXCHANGES) {
            // As many as maps to the third power are left, and none of them would be tried.
            return false;
          }
          Move keep = new Move(out, Treatment.KEEP);
          Move leave = new Move(in, treatment);
          if (tryExchange(keep, leave)) {
            return true;
          }
          for (int other : leaving) {
            if (other != out && tryExchange(keep, new Move(other, Treatment.KEEP), leave)) {
              return true;
            }
          }
          for (int other : staying) {
            if (other != in && tryExchange(keep, leave, new Move(other, treatment))) {
              return true;
            }
          }
        }
      }
    }
    return false;
  }

  private boolean tryExchange(Move... moves) {
    return exchanges++ < MAX_EXCHANGES && takeIfBetter(moves);
  }
}
