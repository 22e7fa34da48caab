package io.prmalloc.internal.poolplan;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.pool.PoolPolicies;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Chooses between the plan of the lifetime policies and other plans for the same steps. Each plan
 * is compared with the blocks that it lacks added, so that every request of those steps finds one.
 *
 * <p>Threading: stateless.
 */
public final class PlanChoice {

  private PlanChoice() {}

  /**
   * The plan of fewest bytes, added blocks included; the first of equals.
   *
   * @param made what the policies found
   * @param maxOversize as in {@link BinTable#build}
   */
  public static KeptPool best(LifetimePlan made, PoolPolicies policies, double maxOversize) {
    KeptPool best = rehearsed(made, maxOversize);
    for (Supplier<Optional<LifetimePlan>> other : others(made, policies, maxOversize)) {
      Optional<LifetimePlan> plan = other.get();
      // Blocks are only added, so what is too large without them need not be rehearsed.
      if (plan.isPresent() && plan.get().totalBytes() < bytes(best)) {
        KeptPool rehearsed = rehearsed(plan.get(), maxOversize);
        best = bytes(rehearsed) < bytes(best) ? rehearsed : best;
      }
    }
    return best.withLoadBytes(loadBytes(made));
  }

  /** The most bytes that lived at a time in the steps of a plan. */
  private static long loadBytes(LifetimePlan made) {
    TreeMap<Long, Long> changes = new TreeMap<>();
    for (List<AllocStats> step : made.steps()) {
      for (AllocStats life : step) {
        changes.merge(life.beginTick(), life.sizeBytes(), Long::sum);
        changes.merge(life.endTick() + 1, -life.sizeBytes(), Long::sum);
      }
    }
    long now = 0;
    long most = 0;
    for (long change : changes.values()) {
      now += change;
      most = Math.max(most, now);
    }
    return most;
  }

  private static List<Supplier<Optional<LifetimePlan>>> others(
      LifetimePlan made, PoolPolicies policies, double maxOversize) {
    if (policies == PoolPolicies.REFERENCE) {
      return List.of();
    }
    return List.of(
        () -> StepPacking.of(made),
        () -> StepCopies.of(made, maxOversize),
        () -> Optional.of(SizeClassPlans.geometric(made)),
        () -> Optional.of(SizeClassPlans.linear(made, SizeClassPlans.FINER_BYTES)));
  }

  /**
   * Every plan that may compete, in an order for people, however large.
   *
   * @param references what each of the reference's policies found for the same steps
   */
  public static List<PlanCandidate> all(List<LifetimePlan> references, double maxOversize) {
    List<PlanCandidate> all = new ArrayList<>();
    for (LifetimePlan reference : references) {
      String name = "classes of " + reference.intervalBytes() / 1024 + " KiB";
      all.add(candidate(name, reference, maxOversize));
    }
    LifetimePlan made = references.get(0);
    int finer = SizeClassPlans.FINER_BYTES;
    String name = "classes of " + finer / 1024 + " KiB";
    all.add(candidate(name, SizeClassPlans.linear(made, finer), maxOversize));
    all.add(candidate("geometric classes", SizeClassPlans.geometric(made), maxOversize));
    StepPacking.of(made)
        .ifPresent(plan -> all.add(candidate("packing of whole steps", plan, maxOversize)));
    StepCopies.of(made, maxOversize)
        .ifPresent(plan -> all.add(candidate("packing for each thread", plan, maxOversize)));
    return all;
  }

  private static PlanCandidate candidate(String name, LifetimePlan plan, double maxOversize) {
    KeptPool pool = rehearsed(plan, maxOversize);
    return new PlanCandidate(name, pool, bytes(pool));
  }

  private static KeptPool rehearsed(LifetimePlan plan, double maxOversize) {
    int[] blocks = new Rehearsal(plan, maxOversize).run();
    return new KeptPool(plan, Arrays.stream(blocks).boxed().toList());
  }

  /** About how many bytes the arena of a plan has. */
  public static long bytes(KeptPool pool) {
    return BinTable.chunkBytes(pool.plan(), blocks(pool));
  }

  /** The blocks of each bin, by position. */
  public static int[] blocks(KeptPool pool) {
    return pool.reservedBlocks().stream().mapToInt(Integer::intValue).toArray();
  }
}
