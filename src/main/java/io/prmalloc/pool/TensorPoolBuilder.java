package io.prmalloc.pool;

import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import java.time.Duration;
import java.util.concurrent.Executor;

/** Settings of a {@link TensorPoolAllocator}. Threading: not safe. */
public final class TensorPoolBuilder {

  private SubAllocator source;
  private MemoryPlanner planner;
  private Executor executor;
  private PlannerSettings settings;
  private double maxOversize = 2;
  private StepSettings steps = StepSettings.DEFAULTS;

  TensorPoolBuilder() {}

  private PlannerSettings settings() {
    if (settings == null) {
      settings = PlannerSettings.fromEnvironment();
    }
    return settings;
  }

  SubAllocator source() {
    return source != null ? source : SubAllocator.direct();
  }

  double maxOversize() {
    return maxOversize;
  }

  Executor executor() {
    if (executor == null) {
      executor = MemoryPlannerFactory.newPlannerExecutor();
    }
    return executor;
  }

  StepSettings stepSettings() {
    return steps;
  }

  MemoryPlanner makePlanner() {
    if (planner != null) {
      return planner;
    }
    return MemoryPlannerFactory.create(settings(), executor());
  }

  /**
   * Where memory comes from; default {@link SubAllocator#direct()}. Stays the caller's. Threading:
   * not safe.
   */
  public TensorPoolBuilder subAllocator(SubAllocator value) {
    source = value;
    return this;
  }

  /**
   * The planner; default one of its own, made from the settings below. With a planner given, those
   * have no effect.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder planner(MemoryPlanner value) {
    planner = value;
    return this;
  }

  /**
   * What runs the packing; default a daemon thread of its own that goes when idle. {@code
   * Runnable::run} packs within the close of a step.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder executor(Executor value) {
    executor = value;
    return this;
  }

  /** Whether to plan and pool at all; see {@link PlannerSettings}. Threading: not safe. */
  public TensorPoolBuilder enableMemoryOptimization(boolean value) {
    settings = settings().withEnabled(value);
    return this;
  }

  /**
   * Number of the step with which collecting begins, from 0; see {@link PlannerSettings}.
   * Threading: not safe.
   */
  public TensorPoolBuilder startStatisticStep(int value) {
    settings = settings().withStartStep(value);
    return this;
  }

  /**
   * More than so many steps in a row that change nothing end it; see {@link PlannerSettings}.
   * Threading: not safe.
   */
  public TensorPoolBuilder stableStatisticStep(int value) {
    settings = settings().withStableSteps(value);
    return this;
  }

  /** More than so many collected steps end it; see {@link PlannerSettings}. Threading: not safe. */
  public TensorPoolBuilder maxStatisticStep(int value) {
    settings = settings().withMaxSteps(value);
    return this;
  }

  /**
   * The step with this number is the last to be collected; see {@link PlannerSettings}. Threading:
   * not safe.
   */
  public TensorPoolBuilder stopStatisticStep(int value) {
    settings = settings().withStopStep(value);
    return this;
  }

  /**
   * How large a chunk of a larger bin may be, as a multiple of the bytes asked for, when a request
   * finds its own bin empty or has none; default 2, and 1 for never.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code value} is less than 1 or not a number
   */
  public TensorPoolBuilder maxOversize(double value) {
    if (!(value >= 1)) {
      throw new IllegalArgumentException("maxOversize " + value + " is less than 1");
    }
    maxOversize = value;
    return this;
  }

  /**
   * Whether memory that steps ask for themselves is planned when they repeat; default true. If not,
   * it is shared memory.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder plannedSteps(boolean value) {
    steps = steps.withEnabled(value);
    return this;
  }

  /**
   * How many steps of one kind are served as planned at the same time, each in an arena of its own;
   * those beyond get shared memory. Default twice the number of processors, at least 8.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code value} is less than 1
   */
  public TensorPoolBuilder maxStepArenas(int value) {
    if (value < 1) {
      throw new IllegalArgumentException("maxStepArenas " + value + " is less than 1");
    }
    steps = steps.withMaxArenas(value);
    return this;
  }

  /**
   * After how long an arena that no step wanted is given back; default a minute. It is looked for
   * when steps end, and by {@link TensorPoolAllocator#trimSteps}.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code value} is negative
   */
  public TensorPoolBuilder stepArenaIdle(Duration value) {
    steps = steps.withIdle(checkNotNegative("stepArenaIdle", value));
    return this;
  }

  /**
   * How long a better plan for a step is looked for, in the background, once a first one is found;
   * default a second, zero for not at all.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code value} is negative
   */
  public TensorPoolBuilder stepPlanningTime(Duration value) {
    steps = steps.withPlanningTime(checkNotNegative("stepPlanningTime", value));
    return this;
  }

  private static Duration checkNotNegative(String name, Duration value) {
    if (value.isNegative()) {
      throw new IllegalArgumentException(name + " " + value + " is negative; the least is 0");
    }
    return value;
  }

  /**
   * Makes the allocator. If the system property {@value RecordProperty#NAME} is set, it records
   * from the start.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if a system property or environment variable holds nonsense
   * @throws java.io.UncheckedIOException if the recording's file cannot be written
   * @throws IllegalStateException if the planner given belongs to another allocator
   */
  public TensorPoolAllocator build() {
    return RecordProperty.obey(new TensorPoolAllocator(this));
  }
}
