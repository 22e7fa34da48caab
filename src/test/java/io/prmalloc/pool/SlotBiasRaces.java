package io.prmalloc.pool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;

import java.util.function.Consumer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * What may come of it when the thread that holds a stripe takes a slot that it closed, or closes
 * it, and others shut the slab, retire it or want the slot; what is not listed is a bug. Run by
 * {@link JcstressTest}. Where there is no process-wide barrier nobody holds anything, and the
 * outcomes are the same.
 */
public final class SlotBiasRaces {

  private SlotBiasRaces() {}

  /** A slab of one slot, its front open. */
  private static final class Single implements StripeBias.Owner {
    private final StripeBias bias = new StripeBias(new Stripes(1), true, this);
    private final Slab slab = BlockStackRaces.slab(1, bias);

    @Override
    public void heldBy(StripeHold hold, int stripe) {
      slab.front().heldBy(hold);
    }

    @Override
    public void forEachBlock(int stripe, Consumer<PooledBlock> action) {
      slab.forEachBlock(action);
    }

    int take() {
      PooledBlock block = slab.allocate();
      if (block == null) {
        return 0;
      }
      block.openRaw(1, 0);
      return 1;
    }

    /** The first time the slot comes from the stack, then from the front and has the mark. */
    int takeAndCloseOften() {
      bias.takeOrEndHold(0, 0);
      int closed = 0;
      for (int i = 0; i < 3; i++) {
        if (take() == 1) {
          slab.blocks()[0].closeRaw();
          closed++;
        }
      }
      return closed > 0 ? 1 : 0;
    }

    int takeCloseAndTake() {
      takeAndCloseOften();
      return take();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "on the stack")
  @Outcome(
      id = "0, 1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "one was held up in the middle of a claim; found by the next who looks at all")
  @State
  public static class CloseMarkedVsShut {
    private final Single slots = new Single();

    @Actor
    public void holder() {
      slots.takeAndCloseOften();
    }

    @Actor
    public void other() {
      slots.slab.shutFront();
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = slots.slab.freeBlocks();
      slots.slab.gather();
      result.r2 = slots.slab.freeBlocks();
    }
  }

  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "one of them has it")
  @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "each made way for the other")
  @State
  public static class TakeMarkedVsTake {
    private final Single slots = new Single();

    @Actor
    public void holder(III_Result result) {
      result.r1 = slots.takeCloseAndTake();
    }

    @Actor
    public void other(III_Result result) {
      slots.slab.gather();
      result.r2 = slots.take();
    }

    @Arbiter
    public void look(III_Result result) {
      slots.slab.gather();
      result.r3 = slots.take();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "it was home: nothing goes out any more")
  @Outcome(
      id = {"0, 1, 0", "0, 0, 1"},
      expect = ACCEPTABLE,
      desc = "it was out, so the slab stays open as it was")
  @State
  public static class TakeMarkedVsRetire {
    private final Single slots = new Single();

    @Actor
    public void retire(III_Result result) {
      result.r1 = slots.slab.retire() ? 1 : 0;
    }

    @Actor
    public void holder(III_Result result) {
      result.r2 = slots.takeCloseAndTake();
    }

    @Arbiter
    public void look(III_Result result) {
      slots.slab.gather();
      result.r3 = slots.take();
    }
  }
}
