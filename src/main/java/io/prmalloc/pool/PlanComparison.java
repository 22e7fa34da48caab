package io.prmalloc.pool;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.poolplan.PlanCandidate;
import io.prmalloc.internal.poolplan.PlanChoice;
import io.prmalloc.internal.poolplan.Rehearsal;
import io.prmalloc.internal.steps.StepPlacer;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * Compares, on paper, the plans that may compete for the shared pool and the plan of a planned
 * step, for a step that repeats: the bytes of each, and the place of each tensor.
 *
 * <p>Threading: any thread.
 */
public final class PlanComparison {

  // On paper: the step is learnt as in warm-up, each plan is rehearsed, and the step is run through
  // it once more. A rehearsal decides which bin serves a request. The choice among the bin's blocks
  // makes no difference to the sizes: here the one that was freed last is drawn, and the pool takes
  // the one with the lowest bit.

  /**
   * A plan.
   *
   * <p>Threading: immutable.
   *
   * @param name what people call it
   * @param shared whether it is one of the shared pool, made of blocks; else one of a step
   * @param chosen whether the pool takes it
   * @param bytes of its arena
   * @param blockBytes by tensor: bytes of the block that holds it
   * @param offsets by tensor: where that begins
   */
  public record Drawn(
      String name,
      boolean shared,
      boolean chosen,
      long bytes,
      List<Long> blockBytes,
      List<Long> offsets) {

    /** Copies the lists. */
    public Drawn {
      blockBytes = List.copyOf(blockBytes);
      offsets = List.copyOf(offsets);
    }

    private static Drawn of(
        String name,
        boolean shared,
        boolean chosen,
        long bytes,
        long[] blockBytes,
        long[] offsets) {
      return new Drawn(name, shared, chosen, bytes, boxed(blockBytes), boxed(offsets));
    }

    private static List<Long> boxed(long... numbers) {
      return Arrays.stream(numbers).boxed().toList();
    }
  }

  private static final double MAX_OVERSIZE = 2;
  private static final int LATEST_STEPS = 16;
  private static final PlannerSettings SETTINGS = PlannerSettings.DEFAULTS;
  private static final int REFERENCE_PLANS = 3;

  private PlanComparison() {}

  /**
   * Compares the plans.
   *
   * <p>Threading: any thread.
   *
   * @param step the tensors over {@link LifetimePolicy#SMALL_BYTES}, in the order in which they are
   *     taken, with ticks from 0
   * @param policies which plans the pool chooses from
   * @param planningTime how long a plan of a step is looked for
   * @return the shared ones, then that of a step; none if there is nothing to plan
   * @throws IllegalArgumentException if a tensor is small
   */
  public static List<Drawn> of(
      List<AllocStats> step, PoolPolicies policies, Duration planningTime) {
    if (step.isEmpty()) {
      return List.of();
    }
    List<PlanCandidate> candidates = PlanChoice.all(learn(step), MAX_OVERSIZE);
    int competing = policies == PoolPolicies.REFERENCE ? REFERENCE_PLANS : candidates.size();
    int chosen = 0;
    for (int i = 1; i < competing; i++) {
      chosen = candidates.get(i).bytes() < candidates.get(chosen).bytes() ? i : chosen;
    }
    List<Drawn> all = new ArrayList<>();
    for (int i = 0; i < candidates.size(); i++) {
      all.add(draw(candidates.get(i), step, i == chosen));
    }
    all.add(drawStep(step, planningTime));
    return all;
  }

  /**
   * The plans of the reference's policies, as found by a planner that sees the step again and
   * again.
   */
  static List<LifetimePlan> learn(List<AllocStats> step) {
    long ticks = 1 + step.stream().mapToLong(AllocStats::endTick).max().orElse(0);
    Deque<List<AllocStats>> steps = new ArrayDeque<>();
    List<LifetimePolicy> policies = LifetimePolicy.referencePolicies();
    int stable = 0;
    for (int i = 0; i <= SETTINGS.maxSteps() && stable <= SETTINGS.stableSteps(); i++) {
      List<AllocStats> lives = shifted(step, i * ticks);
      steps.add(lives);
      if (steps.size() > LATEST_STEPS) {
        steps.remove();
      }
      boolean same = true;
      for (LifetimePolicy policy : policies) {
        lives.forEach(policy::add);
        same &= policy.bestFit();
        policy.forgetBefore((i + 1) * ticks);
      }
      stable = same ? stable + 1 : 0;
    }
    return policies.stream().map(it -> LifetimePlan.of(it, List.copyOf(steps), 1)).toList();
  }

  private static List<AllocStats> shifted(List<AllocStats> step, long ticks) {
    return step.stream()
        .sorted(Comparator.comparingLong(AllocStats::endTick))
        .map(
            life ->
                new AllocStats(
                    life.beginTick() + ticks,
                    life.endTick() + ticks,
                    life.sizeBytes(),
                    life.alignment()))
        .toList();
  }

  private static Drawn draw(PlanCandidate candidate, List<AllocStats> step, boolean chosen) {
    KeptPool pool = candidate.pool();
    LifetimePlan plan = pool.plan();
    List<BinPlan> bins = new ArrayList<>();
    for (int bin = 0; bin < plan.bins().size(); bin++) {
      BinPlan own = plan.bins().get(bin);
      bins.add(
          new BinPlan(
              own.index(),
              own.chunkBytes(),
              own.alignment(),
              pool.reservedBlocks().get(bin),
              own.virtualTargets()));
    }
    LifetimePlan whole =
        new LifetimePlan(plan.intervalBytes(), plan.totalBytes(), bins, List.of(step), 1);
    return place(candidate, whole, new Rehearsal(whole, MAX_OVERSIZE).holders(), chosen);
  }

  private static Drawn place(
      PlanCandidate candidate, LifetimePlan plan, int[] holders, boolean chosen) {
    List<Deque<Long>> free = new ArrayList<>();
    long next = 0;
    for (BinPlan bin : plan.bins()) {
      Deque<Long> places = new ArrayDeque<>();
      for (int block = 0; block < bin.blocks(); block++) {
        places.add(next);
        next += BinTable.strideBytes(bin);
      }
      free.add(places);
    }
    List<AllocStats> step = plan.steps().get(0);
    long[] offsets = new long[step.size()];
    long[] blockBytes = new long[step.size()];
    for (int event : Rehearsal.events(step)) {
      if (event < 0) {
        free.get(holders[~event]).push(offsets[~event]);
      } else {
        offsets[event] = free.get(holders[event]).pop();
        blockBytes[event] = plan.bins().get(holders[event]).chunkBytes();
      }
    }
    return Drawn.of(candidate.name(), true, chosen, candidate.bytes(), blockBytes, offsets);
  }

  private static Drawn drawStep(List<AllocStats> step, Duration planningTime) {
    List<TensorUsageRecord> records =
        step.stream()
            .map(
                life ->
                    new TensorUsageRecord(
                        life.sizeBytes(),
                        life.beginTick(),
                        Math.max(life.beginTick(), life.endTick() - 1)))
            .toList();
    OffsetsAssignment plan =
        planningTime.isZero()
            ? StepPlacer.place(records)
            : StepPlacer.improve(records, planningTime, () -> false);
    long[] sizes = step.stream().mapToLong(AllocStats::sizeBytes).toArray();
    return Drawn.of("planned step", false, false, plan.totalBytes(), sizes, plan.offsets());
  }
}
