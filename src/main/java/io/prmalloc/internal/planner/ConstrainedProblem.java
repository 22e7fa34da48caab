package io.prmalloc.internal.planner;

import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.planner.index.LifeTree;
import io.prmalloc.internal.planner.index.Sums;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorConstraints.Gap;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Tensors with constraints, as planners by offsets need them.
 *
 * <p>Threading: immutable.
 */
public final class ConstrainedProblem {

  // A tensor is some pieces: in some ticks, bytes [from, to) of it are in use. Without gaps that is
  // one; a gap parts it in time, and what stays in use meanwhile is one more. Two tensors may lie
  // at offsets x and y if no two pieces of theirs that share a tick share a byte: for each such
  // pair, y − x must not lie strictly between from(x) − to(y) and to(x) − from(y). All there is to
  // know of two tensors are these intervals of forbidden differences.
  //
  // Ticks are the tasks in which a piece begins: what overlaps at all, overlaps in one of them.

  private static final long LARGEST = 1L << 61;

  private final List<TensorUsageRecord> records;
  private final long alignment;
  private final long[] sizes;
  private final long[] steps;
  private final long[] fixed;
  private final int[][] firstTicks;
  private final int[][] lastTicks;
  private final long[][] froms;
  private final long[][] tos;
  // The first and the last tick in which a tensor has a piece; a tensor without pieces has none.
  private final int[] births;
  private final int[] deaths;
  private final int tickCount;

  /**
   * Threading: any thread.
   *
   * @param alignment what every offset is a multiple of, beside each tensor's own alignment
   * @throws IllegalArgumentException if the alignment is out of its bounds; if sizes, rounded up,
   *     together, behind the fixed, pass 2^61; if a fixed offset is no multiple of the alignment,
   *     or two tensors share a byte where they are fixed
   */
  public ConstrainedProblem(List<TensorUsageRecord> records, long alignment) {
    Requests.checkAlignment(alignment);
    this.records = List.copyOf(records);
    this.alignment = alignment;
    int count = records.size();
    sizes = records.stream().mapToLong(TensorUsageRecord::sizeBytes).toArray();
    steps = records.stream().mapToLong(r -> step(r.constraints(), alignment)).toArray();
    fixed = records.stream().mapToLong(r -> r.constraints().offset().orElse(-1)).toArray();
    checkSum();
    checkFixed();
    firstTicks = new int[count][];
    lastTicks = new int[count][];
    froms = new long[count][];
    tos = new long[count][];
    List<List<Gap>> pieces = records.stream().map(ConstrainedProblem::pieces).toList();
    long[] ticks =
        pieces.stream()
            .flatMap(List::stream)
            .mapToLong(Gap::firstTask)
            .sorted()
            .distinct()
            .toArray();
    tickCount = ticks.length;
    births = new int[count];
    deaths = new int[count];
    for (int i = 0; i < count; i++) {
      List<Gap> ofTensor = pieces.get(i);
      firstTicks[i] = ofTensor.stream().mapToInt(p -> tickOf(ticks, p.firstTask())).toArray();
      lastTicks[i] = ofTensor.stream().mapToInt(p -> tickOf(ticks, p.lastTask())).toArray();
      births[i] = firstTicks[i].length == 0 ? tickCount : firstTicks[i][0];
      deaths[i] = lastTicks[i].length == 0 ? -1 : lastTicks[i][lastTicks[i].length - 1];
      froms[i] = ofTensor.stream().mapToLong(Gap::fromByte).toArray();
      tos[i] = ofTensor.stream().mapToLong(Gap::toByte).toArray();
    }
  }

  /** What is in use and when, by first task: as gaps are, only the other way round. */
  private static List<Gap> pieces(TensorUsageRecord record) {
    List<Gap> pieces = new ArrayList<>();
    long from = record.firstTask();
    for (Gap gap : record.constraints().gaps()) {
      if (from < gap.firstTask()) {
        pieces.add(new Gap(from, gap.firstTask() - 1, 0, record.sizeBytes()));
      }
      pieces.add(gap);
      from = gap.lastTask() + 1;
    }
    if (from <= record.lastTask()) {
      pieces.add(new Gap(from, record.lastTask(), 0, record.sizeBytes()));
    }
    pieces.removeIf(piece -> piece.fromByte() == piece.toByte());
    return pieces;
  }

  private static int tickOf(long[] ticks, long task) {
    int found = Arrays.binarySearch(ticks, task);
    return found >= 0 ? found : -found - 2;
  }

