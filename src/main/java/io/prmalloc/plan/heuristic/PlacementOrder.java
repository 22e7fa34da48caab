package io.prmalloc.plan.heuristic;

import io.prmalloc.plan.TensorUsageRecord;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The order in which tensors are placed, and the gaps that they may use.
 *
 * <p>Threading: immutable.
 */
public enum PlacementOrder {
  /** The longest life first, then the largest, the first born, the first to die. */
  LIFE,
  /**
   * The largest first, then the longest life, the first born, the first to die. An earlier version
   * of the rule: it does not see the gap below the lowest tensor of a task.
   */
  SIZE;

  /** Its name on the command line: {@code life}, {@code size}. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether a tensor may lie below all others of a task. */
  boolean seesGround() {
    return this == LIFE;
  }

  /** The tensors in this order; equals stay as they are. Sizes count as rounded up. */
  int[] sort(List<TensorUsageRecord> records, long alignment) {
    Comparator<TensorUsageRecord> byLife =
        Comparator.comparingLong((TensorUsageRecord r) -> r.lastTask() - r.firstTask()).reversed();
    Comparator<TensorUsageRecord> bySize =
        Comparator.comparingLong(
                (TensorUsageRecord r) -> OrderPlacer.rounded(r.sizeBytes(), alignment))
            .reversed();
    Comparator<TensorUsageRecord> order =
        (this == LIFE ? byLife.thenComparing(bySize) : bySize.thenComparing(byLife))
            .thenComparingLong(TensorUsageRecord::firstTask);
    return IntStream.range(0, records.size())
        .boxed()
        .sorted(Comparator.comparing(records::get, order))
        .mapToInt(Integer::intValue)
        .toArray();
  }
}
