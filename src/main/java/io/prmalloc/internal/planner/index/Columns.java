package io.prmalloc.internal.planner.index;

import java.util.Arrays;

/**
 * Ticks cut into columns with about equally many births and deaths in each.
 *
 * <p>Threading: immutable.
 */
final class Columns {

  // With d tensors alive at a time and c columns in a life, a tensor costs some 3c operations on
  // lists and some 2d / c steps over parts of columns. An operation costs some fifty steps, so
  // c = sqrt(d / 75) is about best. Fewer than one would make columns longer than lives.
  private static final double LEAST_PER_LIFE = 1;
  private static final double ALIVE_PER_COLUMN = 75;

  private final int[] columnOfTick;
  // By column, and one more behind the last.
  private final int[] firstTicks;

  /**
   * Threading: any thread.
   *
   * @param columnsPerLife how many columns a life should span on average; 0 chooses by how many
   *     tensors are alive at a time
   * @param leastTensors no more columns than leave each so many births, roughly
   */
  Columns(Lives lives, double columnsPerLife, int leastTensors) {
    // How much happens before each tick: a birth and a death per tensor.
    long[] happened = new long[lives.tickCount() + 1];
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      happened[lives.firstTick(tensor) + 1]++;
      happened[lives.lastTick(tensor) + 1]++;
    }
    Sums.accumulate(happened);
    double all = 2.0 * lives.count();
    double meanLife = 0;
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      meanLife += (happened[lives.lastTick(tensor) + 1] - happened[lives.firstTick(tensor)]) / all;
    }
    meanLife /= lives.count();
    if (columnsPerLife == 0) {
      double alive = lives.count() * meanLife;
      columnsPerLife = Math.max(LEAST_PER_LIFE, Math.sqrt(alive / ALIVE_PER_COLUMN));
    }
    double most = 1 + (double) lives.count() / leastTensors;
    double each = all / Math.max(1, Math.min(most, columnsPerLife / meanLife));

    columnOfTick = new int[lives.tickCount()];
    int[] starts = new int[lives.tickCount() + 1];
    int count = 0;
    for (int tick = 0; tick < columnOfTick.length; tick++) {
      if (tick == 0 || happened[tick + 1] - happened[starts[count - 1]] > each) {
        starts[count++] = tick;
      }
      columnOfTick[tick] = count - 1;
    }
    starts[count] = columnOfTick.length;
    firstTicks = Arrays.copyOf(starts, count + 1);
  }

  /** How many columns there are. */
  int count() {
    return firstTicks.length - 1;
  }

  /** The column a tick is in. */
  int of(int tick) {
    return columnOfTick[tick];
  }

  /** Whether a life spans all ticks of a column. */
  boolean isWhole(int column, int firstTick, int lastTick) {
    return firstTick <= firstTicks[column] && lastTick >= firstTicks[column + 1] - 1;
  }
}
