package io.prmalloc.pool.race;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.PoolStats;
import io.prmalloc.pool.Pools;
import io.prmalloc.pool.Steps;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.concurrent.ThreadLocalRandom;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The results that are allowed when a pool switches to its plan or is closed while others take from
 * it; any other result is a bug. Run by {@link JcstressTest}.
 */
public final class PoolRaces {

  private static final int PLANNED_BYTES = 33_000;
  private static final int SMALL_BYTES = 100;

  private PoolRaces() {}

  /** A pool whose planner is done with the next step. */
  private static TensorPoolAllocator newPool(SubAllocator source) {
    return TensorPoolAllocator.builder().subAllocator(source).planner(Steps.planner(1)).build();
  }

  /** The last step of warm-up ends, the arena is reserved and published, on one thread. */
  @JCStressTest
  @Outcome(
      id = {"from outside, nothing left", "from the arena, nothing left"},
      expect = ACCEPTABLE,
      desc = "served from where the thread looked, and counted there")
  @State
  public static class SwitchOverVsAllocate {
    private final SubAllocator source = SubAllocator.direct();
    private final TensorPoolAllocator pool = newPool(source);
    private final ScopedMemoryCollector step = pool.collect();

    public SwitchOverVsAllocate() {
      Tracked tensor = pool.planner().trackAllocate(64, PLANNED_BYTES);
      pool.planner().trackFree(tensor);
    }

    @Actor
    public void switchOver() {
      step.close();
    }

    @Actor
    public void allocate() {
      Allocation handle = pool.allocate(PLANNED_BYTES);
      handle.byteBuffer().put(PLANNED_BYTES - 1, (byte) 1);
      handle.close();
    }

    @Arbiter
    public void look(LL_Result result) {
      PoolStats stats = pool.poolStats();
      result.r1 =
          stats.hits() == 1 && stats.unpooledRequests() == 0
              ? "from the arena"
              : stats.hits() == 0 && stats.unpooledRequests() == 1 ? "from outside" : stats;
      long inUse = pool.stats().bytesInUse();
      pool.close();
      result.r2 = inUse == 0 && source.bytesReserved() == 0 ? "nothing left" : "something left";
    }
  }

  @JCStressTest
  @Outcome(
      id = {"closed, refused, 0", "in use, served, 0"},
      expect = ACCEPTABLE,
      desc = "one of the two is told")
  @State
  public static class CloseVsAllocate {
    private final SubAllocator source = SubAllocator.direct();
    private final TensorPoolAllocator pool = newPool(source);

    /** From the arena or from a slab. */
    private final int bytes =
        ThreadLocalRandom.current().nextBoolean() ? PLANNED_BYTES : SMALL_BYTES;

    private Allocation handle;

    public CloseVsAllocate() {
      Pools.learn(pool, PLANNED_BYTES);
      pool.allocate(bytes).close();
    }

    @Actor
    public void close(LLL_Result result) {
      try {
        pool.close();
        result.r1 = "closed";
      } catch (IllegalStateException stillInUse) {
        result.r1 = "in use";
      }
    }

    @Actor
    public void allocate(LLL_Result result) {
      try {
        handle = pool.allocate(bytes);
        result.r2 = "served";
      } catch (IllegalStateException closed) {
        result.r2 = "refused";
      }
    }

    @Arbiter
    public void look(LLL_Result result) {
      if (handle != null) {
        handle.close();
        // Nothing was lost in the attempt: it works again, and can be closed.
        pool.allocate(bytes).close();
        pool.close();
      }
      result.r3 = source.bytesReserved();
    }
  }
}
