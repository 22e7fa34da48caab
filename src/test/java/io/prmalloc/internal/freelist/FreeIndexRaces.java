package io.prmalloc.internal.freelist;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.prmalloc.internal.arena.Buffer;
import io.prmalloc.pool.race.JcstressTest;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The results that are allowed when threads of other stripes note, take and move blocks of one
 * stripe; any other result is a bug. Run by {@link JcstressTest}.
 */
public final class FreeIndexRaces {

  private static final int STRIPES = 64;

  private FreeIndexRaces() {}

  /** Two blocks that belong to a stripe far from that of the threads here, noted nowhere. */
  private static final class Remote {
    private final Buffer buffer = Buffers.buffer(0, 2);
    private final ChunkIndex index = Buffers.ready(STRIPES, buffer);
    private final int stripe = (index.stripe() + STRIPES / 2) % STRIPES;
    private final PooledBlock one = index.removeFirst(Buffers.bytesOf(0));
    private final PooledBlock two = index.removeFirst(Buffers.bytesOf(0));

    Remote() {
      one.moveTo(stripe);
      two.moveTo(stripe);
    }

    int noted() {
      return (int) index.noted(stripe, 0, 0, 1);
    }
  }

  @JCStressTest
  @Outcome(id = "3", expect = ACCEPTABLE, desc = "both are noted")
  @State
  public static class NoteVsNote {
    private final Remote remote = new Remote();

    @Actor
    public void one() {
      remote.index.put(remote.one);
    }

    @Actor
    public void two() {
      remote.index.put(remote.two);
    }

    @Arbiter
    public void look(I_Result result) {
      result.r1 = remote.noted();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one is taken, the other is noted")
  @State
  public static class NoteVsTake {
    private final Remote remote = new Remote();

    public NoteVsTake() {
      remote.index.put(remote.two);
    }

    @Actor
    public void note() {
      remote.index.put(remote.one);
    }

    @Actor
    public void take(II_Result result) {
      PooledBlock taken = remote.index.takeFrom(remote.stripe, 0, remote.two.bit());
      result.r2 = taken == remote.two ? 1 : 0;
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = remote.noted();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "one is noted there, the other elsewhere")
  @Outcome(id = "3, 1", expect = ACCEPTABLE, desc = "who moves it is of that stripe")
  @State
  public static class NoteVsMove {
    private final Remote remote = new Remote();

    public NoteVsMove() {
      remote.index.put(remote.two);
    }

    @Actor
    public void note() {
      remote.index.put(remote.one);
    }

    @Actor
    public void move(II_Result result) {
      remote.index.moveFrom(remote.stripe, 0, remote.two.bit());
      result.r2 = remote.two.stripe() == remote.stripe ? 1 : 0;
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = remote.noted();
    }
  }

  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "one of them has it")
  @State
  public static class TakeVsTake {
    private final Remote remote = new Remote();

    public TakeVsTake() {
      remote.index.put(remote.one);
    }

    @Actor
    public void one(II_Result result) {
      result.r1 = remote.index.takeFrom(remote.stripe, 0, 1) == null ? 0 : 1;
    }

    @Actor
    public void other(II_Result result) {
      result.r2 = remote.index.takeFrom(remote.stripe, 0, 1) == null ? 0 : 1;
    }
  }
}
