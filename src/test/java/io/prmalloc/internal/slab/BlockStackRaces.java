package io.prmalloc.internal.slab;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.PoolObserver;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.pool.race.JcstressTest;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The results that are allowed when slots are taken and freed while the front of their slab is shut
 * or the slab retires; any other result is a bug. Run by {@link JcstressTest}.
 *
 * <p>A result is the number of the slot that a thread got, counted from 1; 0 is none.
 */
public final class BlockStackRaces {

  private static final int SLOTS = 2;
  private static final int SLOT_BYTES = 64;

  private BlockStackRaces() {}

  // It knows nothing of any slab, and so does nothing when it hears of one.
  private static final SlabClass OWNER =
      new SlabClass(
          SizeClasses.classOf(SLOT_BYTES, 64),
          new SlabFronts(new Stripes(1)),
          Buffers.source(),
          BlockIsolation.NONE,
          new AddressDirectory(),
          new ReservationGate(),
          () -> {});

  /** A slab whose front is open. */
  static Slab slab(int slots) {
    MemoryRegion region = Buffers.source().alloc(64, (long) slots * SLOT_BYTES);
    Slab slab = new Slab(OWNER, region, SLOT_BYTES, slots, BlockIsolation.NONE, new Stripes(1));
    slab.openFront();
    return slab;
  }

  /** A slab whose front is open, all of its slots taken. */
  private static final class Slots {
    private static final PoolObserver[] OBSERVERS = {
      new PoolObserver() {
        @Override
        public long allocated(long bytes, long alignment) {
          return 0;
        }

        @Override
        public void released(long ticket) {}

        @Override
        public long stepOpened() {
          return 0;
        }

        @Override
        public void stepClosed(long ticket) {}

        @Override
        public void stillInUse() {}

        @Override
        public void poolClosed() {}
      }
    };

    private final Slab slab = slab(SLOTS);

    Slots() {
      for (int slot = 0; slot < SLOTS; slot++) {
        slab.allocate().openRaw(1, 0);
      }
    }

    int take() {
      PooledBlock block = slab.allocate();
      if (block == null) {
        return 0;
      }
      block.openRaw(1, 0);
      return block.offset() / SLOT_BYTES + 1;
    }

    void close(int slot) {
      if (!slab.blocks()[slot - 1].closeRaw()) {
        throw new IllegalStateException("slot " + slot + " is not out");
      }
    }

    /** Takes what was closed again, such that its close has something to tell. */
    void observe() {
      slab.allocate().takenBefore(OBSERVERS, 1, 64).openRaw(1, 0);
    }
  }

  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "on the stack")
  @State
  public static class CloseVsShut {
    private final Slots slots = new Slots();

    @Actor
    public void close() {
      slots.close(1);
    }

    @Actor
    public void shut() {
      slots.slab.shutFront();
    }

    @Arbiter
    public void look(I_Result result) {
      result.r1 = slots.slab.freeBlocks();
    }
  }

  /** The close that has something to tell is freed by a store of its own. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "on the stack")
  @State
  public static class ObservedCloseVsShut {
    private final Slots slots = new Slots();

    public ObservedCloseVsShut() {
      slots.close(1);
      slots.observe();
    }

    @Actor
    public void close() {
      slots.close(1);
    }

    @Actor
    public void shut() {
      slots.slab.shutFront();
    }

    @Arbiter
    public void look(I_Result result) {
      result.r1 = slots.slab.freeBlocks();
    }
  }

  /** What is on the stack is on its way to the front when that is shut. */
  @JCStressTest
  @Outcome(
      id = {"1, 1", "2, 1"},
      expect = ACCEPTABLE,
      desc = "one of two is taken, the other is on the stack")
  @Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "on its way back to the stack")
  @State
  public static class TakeServedVsShut {
    private final Slots slots = new Slots();

    public TakeServedVsShut() {
      slots.close(1);
      slots.close(2);
      slots.slab.gather();
    }

    @Actor
    public void take(II_Result result) {
      PooledBlock block = slots.slab.allocateServed();
      result.r1 = block == null ? 0 : block.number() + 1;
    }

    @Actor
    public void shut() {
      slots.slab.shutFront();
    }

    @Arbiter
    public void look(II_Result result) {
      result.r2 = slots.slab.freeBlocks();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "closed, and nothing goes out any more")
  @Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "one was out, so it stays open, and has both")
  @State
  public static class CloseVsRetire {
    private final Slots slots = new Slots();

    public CloseVsRetire() {
      slots.close(1);
    }

    @Actor
    public void close() {
      slots.close(2);
    }

    @Actor
    public void retire(II_Result result) {
      result.r1 = slots.slab.retire() ? 1 : 0;
    }

    @Arbiter
    public void look(II_Result result) {
      while (slots.take() != 0) {
        result.r2++;
      }
    }
  }

  @JCStressTest
  @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "taken, in front or from the stack")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "on its way to the stack")
  @State
  public static class TakeVsShut {
    private final Slots slots = new Slots();

    public TakeVsShut() {
      slots.close(2);
    }

    @Actor
    public void take(II_Result result) {
      result.r1 = slots.take();
    }

    @Actor
    public void shut() {
      slots.slab.shutFront();
    }

    @Arbiter
    public void look(II_Result result) {
      result.r2 = slots.slab.freeBlocks();
    }
  }

  @JCStressTest
  @Outcome(
      id = {"1, 2, 0", "2, 1, 0"},
      expect = ACCEPTABLE,
      desc = "two for two")
  @Outcome(
      id = {"1, 0, 1", "0, 1, 1", "2, 0, 1", "0, 2, 1"},
      expect = ACCEPTABLE,
      desc = "one missed what the other's late word had hidden; it is there")
  @State
  public static class TakeVsTake {
    private final Slots slots = new Slots();

    public TakeVsTake() {
      slots.close(1);
      slots.close(2);
    }

    @Actor
    public void one(III_Result result) {
      result.r1 = slots.take();
    }

    @Actor
    public void other(III_Result result) {
      result.r2 = slots.take();
    }

    @Arbiter
    public void look(III_Result result) {
      slots.slab.shutFront();
      result.r3 = slots.slab.freeBlocks();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "what was closed first, the other is there")
  @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "what was just closed, the other is there")
  @Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "the close hid the other's bit; both are there")
  @State
  public static class TakeVsClose {
    private final Slots slots = new Slots();

    public TakeVsClose() {
      slots.close(1);
    }

    @Actor
    public void take(II_Result result) {
      result.r1 = slots.take();
    }

    @Actor
    public void close() {
      slots.close(2);
    }

    @Arbiter
    public void look(II_Result result) {
      slots.slab.shutFront();
      result.r2 = slots.slab.freeBlocks();
    }
  }
}
