package io.prmalloc.kept;

import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Checks whether numbers form a valid plan.
 *
 * <p>Threading: stateless.
 */
final class PlanCheck {

  /** What every offset of a step is a multiple of. */
  static final long STEP_ALIGNMENT = 64;

  private static final long MAX_REQUEST_BYTES = Integer.MAX_VALUE;
  private static final long MAX_ALIGNMENT = 1 << 30;

  /** The most bytes of a chunk: twice the largest request, header and rounding included. */
  private static final long MAX_CHUNK_BYTES = 1L << 32;

  /** A request has no more bytes beside its own, as those of canaries. */
  private static final long MAX_ROOM_BYTES = STEP_ALIGNMENT;

  /** So many times what its requests have side by side is the most that the bytes of a step are. */
  private static final int MAX_SPREAD = 2;

  /** The most bytes a plan may have: the address space of a process. */
  private static final long MAX_BYTES = 1L << 47;

  /** The most blocks of a pool, each of which is an object on the heap. */
  private static final long MAX_BLOCKS = 1 << 20;

  private PlanCheck() {}

  /**
   * @throws PlanFormatException if not
   */
  static void check(KeptStep step) {
    long[] sizes = step.sizesBytes();
    int[] ends = step.ends();
    long[] offsets = step.offsets();
    long sideBySide = 0;
    if (sizes.length == 0) {
      throw new PlanFormatException("a step without requests");
    }
    if (ends.length != sizes.length || offsets.length != sizes.length) {
      throw new PlanFormatException(
          "a step has "
              + sizes.length
              + " sizes, "
              + ends.length
              + " ends and "
              + offsets.length
              + " offsets");
    }
    for (int request = 0; request < sizes.length; request++) {
      checkRange("size of request " + request, sizes[request], 1, MAX_REQUEST_BYTES);
      checkRange("end of request " + request, ends[request], request + 1L, sizes.length);
      checkRange(
          "offset of request " + request, offsets[request], 0, Long.MAX_VALUE - sizes[request]);
      sideBySide += (sizes[request] + MAX_ROOM_BYTES + STEP_ALIGNMENT - 1) & -STEP_ALIGNMENT;
    }
    OffsetsAssignment plan;
    try {
      plan = OffsetsAssignment.of(step.records(), offsets, STEP_ALIGNMENT);
    } catch (IllegalArgumentException e) {
      throw new PlanFormatException(e.getMessage());
    }
    checkRange("bytes of a step", plan.totalBytes(), 0, MAX_BYTES);
    // No planner leaves more room than the tensors take: what lies further apart is memory that was
    // not asked for.
    checkRange("bytes of a step", plan.totalBytes(), 0, MAX_SPREAD * sideBySide);
    PlanValidator.fault(step.records(), plan)
        .ifPresent(
            fault -> {
              throw new PlanFormatException("not a plan of its step: " + fault);
            });
  }

  /**
   * @throws PlanFormatException if not
   */
  static void check(LifetimePlan plan, List<Integer> reservedBlocks, long loadBytes) {
    checkRange("loadBytes", loadBytes, 0, MAX_BYTES);
    int interval = plan.intervalBytes();
    if (interval < 64 || interval > LifetimePolicy.SMALL_BYTES || Integer.bitCount(interval) != 1) {
      throw new PlanFormatException(
          "intervalBytes " + interval + " is not a power of two from 64 to 32768");
    }
    checkRange("concurrentSteps", plan.concurrentSteps(), 1, Integer.MAX_VALUE);
    if (reservedBlocks.size() != plan.bins().size()) {
      throw new PlanFormatException("blocks are not given for each bin");
    }
    int maxIndex = LifetimePolicy.index(MAX_CHUNK_BYTES, interval);
    Set<Integer> indices = new HashSet<>();
    plan.bins().forEach(bin -> indices.add(bin.index()));
    long total = 0;
    long blocks = 0;
    long bytes = 0;
    long last = -1;
    for (int position = 0; position < plan.bins().size(); position++) {
      BinPlan bin = plan.bins().get(position);
      checkRange("index of a bin", bin.index(), last + 1, maxIndex);
      last = bin.index();
      long chunkBytes = LifetimePolicy.chunkBytes(bin.index(), interval);
      checkRange("chunkBytes of bin " + last, bin.chunkBytes(), chunkBytes, chunkBytes);
      checkRange("blocks of bin " + last, bin.blocks(), 0, Integer.MAX_VALUE);
      int reserved = reservedBlocks.get(position);
      checkRange("reserved of bin " + last, reserved, bin.blocks(), Integer.MAX_VALUE);
      checkRange("alignment of bin " + last, bin.alignment(), 64, MAX_ALIGNMENT);
      if (Long.bitCount(bin.alignment()) != 1) {
        throw new PlanFormatException(
            "alignment of bin " + last + " is " + bin.alignment() + ", not a power of two");
      }
      Set<Integer> targets = new HashSet<>();
      for (int target : bin.virtualTargets()) {
        checkRange("borrowsFrom of bin " + last, target, last + 1, Integer.MAX_VALUE);
        if (!indices.contains(target)) {
          throw new PlanFormatException("bin " + last + " borrows from no bin, " + target);
        }
        if (!targets.add(target)) {
          throw new PlanFormatException("bin " + last + " borrows twice from bin " + target);
        }
      }
      blocks += reserved;
      checkRange("reserved up to bin " + last, blocks, 0, MAX_BLOCKS);
      try {
        long stride = Math.max(bin.chunkBytes(), bin.alignment());
        bytes = Math.addExact(bytes, Math.multiplyExact(stride, (long) reserved));
        checkRange("bytes reserved up to bin " + last, bytes, 0, MAX_BYTES);
        total = Math.addExact(total, Math.multiplyExact(bin.chunkBytes(), (long) bin.blocks()));
      } catch (ArithmeticException e) {
        throw new PlanFormatException("the bins pass 2^63 - 1 bytes");
      }
    }
    checkRange("totalBytes", plan.totalBytes(), total, total);
  }

  private static void checkRange(String what, long value, long least, long most) {
    if (value < least || value > most) {
      throw new PlanFormatException(what + " is " + value + ", not from " + least + " to " + most);
    }
  }
}
