package io.prmalloc.pool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.prmalloc.Block;
import java.util.concurrent.ThreadLocalRandom;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * What may come of it when the thread that holds a stripe claims what it closed, and others want
 * the same; what is not listed is a bug. Run by {@link JcstressTest}. Where there is no
 * process-wide barrier nobody holds anything, and the outcomes are the same.
 *
 * <p>A result is how many blocks somebody got; the last one is how many can be had in the end.
 */
public final class BiasRaces {

  private BiasRaces() {}

  /** One block. */
  private static final class Single {
    final Buffer buffer = Buffers.buffer(0, 1);
    final ReadyChunks ready = Buffers.ready(8, buffer);
    final PooledBlock block = buffer.blocks().get(0);

    /**
     * Has the block come home with the caller's mark, and claims it without an atomic one, as a raw
     * address does or as a handle does, which begins its use by the same: of what is ready, or of
     * the block that it had.
     */
    int takeCloseAndTake() {
      ready.takeHold();
      PooledBlock first = ready.take(Buffers.bytesOf(0));
      if (first == null) {
        first = block.claimFromAny() ? block : null;
      }
      if (first == null) {
        return 0;
      }
      first.open(1);
      first.closeRaw();
      return takeBy(ThreadLocalRandom.current().nextInt(3), Buffers.bytesOf(0)) ? 1 : 0;
    }

    private boolean takeBy(int way, long bytes) {
      if (way == 0) {
        return ready.take(bytes) != null;
      }
      boolean again = way == 1 && block.isHeldByCaller() && block.reopen(1) != 0;
      return again || ready.front(bytes).open(ready.find(bytes), 1) != 0;
    }

    /** The first time it may have another stripe's home; then it has the caller's mark. */
    void bringHomeOften() {
      ready.takeHold();
      for (int i = 0; i < 3; i++) {
        PooledBlock taken = ready.take(Buffers.bytesOf(0));
        if (taken != null || block.claimFromAny()) {
          block.open(1);
          block.closeRaw();
        }
      }
    }

    /**
     * Has the block home with the caller's mark, which lasts, and begins a use of it.
     *
     * @return whether so
     */
    boolean openLasting() {
      ready.takeHold();
      ReadyWord word = ready.front(Buffers.bytesOf(0));
      return word.isHeldByCaller()
          && block.mark(Block.markOfCaller(), true, word)
          && word.open(block, 1) != 0;
    }

    int claim() {
      return block.claimFromAny() ? 1 : 0;
    }

    int drain() {
      return Buffers.drain(ready, buffer);
    }
  }

  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "one of them has it")
  @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "each made way for the other")
  @State
  public static class TakeMarkedVsClaim {
    private final Single blocks = new Single();

    @Actor
    public void holder(III_Result result) {
      result.r1 = blocks.takeCloseAndTake();
    }

    @Actor
    public void other(III_Result result) {
      result.r2 = blocks.claim();
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = blocks.drain();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "it was home: nothing goes out any more")
  @Outcome(
      id = {"0, 1, 0", "0, 0, 1"},
      expect = ACCEPTABLE,
      desc = "it was out, so it stays open as it was")
  @State
  public static class TakeMarkedVsRetire {
    private final Single blocks = new Single();

    @Actor
    public void retire(III_Result result) {
      result.r1 = blocks.buffer.retire() ? 1 : 0;
    }

    @Actor
    public void holder(III_Result result) {
      result.r2 = blocks.takeCloseAndTake();
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = blocks.drain();
    }
  }

  /**
   * A use that began with a mark that lasts is closed by another thread, which then wants the block
   * as does the one that began it. A result is how many have it in the end, and how many can be
   * had.
   */
  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "one has it, or it can be had")
  @State
  public static class CloseLastingVsTake {
    private final Single blocks = new Single();
    private int begun;
    private int again;
    private int closed;
    private int claimed;

    @Actor
    public void holder() {
      if (blocks.openLasting()) {
        begun = 1;
        again = blocks.block.claimFromAny() ? 1 : 0;
      }
    }

    @Actor
    public void consumer() {
      closed = blocks.block.closeRaw() ? 1 : 0;
      claimed = blocks.claim();
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = begun + again + claimed - closed;
      result.r2 = blocks.drain();
    }
  }

  /** The holder brings home what it took with its mark; another begins to watch what comes home. */
  @JCStressTest
  @Outcome(
      id = {"1, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "it is told")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "it was home before that began")
  @State
  public static class CloseMarkedVsTell {
    private final Single blocks = new Single();
    private volatile int told;

    @Actor
    public void holder() {
      blocks.bringHomeOften();
    }

    @Actor
    public void watcher(II_Result result) {
      blocks.ready.tell(block -> told = 1);
      result.r2 = blocks.block.isAtHome() ? 1 : 0;
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = told;
    }
  }
}
