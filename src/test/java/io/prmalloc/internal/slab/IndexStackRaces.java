package io.prmalloc.internal.slab;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.prmalloc.pool.race.JcstressTest;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The results that are allowed when threads pop, push and retire; any other result is a bug. Run by
 * {@link JcstressTest}.
 */
public final class IndexStackRaces {

  private IndexStackRaces() {}

  /** Pops all that is left: as decimal digits, each number plus one. */
  private static int drain(IndexStack stack) {
    int digits = 0;
    for (int index = stack.pop(); index >= 0; index = stack.pop()) {
      digits = digits * 10 + index + 1;
    }
    return digits;
  }

  @JCStressTest
  @Outcome(
      id = {"0, 1, 3", "1, 0, 3"},
      expect = ACCEPTABLE,
      desc = "two numbers for two, the third stays")
  @State
  public static class PopVsPop {
    private final IndexStack stack = new IndexStack(3);

    @Actor
    public void one(III_Result result) {
      result.r1 = stack.pop();
    }

    @Actor
    public void other(III_Result result) {
      result.r2 = stack.pop();
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = drain(stack);
    }
  }

  /** All that is there, and a number that comes; the taker gets what was on top, in a row. */
  @JCStressTest
  @Outcome(
      id = {"23, 1, 1", "123, 3, 0"},
      expect = ACCEPTABLE,
      desc = "it came after, or before")
  @State
  public static class PopAllVsPush {
    private final IndexStack stack = new IndexStack(3);
    private final int held = stack.pop();

    @Actor
    public void all(III_Result result) {
      stack.popWhile(index -> true, index -> result.r1 = result.r1 * 10 + index + 1);
    }

    @Actor
    public void push(III_Result result) {
      result.r2 = stack.push(held);
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = drain(stack);
    }
  }

  /**
   * The ABA problem: between one pop's look at the top's link and its compare-and-set the other
   * thread takes two, puts something else under, and the first one back on top, so that count and
   * top are as before and the link is not. 0 is held by the other thread; 1 lies on 2.
   */
  @JCStressTest
  @Outcome(id = "1, 2, -1, 1", expect = ACCEPTABLE, desc = "the pop came first")
  @Outcome(id = "2, 1, -1, 1", expect = ACCEPTABLE, desc = "the pop came between the two")
  @Outcome(
      id = {"0, 1, 2, 1", "1, 1, 2, 1"},
      expect = ACCEPTABLE,
      desc = "the pop came after a push")
  @Outcome(id = "-1, 1, 2, 1", expect = ACCEPTABLE, desc = "the pop came while all were taken")
  @State
  public static class PopVsPopPopPushPush {
    private final IndexStack stack = new IndexStack(3);
    private final int under = stack.pop();

    @Actor
    public void pop(IIII_Result result) {
      result.r1 = stack.pop();
    }

    @Actor
    public void popPopPushPush(IIII_Result result) {
      result.r2 = stack.pop();
      result.r3 = stack.pop();
      stack.push(under);
      stack.push(result.r2);
    }

    @Arbiter
    public void look(IIII_Result result) {
      // Each number is held by one, or on the stack once.
      int seen = drain(stack);
      int times = 0;
      for (int digits = seen; digits > 0; digits /= 10) {
        times += TIMES[digits % 10 - 1];
      }
      times += result.r1 >= 0 ? TIMES[result.r1] : 0;
      times += result.r3 >= 0 ? TIMES[result.r3] : 0;
      result.r4 = times == TIMES[0] + TIMES[1] + TIMES[2] ? 1 : -seen;
    }

    /** Adds up without carry: how often each number is seen. */
    private static final int[] TIMES = {1, 100, 10_000};
  }

  @JCStressTest
  @Outcome(
      id = {"1, 2, 21", "2, 1, 12"},
      expect = ACCEPTABLE,
      desc = "both are there, the later one on top")
  @State
  public static class PushVsPush {
    private final IndexStack stack = new IndexStack(2);

    public PushVsPush() {
      stack.pop();
      stack.pop();
    }

    @Actor
    public void one(III_Result result) {
      result.r1 = stack.push(0);
    }

    @Actor
    public void other(III_Result result) {
      result.r2 = stack.push(1);
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = drain(stack);
    }
  }

  /** What the one who pushes wrote, the one who pops sees. */
  @JCStressTest
  @Outcome(id = "-1, 0", expect = ACCEPTABLE, desc = "not there yet")
  @Outcome(id = "0, 7", expect = ACCEPTABLE, desc = "there, with what was written before")
  @State
  public static class PushHandsOver {
    private final IndexStack stack = new IndexStack(1);
    private int written;

    public PushHandsOver() {
      stack.pop();
    }

    @Actor
    public void push() {
      written = 7;
      stack.push(0);
    }

    @Actor
    public void pop(II_Result result) {
      result.r1 = stack.pop();
      result.r2 = result.r1 < 0 ? 0 : written;
    }
  }

  @JCStressTest
  @Outcome(id = "1, -1", expect = ACCEPTABLE, desc = "closed: nothing goes out any more")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "one is out, so it stays open")
  @State
  public static class RetireVsPop {
    private final IndexStack stack = new IndexStack(2);

    @Actor
    public void retire(II_Result result) {
      result.r1 = stack.retire() ? 1 : 0;
    }

    @Actor
    public void pop(II_Result result) {
      result.r2 = stack.pop();
    }
  }

  @JCStressTest
  @Outcome(id = "1, 2, 0", expect = ACCEPTABLE, desc = "the last one was freed in time")
  @Outcome(id = "0, 2, 12", expect = ACCEPTABLE, desc = "one was out, so it stays open")
  @State
  public static class RetireVsPush {
    private final IndexStack stack = new IndexStack(2);

    public RetireVsPush() {
      stack.pop();
    }

    @Actor
    public void retire(III_Result result) {
      result.r1 = stack.retire() ? 1 : 0;
    }

    @Actor
    public void push(III_Result result) {
      result.r2 = stack.push(0);
    }

    @Arbiter
    public void look(III_Result result) {
      result.r3 = drain(stack);
    }
  }
}
