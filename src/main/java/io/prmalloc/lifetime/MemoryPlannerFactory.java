package io.prmalloc.lifetime;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Makes planners, and keeps one for those who want to share.
 *
 * <p>DeepRec's {@code MemoryPlannerFactory} has one planner for the whole process, of which only
 * the last allocator gets the plan. Here every allocator has its own; the shared one is a
 * convenience for a process with one allocator.
 *
 * <p>Threading: any thread.
 */
public final class MemoryPlannerFactory {

  private static final Logger LOGGER = System.getLogger(MemoryPlannerFactory.class.getName());

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
   * An executor with one daemon thread that goes when it has been idle for a second. What a task
   * throws is logged, and the next one runs. Threading: any thread.
   */
  public static Executor newPlannerExecutor() {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            1,
            1,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "prmalloc-planner");
              thread.setDaemon(true);
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
    return task -> executor.execute(() -> runGuarded(task));
  }

  private static void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      LOGGER.log(Level.WARNING, "a task in the background failed", e);
    }
  }
}
