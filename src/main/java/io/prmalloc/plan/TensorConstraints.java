package io.prmalloc.plan;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a plan by offsets must observe for one tensor, beside its size and its life.
 *
 * <p>Source: the columns of the same names in the tables of MiniMalloc (Moffitt, ASPLOS 2023).
 *
 * <p>Threading: immutable.
 *
 * @param alignment what the tensor's offset is a multiple of, from 1 to 2^30; need not be a power
 *     of two
 * @param offset where the tensor must lie, from 0, a multiple of {@code alignment}; empty if
 *     anywhere
 * @param hint where planners try to place the tensor, from 0: it never makes a plan larger, and may
 *     be missed even where it would cost nothing; empty if there is no such place
 * @param gaps when some of its bytes are not in use, sorted by first task on construction; no two
 *     share a task
 */
public record TensorConstraints(
    long alignment, OptionalLong offset, OptionalLong hint, List<Gap> gaps) {

  /** The largest alignment. */
  public static final long MAX_ALIGNMENT = 1L << 30;

  /** Any offset, no gaps. */
  public static final TensorConstraints NONE =
      new TensorConstraints(1, OptionalLong.empty(), OptionalLong.empty(), List.of());

  /**
   * Tasks within a life in which only a part of a tensor is in use, or nothing of it.
   *
   * <p>Threading: immutable.
   *
   * @param firstTask the first task of the gap, from 0
   * @param lastTask the last task of the gap, at least {@code firstTask}
   * @param fromByte the first byte that stays in use, from 0
   * @param toByte the first byte behind it that does not, at least {@code fromByte}; equal if
   *     nothing stays in use
   */
  public record Gap(long firstTask, long lastTask, long fromByte, long toByte) {

    /**
     * Threading: any thread.
     *
     * @throws IllegalArgumentException if a number is out of its bounds
     */
    public Gap {
      TensorUsageRecord.checkTasks(firstTask, lastTask);
      if (fromByte < 0 || toByte < fromByte) {
        throw new IllegalArgumentException(
            "bytes [" + fromByte + ", " + toByte + ") are no part of a tensor");
      }
    }
  }

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a number is out of its bounds, the offset is not aligned,
   *     or two gaps share a task
   */
  public TensorConstraints {
    Objects.requireNonNull(offset, "offset");
    Objects.requireNonNull(hint, "hint");
    gaps = gaps.stream().sorted(Comparator.comparingLong(Gap::firstTask)).toList();
    if (alignment < 1 || alignment > MAX_ALIGNMENT) {
      throw new IllegalArgumentException(
          "alignment " + alignment + " is not from 1 to " + MAX_ALIGNMENT);
    }
    if (offset.orElse(0) < 0 || offset.orElse(0) % alignment != 0) {
      throw new IllegalArgumentException(
          "offset " + offset.getAsLong() + " is not a multiple of " + alignment + " from 0");
    }
    if (hint.orElse(0) < 0) {
      throw new IllegalArgumentException(
          "hint " + hint.getAsLong() + " is negative; the least is 0");
    }
    for (int i = 1; i < gaps.size(); i++) {
      if (gaps.get(i).firstTask <= gaps.get(i - 1).lastTask) {
        throw new IllegalArgumentException(
            "two gaps share task " + gaps.get(i).firstTask + "; gaps must not overlap");
      }
    }
  }

  /**
   * The constraint that a plan must keep: {@code gaps}, {@code a fixed offset} or {@code an
   * alignment}, the first of these that there is. A hint need not be kept.
   *
   * <p>Threading: any thread.
   *
   * @return empty if there is none, so that a planner that ignores constraints may be used
   */
  public Optional<String> obligation() {
    if (!gaps.isEmpty()) {
      return Optional.of("gaps");
    }
    if (offset.isPresent()) {
      return Optional.of("a fixed offset");
    }
    return alignment > 1 ? Optional.of("an alignment") : Optional.empty();
  }

  /** The same with another alignment. Threading: any thread. */
  public TensorConstraints withAlignment(long other) {
    return new TensorConstraints(other, offset, hint, gaps);
  }

  /** The same at a fixed place. Threading: any thread. */
  public TensorConstraints withOffset(long fixed) {
    return new TensorConstraints(alignment, OptionalLong.of(fixed), hint, gaps);
  }

  /** The same with a preferred place. Threading: any thread. */
  public TensorConstraints withHint(long preferred) {
    return new TensorConstraints(alignment, offset, OptionalLong.of(preferred), gaps);
  }

  /** The same with other gaps. Threading: any thread. */
  public TensorConstraints withGaps(List<Gap> others) {
    return new TensorConstraints(alignment, offset, hint, others);
  }
}
