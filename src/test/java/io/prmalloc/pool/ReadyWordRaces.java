package io.prmalloc.pool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * What may come of it when one thread notes blocks in its word and another takes some away; what is
 * not listed is a bug. Run by {@link JcstressTest}.
 */
public final class ReadyWordRaces {

  private ReadyWordRaces() {}

  private static final PooledBlock[] BLOCKS =
      Buffers.buffer(0, Long.SIZE).blocks().toArray(PooledBlock[]::new);

  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "what is noted meanwhile is not lost")
  @State
  public static class NoteVsMove {
    private final ReadyWord word = ReadyWord.of(BLOCKS, 0);
    private final ReadyWord thiefs = ReadyWord.of(BLOCKS, 0);

    public NoteVsMove() {
      word.note(0);
    }

    @Actor
    public void owner() {
      word.note(1);
    }

    @Actor
    public void thief() {
      thiefs.noteAll(1);
      word.removeAll(1);
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = (int) (word.bits() >> 1 & 1);
      result.r2 = (int) (thiefs.bits() & 1);
    }
  }

  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "each has its own")
  @State
  public static class NoteVsRemove {
    private final ReadyWord word = ReadyWord.of(BLOCKS, 0);

    public NoteVsRemove() {
      word.note(0);
    }

    @Actor
    public void owner() {
      word.note(1);
    }

    @Actor
    public void thief(II_Result result) {
      result.r2 = word.removeAtomically(1) == BLOCKS[0] ? 0 : 1;
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = (int) (word.bits() >> 1 & 1);
    }
  }
}
