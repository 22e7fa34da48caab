package io.prmalloc.pool.race;

import io.prmalloc.Allocation;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.arena.Buffer;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.ChunkIndex;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.slab.IndexStack;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;

/**
 * The operations that Lincheck combines to scenarios, and their sequential meaning. Run by {@link
 * LincheckMain}.
 *
 * <p>The specification leaves open which block an allocation gets. So an operation only says
 * whether it got one, and {@link Owners} checks that no block has two owners. Only the thread that
 * took a block gives it back.
 */
public final class LincheckModels {

  private static final int MOST_THREADS = 8;

  private LincheckModels() {}

  /** Who has what, on the side of the test. */
  private static final class Owners {
    private final boolean[] taken = new boolean[MOST_THREADS];
    private final List<Deque<Allocation>> handles = new ArrayList<>();
    private final List<Deque<PooledBlock>> blocks = new ArrayList<>();

    Owners() {
      for (int i = 0; i < MOST_THREADS; i++) {
        handles.add(new ArrayDeque<>());
        blocks.add(new ArrayDeque<>());
      }
    }

    /** Opens what was claimed; false if there was nothing to claim. */
    boolean open(int thread, PooledBlock block) {
      if (block == null) {
        return false;
      }
      if (taken[block.number()]) {
        throw new IllegalStateException("block " + block.number() + " has two owners");
      }
      taken[block.number()] = true;
      blocks.get(thread).push(block);
      handles.get(thread).push(block.open(1));
      return true;
    }

    /** Closes what the thread took last; false if it has nothing. */
    boolean close(int thread) {
      if (handles.get(thread).isEmpty()) {
        return false;
      }
      taken[blocks.get(thread).pop().number()] = false;
      handles.get(thread).pop().close();
      return true;
    }

    int held() {
      return blocks.stream().mapToInt(Deque::size).sum();
    }
  }

  /** A set of so many blocks per bin; bins do not help each other. */
  private static final class Counts {
    private final int[] free;
    private final List<Deque<Integer>> held = new ArrayList<>();

    Counts(int... free) {
      this.free = free;
      for (int i = 0; i < MOST_THREADS; i++) {
        held.add(new ArrayDeque<>());
      }
    }

    boolean take(int thread, int bin) {
      if (free[bin] == 0) {
        return false;
      }
      free[bin]--;
      held.get(thread).push(bin);
      return true;
    }

    boolean giveBack(int thread) {
      if (held.get(thread).isEmpty()) {
        return false;
      }
      free[held.get(thread).pop()]++;
      return true;
    }
  }

  /** One buffer and what is ready of it, all threads on one stripe. */
  @Param(name = "thread", gen = ThreadIdGen.class)
  public static class BufferModel {
    private final Buffer buffer = Buffers.buffer(0, 2);
    private final ChunkIndex ready;
    private final Owners owners = new Owners();

    public BufferModel() {
      this(1);
    }

    BufferModel(int stripes) {
      ready = Buffers.ready(stripes, buffer);
    }

    @Operation
    public boolean take(@Param(name = "thread") int thread) {
      return owners.open(thread, Buffers.claim(ready, buffer));
    }

    @Operation
    public boolean giveBack(@Param(name = "thread") int thread) {
      return owners.close(thread);
    }
  }

  /** One buffer and what is ready of it, threads on stripes of their own, so that they steal. */
  @Param(name = "thread", gen = ThreadIdGen.class)
  public static class StripedBufferModel extends BufferModel {
    public StripedBufferModel() {
      super(2);
    }
  }

  /** What {@link BufferModel} means: none is given only when all are out. */
  public static class BufferMeaning {
    private final Counts counts = new Counts(2);

    public boolean take(int thread) {
      return counts.take(thread, 0);
    }

    public boolean giveBack(int thread) {
      return counts.giveBack(thread);
    }
  }

  /** A table of two bins that do not borrow. */
  @Param(name = "thread", gen = ThreadIdGen.class)
  @Param(name = "bin", gen = IntGen.class, conf = "0:1")
  public static class BinModel {
    private final BinTable table = Buffers.table(false, 1, 2);
    private final Owners owners = new Owners();

