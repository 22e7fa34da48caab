package io.prmalloc.internal.freelist;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.prmalloc.internal.arena.Buffer;
import io.prmalloc.internal.block.PoolObserver;
import io.prmalloc.pool.race.JcstressTest;
import java.util.concurrent.ThreadLocalRandom;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The results that are allowed when threads take from a buffer, free and retire; any other result
 * is a bug. Run by {@link JcstressTest}.
 *
 * <p>A result is the number of the block that a thread got, 0 for none. The last one is how many
 * blocks can be taken in the end. With those that threads hold these must be all, for no block may
 * be lost, whatever the hints say.
 */
public final class BufferRaces {

  private BufferRaces() {}

  private static final int ONE_STRIPE = 1;
  private static final int MANY_STRIPES = 8;

  /** With one stripe all threads write to one word, with many they steal from each other. */
  private static int anyStripes() {
    return ThreadLocalRandom.current().nextBoolean() ? ONE_STRIPE : MANY_STRIPES;
  }

  /** A buffer, some of whose blocks are out. */
  private static final class Blocks {
    private final Buffer buffer;
    private final ChunkIndex ready;

    Blocks(int stripes, int count, int out) {
      buffer = Buffers.buffer(0, count);
      ready = Buffers.ready(stripes, buffer);
      for (int number = 1; number <= out; number++) {
        PooledBlock block = ready.take(Buffers.bytesOf(0));
        block.open(1);
      }
    }

    /** Takes as an allocation does: of a raw address, or of a handle. */
    int take() {
      if (ThreadLocalRandom.current().nextBoolean()) {
        PooledBlock found = ready.removeFirst(Buffers.bytesOf(0));
        if (found != null && found.claimAndBegin(1) != 0) {
          return found.number() + 1;
        }
      }
      PooledBlock block = Buffers.claim(ready, buffer);
      if (block == null) {
        return 0;
      }
      block.open(1);
      return block.number() + 1;
    }

    void close(int number) {
      if (!buffer.blocks().get(number - 1).closeRaw()) {
        throw new IllegalStateException("block " + number + " is not out");
      }
    }

    void discard() {
      buffer.discardFree(block -> 1);
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
  @State
  public static class TakeVsTake {
    private final Blocks blocks = new Blocks(anyStripes(), 1, 0);

    @Actor
    public void one(III_Result result) {
      result.r1 = blocks.take();
    }

    @Actor
    public void other(III_Result result) {
      result.r2 = blocks.take();
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = blocks.drain();
    }
  }

  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "took too early")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "took what was freed")
  @State
  public static class TakeVsClose {
    private final Blocks blocks = new Blocks(anyStripes(), 1, 1);

    @Actor
    public void take(II_Result result) {
      result.r1 = blocks.take();
    }

    @Actor
    public void close() {
      blocks.close(1);
    }

    @Arbiter
    public void look(II_Result result) {
      result.r2 = blocks.drain();
    }
  }

  /** As many free blocks as takers at every moment: nobody may go away empty-handed. */
  @JCStressTest
  @Outcome(
      id = {"1, 2, 0", "2, 1, 0"},
      expect = ACCEPTABLE,
      desc = "a block each")
  @State
  public static class TakeVsCloseAndTake {
    private final Blocks blocks = new Blocks(anyStripes(), 2, 1);

    @Actor
    public void take(III_Result result) {
      result.r1 = blocks.take();
    }

    @Actor
    public void closeAndTake(III_Result result) {
      blocks.close(1);
      result.r2 = blocks.take();
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = blocks.drain();
    }
  }

