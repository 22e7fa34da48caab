package io.prmalloc.trace.replay;

import io.prmalloc.pool.PoolPolicies;
import io.prmalloc.pool.TensorPoolBuilder;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a replay tells the pool beyond its defaults.
 *
 * <p>Threading: immutable.
 *
 * @param policies which plans compete; empty for the pool's default
 * @param plan a file with the plan to start with
 * @param keep a file to write the plan to when the run is over
 */
public record PoolSetup(Optional<PoolPolicies> policies, Optional<Path> plan, Optional<Path> keep) {

  /** Nothing. */
  public static final PoolSetup DEFAULT =
      new PoolSetup(Optional.empty(), Optional.empty(), Optional.empty());

  /** Tells it. Threading: any thread. */
  void applyTo(TensorPoolBuilder builder) {
    policies.ifPresent(builder::policies);
    plan.ifPresent(builder::plan);
  }
}