    @Operation
    public boolean take(@Param(name = "thread") int thread, @Param(name = "bin") int bin) {
      PooledBlock block = Buffers.claim(table, Buffers.bytesOf(bin));
      if (block != null && block.bin() != bin) {
        throw new IllegalStateException("a block of bin " + block.bin() + " for bin " + bin);
      }
      return owners.open(thread, block);
    }

    @Operation
    public boolean giveBack(@Param(name = "thread") int thread) {
      return owners.close(thread);
    }
  }

  /** What {@link BinModel} means. */
  public static class BinMeaning {
    private final Counts counts = new Counts(1, 2);

    public boolean take(int thread, int bin) {
      return counts.take(thread, bin);
    }

    public boolean giveBack(int thread) {
      return counts.giveBack(thread);
    }
  }

  /**
   * Two bins, the smaller of which borrows. A request that looks into one bin after the other sees
   * them at different moments, so when it goes away empty-handed is not a matter of one moment, and
   * results are not looked at. What must hold: one owner per block, and in the end all are there.
   */
  @Param(name = "thread", gen = ThreadIdGen.class)
  @Param(name = "bin", gen = IntGen.class, conf = "0:1")
  public static class BorrowingModel {
    private static final int BLOCKS = 2;

    private final BinTable table = Buffers.table(true, 1, 1);
    private final Owners owners = new Owners();
    private volatile String wrong;

    @Operation
    public void take(@Param(name = "thread") int thread, @Param(name = "bin") int bin) {
      PooledBlock block = Buffers.claim(table, Buffers.bytesOf(bin));
      if (block != null && block.bin() < bin) {
        wrong = "a block of bin " + block.bin() + " for bin " + bin;
      }
      try {
        owners.open(thread, block);
      } catch (IllegalStateException twoOwners) {
        wrong = twoOwners.getMessage();
      }
    }

    @Operation
    public void giveBack(@Param(name = "thread") int thread) {
      owners.close(thread);
    }

    @Validate
    public void look() {
      int left = 0;
      while (Buffers.claim(table, Buffers.bytesOf(0)) != null) {
        left++;
      }
      if (wrong != null || left + owners.held() != BLOCKS) {
        throw new IllegalStateException(wrong + ", held " + owners.held() + ", left " + left);
      }
    }
  }

  /**
   * A stack of numbers. Each thread has one from the start and pushes the oldest that it has: so it
   * can change what lies under the top, and leave count and top as they were.
   */
  @Param(name = "thread", gen = ThreadIdGen.class)
  public static class StackModel {
    private final IndexStack stack = new IndexStack(MOST_THREADS + 2);
    private final List<Deque<Integer>> held = new ArrayList<>();

    public StackModel() {
      for (int i = 0; i < MOST_THREADS; i++) {
        held.add(new ArrayDeque<>(List.of(stack.pop())));
      }
    }

    @Operation
    public int pop(@Param(name = "thread") int thread) {
      int index = stack.pop();
      if (index >= 0) {
        held.get(thread).push(index);
      }
      return index;
    }

    @Operation
    public int push(@Param(name = "thread") int thread) {
      return held.get(thread).isEmpty() ? -1 : stack.push(held.get(thread).removeLast());
    }
  }

  /** What {@link StackModel} means: last in, first out. */
  public static class StackMeaning {
    private final Deque<Integer> stack = new ArrayDeque<>(List.of(MOST_THREADS, MOST_THREADS + 1));
    private final List<Deque<Integer>> held = new ArrayList<>();

    public StackMeaning() {
      for (int i = 0; i < MOST_THREADS; i++) {
        held.add(new ArrayDeque<>(List.of(i)));
      }
    }

    public int pop(int thread) {
      if (stack.isEmpty()) {
        return -1;
      }
      held.get(thread).push(stack.peek());
      return stack.pop();
    }

    public int push(int thread) {
      if (held.get(thread).isEmpty()) {
        return -1;
      }
      stack.push(held.get(thread).removeLast());
      return stack.size();
    }
  }
}
