package io.prmalloc.internal.freelist;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.prmalloc.Allocation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.arena.Buffer;
import io.prmalloc.internal.block.Block;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.race.JcstressTest;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * The results that are allowed when threads claim, open and close one block; any other result is a
 * bug. Run by {@link JcstressTest}.
 */
public final class BlockRaces {

  private BlockRaces() {}

  private static PooledBlock readyBlock() {
    Buffer buffer = Buffers.buffer(0, 1);
    Buffers.ready(8, buffer);
    return buffer.blocks().get(0);
  }

  private static int close(Allocation handle) {
    try {
      handle.close();
      return 1;
    } catch (IllegalStateException closedBefore) {
      return 0;
    }
  }

  private static int number(boolean flag) {
    return flag ? 1 : 0;
  }

  @JCStressTest
  @Outcome(
      id = {"true, false", "false, true"},
      expect = ACCEPTABLE,
      desc = "one of them has it")
  @State
  public static class ClaimVsClaim {
    private final PooledBlock block = readyBlock();

    @Actor
    public void one(ZZ_Result result) {
      result.r1 = block.claim();
    }

    @Actor
    public void other(ZZ_Result result) {
      result.r2 = block.claim();
    }
  }

  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "one of them has it")
  @State
  public static class ClaimAndBeginVsClaim {
    private final PooledBlock block = readyBlock();

    @Actor
    public void begin(II_Result result) {
      result.r1 = number(block.claimAndBegin(10) != 0);
    }

    @Actor
    public void claim(II_Result result) {
      result.r2 = number(block.claim());
    }
  }

  /** Of a use like the one before nothing is written but the state. */
  @JCStressTest
  @Outcome(
      id = {"10, 0", "0, 20"},
      expect = ACCEPTABLE,
      desc = "one of them has it, of its own size")
  @Outcome(id = "10, 20", expect = ACCEPTABLE, desc = "the other one's use is over before")
  @State
  public static class ReopenVsUse {
    private final PooledBlock block = readyBlock();

    public ReopenVsUse() {
      block.open(10).close();
    }

    @Actor
    public void reopen(II_Result result) {
      long stamp = block.claimAndBegin(10);
      result.r1 = stamp == 0 ? 0 : block.handle(10).byteBuffer().limit();
    }

    @Actor
    public void use(II_Result result) {
      if (block.claim()) {
        Allocation handle = block.open(20);
        result.r2 = handle.byteBuffer().limit();
        handle.close();
      }
    }
  }

  @JCStressTest
  @Outcome(
      id = {"0", "1"},
      expect = ACCEPTABLE,
      desc = "it has memory whenever somebody gets it")
  @State
  public static class BeginVsMove {
    private final PooledBlock block = readyBlock();

    public BeginVsMove() {
      block.open(10).close();
    }

    @Actor
    public void begin(I_Result result) {
      result.r1 = number(block.claimAndBegin(10) != 0 && block.hasMemory());
    }

    @Actor
    public void move() {
      if (block.claim()) {
        MemoryRegion region = block.region();
        block.moveInto(null);
        block.moveInto(region);
        block.giveUp();
      }
    }
  }

  @JCStressTest
  @Outcome(
      id = {"1, 0, 1", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "one wins, the other is told, and the use is over once")
  @State
  public static class CloseVsClose {
    private final PooledBlock block = readyBlock();
    private final Allocation handle = block.open(10);

    @Actor
    public void one(III_Result result) {
      result.r1 = close(handle);
    }

    @Actor
    public void other(III_Result result) {
      result.r2 = close(handle);
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = number(Block.isFree(block.stamp()) && block.uses() == 1);
    }
  }

  @JCStressTest
  @Outcome(
      id = {"1, 0, 1, 1", "0, 1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "one close wins; the other leaves the next use alone")
  @State
  public static class CloseAndReuseVsClose {
    private final PooledBlock block = readyBlock();
    private final Allocation handle = block.open(10);

    @Actor
    public void closeAndReuse(IIII_Result result) {
      result.r1 = BlockRaces.close(handle);
      if (block.claim()) {
        block.open(20);
        result.r3 = 1;
      }
    }

    @Actor
    public void close(IIII_Result result) {
      result.r2 = BlockRaces.close(handle);
    }

    @Arbiter
    public void look(IIII_Result result) {
      result.r4 = number(block.isLive() && block.uses() == 2);
    }
  }

  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "the reader does not know yet that the use is over")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "over, and the old handle says so")
  @State
  public static class StaleHandleVsReuse {
    private final PooledBlock block = readyBlock();
    private final Allocation old = block.open(10);
    private volatile int ended;

    @Actor
    public void closeAndReuse() {
      old.close();
      ended = 1;
      if (block.claim()) {
        block.open(20);
      }
    }

    @Actor
    public void look(II_Result result) {
      result.r1 = ended;
      try {
        old.byteBuffer();
        result.r2 = 1;
      } catch (IllegalStateException closedBefore) {
        result.r2 = 0;
      }
    }
  }

  /** The protocol of {@link TensorPoolAllocator#deallocateRaw}: stamp, look, compare-and-set. */
  @JCStressTest
  @Outcome(id = "1, 10, 64, 0", expect = ACCEPTABLE, desc = "ended the first use, and saw it")
  @Outcome(id = "2, 20, 128, 1", expect = ACCEPTABLE, desc = "ended the second use, and saw it")
  @Outcome(id = "0, 0, 0, 1", expect = ACCEPTABLE, desc = "nothing out, or the stamp was stale")
  @State
  public static class FreeVsReuse {
    private final PooledBlock block = readyBlock();
    private final long first;

    public FreeVsReuse() {
      block.openRaw(10, 64);
      first = block.stamp();
    }

    @Actor
    public void freeAndReuse(IIII_Result result) {
      result.r4 = number(block.closeRaw(first));
      if (block.claim()) {
        block.openRaw(20, 128);
      }
    }

    @Actor
    public void free(IIII_Result result) {
      long stamp = block.stamp();
      int header = block.headerBytes();
      int bytes = block.sizeBytes();
      if (block.closeRaw(stamp)) {
        result.r1 = (int) Block.useOf(stamp);
        result.r2 = bytes;
        result.r3 = header;
      }
    }
  }

  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not open yet")
  @Outcome(id = "10, 64", expect = ACCEPTABLE, desc = "open, with its fields")
  @State
  public static class OpenPublishesItsFields {
    private final PooledBlock block = readyBlock();

    @Actor
    public void open() {
      block.claim();
      block.openRaw(10, 64);
    }

    @Actor
    public void look(II_Result result) {
      if (Block.isAllocated(block.stamp())) {
        result.r1 = block.sizeBytes();
        result.r2 = block.headerBytes();
      }
    }
  }

  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "nothing out, or the use changed meanwhile")
  @Outcome(id = "10", expect = ACCEPTABLE, desc = "the first use")
  @Outcome(id = "20", expect = ACCEPTABLE, desc = "the second use")
  @State
  public static class BytesInUseVsReuse {
    private final PooledBlock block = readyBlock();
    private final Allocation handle = block.open(10);

    @Actor
    public void reuse() {
      handle.close();
      block.claim();
      block.open(20);
    }

    @Actor
    public void look(I_Result result) {
      result.r1 = (int) block.bytesInUse();
    }
  }

  /** What the last owner wrote anywhere, the next one sees. */
  @JCStressTest
  @Outcome(id = "-1, 0", expect = ACCEPTABLE, desc = "not free yet")
  @Outcome(id = "7, 1", expect = ACCEPTABLE, desc = "claimed, with what was written before")
  @State
  public static class CloseHandsOver {
    private final PooledBlock block = readyBlock();
    private final Allocation handle = block.open(10);
    private int written;

    @Actor
    public void close() {
      written = 7;
      handle.close();
    }

    @Actor
    public void next(II_Result result) {
      boolean claimed = block.claim();
      result.r1 = claimed ? written : -1;
      result.r2 = number(claimed);
    }
  }

  @JCStressTest
  @Outcome(id = "-1, 0", expect = ACCEPTABLE, desc = "not given up yet")
  @Outcome(id = "7, 1", expect = ACCEPTABLE, desc = "claimed, with what was written before")
  @State
  public static class GiveUpHandsOver {
    private final PooledBlock block = readyBlock();
    private int written;

    public GiveUpHandsOver() {
      block.claim();
    }

    @Actor
    public void giveUp() {
      written = 7;
      block.giveUp();
    }

    @Actor
    public void next(II_Result result) {
      boolean claimed = block.claim();
      result.r1 = claimed ? written : -1;
      result.r2 = number(claimed);
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "taken away: it never goes out again")
  @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "closed in time: it is free")
  @State
  public static class RevokeVsClose {
    private final PooledBlock block = readyBlock();
    private final Allocation handle = block.open(10);

    @Actor
    public void revoke(III_Result result) {
      result.r1 = number(block.revoke());
    }

    @Actor
    public void close(III_Result result) {
      result.r2 = BlockRaces.close(handle);
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = number(block.claim());
    }
  }
}