  /** The least common multiple. */
  private static long step(TensorConstraints constraints, long alignment) {
    return constraints.alignment() / gcd(constraints.alignment(), alignment) * alignment;
  }

  private static long gcd(long a, long b) {
    while (b != 0) {
      long rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }

  /**
   * Checks that offsets, and differences of offsets, do not overflow: no offset of a plan without
   * holes passes the end of the fixed tensors plus the sum of all sizes and steps.
   */
  private void checkSum() {
    long end = 0;
    for (int i = 0; i < sizes.length; i++) {
      end = Math.max(end, fixed[i] < 0 ? 0 : Sums.add(fixed[i], sizes[i]));
    }
    long left = LARGEST - end;
    for (int i = 0; i < sizes.length; i++) {
      left -= steps[i] - 1;
      if (left < sizes[i]) {
        throw new IllegalArgumentException(
            "size "
                + sizes[i]
                + " with an alignment of "
                + steps[i]
                + " takes the sum of all"
                + (end > 0 ? ", behind fixed tensors that end at " + end + "," : "")
                + " over "
                + LARGEST
                + ", at which plans under constraints end");
      }
      left -= sizes[i];
    }
  }

  private void checkFixed() {
    int[] where = IntStream.range(0, fixed.length).filter(i -> fixed[i] >= 0).toArray();
    for (int i : where) {
      if (fixed[i] % steps[i] != 0) {
        throw new IllegalArgumentException(
            "tensor "
                + i
                + " is fixed at offset "
                + fixed[i]
                + ", no multiple of the alignment "
                + alignment);
      }
    }
    List<TensorUsageRecord> all = IntStream.of(where).mapToObj(records::get).toList();
    long[] offsets = IntStream.of(where).mapToLong(i -> fixed[i]).toArray();
    PlanValidator.fault(all, OffsetsAssignment.of(all, offsets, 1), i -> String.valueOf(where[i]))
        .ifPresent(
            fault -> {
              throw new IllegalArgumentException("fixed offsets cannot be kept: " + fault);
            });
  }

  /**
   * Whether planners that know of no constraint will do: there is none, or all tensors have the
   * same alignment, and nothing else.
   *
   * <p>Threading: any thread.
   *
   * @param alignment what every offset is a multiple of
   * @return the alignment to plan with; 0 if constraints are to be observed one by one
   * @throws IllegalArgumentException if the alignment is not a power of two from 1 to 2^30
   */
  public static long plainAlignment(List<TensorUsageRecord> records, long alignment) {
    Requests.checkAlignment(alignment);
    TensorConstraints first =
        records.isEmpty() ? TensorConstraints.NONE : records.get(0).constraints();
    boolean isPlain = Long.bitCount(first.alignment()) == 1;
    for (int i = 0; i < records.size() && isPlain; i++) {
      TensorConstraints constraints = records.get(i).constraints();
      isPlain = isFree(constraints) && constraints.alignment() == first.alignment();
    }
    return isPlain ? Math.max(alignment, first.alignment()) : 0;
  }

  private static boolean isFree(TensorConstraints constraints) {
    return constraints.offset().isEmpty()
        && constraints.hint().isEmpty()
        && constraints.gaps().isEmpty();
  }

  /**
   * For methods that cannot observe constraints.
   *
   * <p>Threading: any thread.
   *
   * @param method its name
   * @throws IllegalArgumentException if a tensor has constraints; hints, which are no obligation,
   *     aside
   */
  public static void refuse(List<TensorUsageRecord> records, String method) {
    for (int i = 0; i < records.size(); i++) {
      Optional<String> obligation = records.get(i).constraints().obligation();
      if (obligation.isPresent()) {
        throw new IllegalArgumentException(
            method
                + " cannot observe the constraints of tensors; tensor "
                + i
                + " has "
                + obligation.get());
      }
    }
  }

  /** All tensors. Threading: any thread. */
  public List<TensorUsageRecord> records() {
    return records;
  }

  /** How many tensors there are. Threading: any thread. */
  public int count() {
    return sizes.length;
  }

  /** What every offset is a multiple of. Threading: any thread. */
  public long alignment() {
    return alignment;
  }

  /** How many ticks there are. Threading: any thread. */
  public int tickCount() {
    return tickCount;
  }

  public long size(int tensor) {
    return sizes[tensor];
  }

  /** What the offset of a tensor is a multiple of. Threading: any thread. */
  public long step(int tensor) {
    return steps[tensor];
  }

  /** Where a tensor must lie; −1 if anywhere. Threading: any thread. */
  public long fixed(int tensor) {
    return fixed[tensor];
  }

  /** How many pieces a tensor has. Threading: any thread. */
  public int pieceCount(int tensor) {
    return froms[tensor].length;
  }

  /** All tensors, none of which is in the set. Threading: any thread. */
  public LifeTree lifeTree() {
    return new LifeTree(births, deaths);
  }

  /** The first tick with a piece of a tensor; behind all ticks if none. Threading: any thread. */
  public int birth(int tensor) {
    return births[tensor];
  }

  /** The last tick with a piece of a tensor; −1 if it has none. Threading: any thread. */
  public int death(int tensor) {
    return deaths[tensor];
  }

  public int firstTick(int tensor, int piece) {
    return firstTicks[tensor][piece];
  }

  public int lastTick(int tensor, int piece) {
    return lastTicks[tensor][piece];
  }

  /** The first byte of a piece. Threading: any thread. */
  public long from(int tensor, int piece) {
    return froms[tensor][piece];
  }

  /** The byte behind a piece. Threading: any thread. */
  public long to(int tensor, int piece) {
    return tos[tensor][piece];
  }

  /** The least aligned offset of a tensor that is not less. Threading: any thread. */
  public long alignUp(int tensor, long offset) {
    return offset <= 0 ? 0 : alignDown(tensor, offset + steps[tensor] - 1);
  }

  /** The largest aligned offset of a tensor that is not more. Threading: any thread. */
  public long alignDown(int tensor, long offset) {
    return Math.floorDiv(offset, steps[tensor]) * steps[tensor];
  }

  /**
   * Adds the differences, the offset of {@code other} less that of {@code one}, that would make
   * them share a byte.
   *
   * <p>Threading: any thread.
   *
   * @param base added to each bound
   * @param found bounds of open intervals, in any order
   */
  public void forbid(int one, int other, long base, LongPairs found) {
    if (births[one] > deaths[other] || births[other] > deaths[one]) {
      return;
    }
    // The pieces of a tensor follow one another in time: of two that were compared, the one that
    // ends first meets no further piece.
    int i = 0;
    int k = 0;
    while (i < froms[one].length && k < froms[other].length) {
      if (firstTicks[one][i] <= lastTicks[other][k] && firstTicks[other][k] <= lastTicks[one][i]) {
        found.add(base + froms[one][i] - tos[other][k], base + tos[one][i] - froms[other][k]);
      }
      if (lastTicks[one][i] < lastTicks[other][k]) {
        i++;
      } else {
        k++;
      }
    }
  }

  /** The most bytes in use in one tick, or where the last fixed tensor ends if that is more. */
  public long lowerBound() {
    long[] change = new long[tickCount + 1];
    long most = 0;
    for (int tensor = 0; tensor < count(); tensor++) {
      most = Math.max(most, Math.max(0, fixed[tensor]) + sizes[tensor]);
      for (int piece = 0; piece < froms[tensor].length; piece++) {
        change[firstTicks[tensor][piece]] += tos[tensor][piece] - froms[tensor][piece];
        change[lastTicks[tensor][piece] + 1] -= tos[tensor][piece] - froms[tensor][piece];
      }
    }
    Sums.accumulate(change);
    return Math.max(most, Arrays.stream(change).max().orElse(0));
  }

  /** Where the last of the tensors ends. Threading: any thread. */
  public long total(long[] offsets) {
    return IntStream.range(0, count()).mapToLong(i -> offsets[i] + sizes[i]).max().orElse(0);
  }

  /** A plan of all tensors. Threading: any thread. */
  public OffsetsAssignment plan(long[] offsets) {
    return OffsetsAssignment.of(records, offsets, alignment);
  }

  /**
   * What every total of a plan whose tensors lie as low as they can is a multiple of, from 1.
   *
   * <p>Threading: any thread.
   */
  public long totalStep() {
    long divisor = 0;
    for (int i = 0; i < count(); i++) {
      divisor = gcd(gcd(divisor, sizes[i]), Math.max(0, fixed[i]));
      for (int piece = 0; piece < froms[i].length; piece++) {
        divisor = gcd(gcd(divisor, froms[i][piece]), tos[i][piece]);
      }
    }
    // A multiple of the divisor, rounded up to a step that it divides, or that divides it, stays
    // one.
    long before = 0;
    while (divisor != before) {
      before = divisor;
      for (long step : steps) {
        divisor = divisor % step == 0 ? divisor : gcd(divisor, step);
      }
    }
    return Math.max(1, divisor);
  }
}
