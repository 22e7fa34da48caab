package io.prmalloc.internal.steps;

import java.time.Duration;

/**
 * How a pool plans steps.
 *
 * <p>Threading: immutable.
 *
 * @param enabled whether it does at all
 * @param maxArenas the most arenas of one sequence, and so the most of its steps that are served as
 *     planned at the same time, from 1
 * @param idle an arena that no step used for so long is freed
 * @param planningTime how long a better plan is looked for in the background
 */
public record StepSettings(boolean enabled, int maxArenas, Duration idle, Duration planningTime) {

  public static final StepSettings DEFAULTS =
      new StepSettings(
          true,
          Math.max(8, 2 * Runtime.getRuntime().availableProcessors()),
          Duration.ofSeconds(60),
          Duration.ofSeconds(1));

  public StepSettings withEnabled(boolean value) {
    return new StepSettings(value, maxArenas, idle, planningTime);
  }

  public StepSettings withMaxArenas(int value) {
    return new StepSettings(enabled, value, idle, planningTime);
  }

  public StepSettings withIdle(Duration value) {
    return new StepSettings(enabled, maxArenas, value, planningTime);
  }

  public StepSettings withPlanningTime(Duration value) {
    return new StepSettings(enabled, maxArenas, idle, value);
  }
}