  /**
   * One is allocated, one free, and they change places: there is a free one at every moment.
   * Whoever asks all of them may meet each while it is out, and must not conclude that both are.
   */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "got what was freed; the other is out")
  @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "got what was free; the other is left")
  @State
  public static class AskVsSwap {
    private final Blocks blocks = new Blocks(ONE_STRIPE, 2, 1);

    @Actor
    public void ask(II_Result result) {
      PooledBlock block = blocks.buffer.claimAny();
      result.r1 = block == null ? 0 : block.number() + 1;
    }

    @Actor
    public void swap() {
      PooledBlock first = blocks.buffer.blocks().get(0);
      PooledBlock second = blocks.buffer.blocks().get(1);
      first.closeRaw();
      if (second.claim()) {
        second.open(1);
      }
    }

    @Arbiter
    public void look(II_Result result) {
      result.r2 = blocks.drain();
    }
  }

  /** One bit may be lost to the other; the block is found all the same. */
  @JCStressTest
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "both can be had")
  @State
  public static class CloseVsCloseOnOneStripe {
    private final Blocks blocks = new Blocks(ONE_STRIPE, 2, 2);

    @Actor
    public void one() {
      blocks.close(1);
    }

    @Actor
    public void other() {
      blocks.close(2);
    }

    @Arbiter
    public void look(I_Result result) {
      result.r1 = blocks.drain();
    }
  }

  @JCStressTest
  @Outcome(
      id = {"1, 1", "2, 1"},
      expect = ACCEPTABLE,
      desc = "took one, the other can be had")
  @State
  public static class CloseVsCloseAndTake {
    private final Blocks blocks = new Blocks(ONE_STRIPE, 2, 2);

    @Actor
    public void close() {
      blocks.close(1);
    }

    @Actor
    public void closeAndTake(II_Result result) {
      blocks.close(2);
      result.r1 = blocks.take();
    }

    @Arbiter
    public void look(II_Result result) {
      result.r2 = blocks.drain();
    }
  }

  /** Closes and takes cross: bits are lost, and come back of blocks that are allocated. */
  @JCStressTest
  @Outcome(
      id = {"1, 2, 1", "1, 3, 1", "2, 1, 1", "2, 3, 1", "3, 1, 1", "3, 2, 1"},
      expect = ACCEPTABLE,
      desc = "one block each, and the third is there")
  @State
  public static class PairVsPair {
    private final Blocks blocks = new Blocks(anyStripes(), 3, 2);

    @Actor
    public void one(III_Result result) {
      blocks.close(1);
      result.r1 = blocks.take();
    }

    @Actor
    public void other(III_Result result) {
      blocks.close(2);
      result.r2 = blocks.take();
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = blocks.drain();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "closed: nothing goes out any more")
  @Outcome(
      id = {"0, 1, 1", "0, 2, 1"},
      expect = ACCEPTABLE,
      desc = "one is out, so it stays open as it was")
  @State
  public static class RetireVsTake {
    private final Blocks blocks = new Blocks(anyStripes(), 2, 0);

    @Actor
    public void retire(III_Result result) {
      result.r1 = blocks.buffer.retire() ? 1 : 0;
    }

    @Actor
    public void take(III_Result result) {
      result.r2 = blocks.take();
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = blocks.drain();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the last one was freed in time")
  @Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "one was out, so it stays open as it was")
  @State
  public static class RetireVsClose {
    private final Blocks blocks = new Blocks(anyStripes(), 2, 1);

    @Actor
    public void retire(II_Result result) {
      result.r1 = blocks.buffer.retire() ? 1 : 0;
    }

    @Actor
    public void close() {
      blocks.close(1);
    }

    @Arbiter
    public void look(II_Result result) {
      result.r2 = blocks.drain();
    }
  }

  @JCStressTest
  @Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "came while it was closed")
  @Outcome(
      id = {"1, 1", "2, 1"},
      expect = ACCEPTABLE,
      desc = "took one, the other can be had")
  @State
  public static class ReopenVsTake {
    private final Blocks blocks = new Blocks(anyStripes(), 2, 0);

    @Actor
    public void retireAndReopen() {
      if (blocks.buffer.retire()) {
        blocks.buffer.reopen();
      }
    }

    @Actor
    public void take(II_Result result) {
      result.r1 = blocks.take();
    }

    @Arbiter
    public void look(II_Result result) {
      result.r2 = blocks.drain();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "taken before or after its pages went")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "not to be had while its pages went")
  @State
  public static class TakeVsDiscard {
    private final Blocks blocks = new Blocks(anyStripes(), 1, 0);

    @Actor
    public void take(II_Result result) {
      result.r1 = blocks.take();
    }

    @Actor
    public void discard() {
      blocks.discard();
    }

    @Arbiter
    public void drain(II_Result result) {
      result.r2 = blocks.drain();
    }
  }

  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "it can be had, whoever came first")
  @State
  public static class CloseVsDiscard {
    private final Blocks blocks = new Blocks(anyStripes(), 1, 1);

    @Actor
    public void close() {
      blocks.close(1);
    }

    @Actor
    public void discard() {
      blocks.discard();
    }

    @Arbiter
    public void drain(I_Result result) {
      result.r1 = blocks.drain();
    }
  }

  /** Has many stores under way when a block is freed. */
  private static final class Writer implements PoolObserver {
    private static final int STORES = 48;
    private final byte[] memory = new byte[1 << 20];
    private int next;

    @Override
    public long allocated(long bytes, long alignment) {
      return 0;
    }

    @Override
    public void released(long ticket) {
      for (int i = 0; i < STORES; i++) {
        next = next * 1_664_525 + 1_013_904_223;
        memory[next >>> 12 & memory.length - 1] = 1;
      }
    }
  }

  /** What is observed is freed; another begins to watch what is freed. */
  @JCStressTest
  @Outcome(
      id = {"1, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "it is told")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "it was free before that began")
  @State
  public static class CloseObservedVsTell {
    private static final PoolObserver[] OBSERVERS = {new Writer()};

    private final Buffer buffer = Buffers.buffer(0, 1);
    private final ChunkIndex ready = Buffers.ready(MANY_STRIPES, buffer);
    private final PooledBlock block = Buffers.claim(ready, buffer);
    private volatile int told;

    public CloseObservedVsTell() {
      block.takenBefore(OBSERVERS, 1, 64).openRaw(1, 0);
    }

    @Actor
    public void closer() {
      block.closeRaw();
    }

    @Actor
    public void watcher(II_Result result) {
      ready.tell(freed -> told = 1);
      result.r2 = block.isFree() ? 1 : 0;
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = told;
    }
  }
}
