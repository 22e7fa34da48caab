package io.prmalloc.trace.replay.lane;

import io.prmalloc.Isolation;
import io.prmalloc.pool.PoolPolicies;
import io.prmalloc.pool.TensorPoolBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The settings that a replay gives to the pool beyond its defaults.
 *
 * <p>Threading: immutable.
 *
 * @param policies which plans compete; empty for the pool's default
 * @param plan a file with the plan to start with
 * @param keep a file to write the plan to when the run is over
 * @param idle after how long the pool gives back what it does not use; empty for its default
 * @param planningTime how long a plan of a step is looked for; empty for the pool's default
 * @param isolation how users are kept apart; empty for the pool's default
 */
public record PoolSetup(
    Optional<PoolPolicies> policies,
    Optional<Path> plan,
    Optional<Path> keep,
    Optional<Duration> idle,
    Optional<Duration> planningTime,
    Optional<Isolation> isolation) {

  /** Nothing. */
  public static final PoolSetup DEFAULT =
      new PoolSetup(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  /** Tells it. Threading: any thread. */
  void applyTo(TensorPoolBuilder builder) {
    policies.ifPresent(builder::policies);
    plan.ifPresent(builder::plan);
    idle.ifPresent(builder::shrinkAfter);
    idle.ifPresent(builder::stepArenaIdle);
    idle.ifPresent(builder::purgeAfter);
    planningTime.ifPresent(builder::stepPlanningTime);
    isolation.ifPresent(builder::isolation);
  }

  /** This with another idle time. Threading: any thread. */
  public PoolSetup withIdle(Duration value) {
    return new PoolSetup(policies, plan, keep, Optional.of(value), planningTime, isolation);
  }

  /** This with another time to look for a plan of a step. Threading: any thread. */
  public PoolSetup withPlanningTime(Duration value) {
    return new PoolSetup(policies, plan, keep, idle, Optional.of(value), isolation);
  }

  /** This, starting cold and keeping nothing. Threading: any thread. */
  public PoolSetup withoutFiles() {
    return new PoolSetup(
        policies, Optional.empty(), Optional.empty(), idle, planningTime, isolation);
  }
}
