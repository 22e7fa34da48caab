package io.prmalloc.lifetime;

import io.prmalloc.internal.lifecycle.BackgroundExecutor;
import java.util.concurrent.Executor;

/**
 * Makes planners, and keeps one to be shared.
 *
 * <p>DeepRec's {@code MemoryPlannerFactory} has one planner for the whole process, of which only
 * the last allocator gets the plan. Here every allocator has its own; the shared one is a
 * convenience for a process with one allocator.
 *
 * <p>Threading: any thread.
 */
public final class MemoryPlannerFactory {

  private static MemoryPlanner shared;

  private MemoryPlannerFactory() {}

  /**
   * A planner of its own.
   *
   * <p>Threading: any thread.
   *
   * @param settings when to collect; if not enabled, the planner does nothing
   * @param executor runs the packing and tells the listener; {@code Runnable::run} does both within
   *     the close of a step
   */
  public static MemoryPlanner create(PlannerSettings settings, Executor executor) {
    return settings.enabled()
        ? new LifetimeMemoryPlanner(settings, executor, System::nanoTime)
        : new NullableMemoryPlanner();
  }

  /**
   * The process's shared planner, set up by system properties and environment. It can serve one
   * allocator.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a property or variable holds nonsense
   */
  public static synchronized MemoryPlanner shared() {
    if (shared == null) {
      shared = create(PlannerSettings.fromEnvironment(), newPlannerExecutor());
    }
    return shared;
  }

  /**
   * What runs the work of a planner by default: tasks run one after the other on a daemon thread,
   * which ends when it has been idle for a second. An exception of a task is logged, and the next
   * task runs.
   *
   * <p>Threading: any thread.
   */
  public static Executor newPlannerExecutor() {
    return new BackgroundExecutor("prmalloc-planner");
  }
}
