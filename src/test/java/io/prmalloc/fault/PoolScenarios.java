package io.prmalloc.fault;

import io.prmalloc.Isolation;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.LeakDetection;
import io.prmalloc.pool.TensorPoolBuilder;
import io.prmalloc.recording.Recording;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** All scenarios, by name. Loaded with the instrumented classes. Threading: stateless. */
final class PoolScenarios {

  private static final PoolScenario.Part NOTHING = scenario -> {};

  private final Path directory;
  private final Map<String, Supplier<FaultScenario>> all = new LinkedHashMap<>();

  private PoolScenarios(Path directory) {
    this.directory = directory;
  }

  /** Called by reflection, for the test has another class of this name. */
  static Map<String, Supplier<FaultScenario>> all(Path directory) {
    PoolScenarios scenarios = new PoolScenarios(directory);
    scenarios.requests();
    scenarios.pooled();
    scenarios.steps();
    scenarios.observers();
    scenarios.ends();
    return scenarios.all;
  }

  /** Without plans for steps, so that it is the pool that learns. */
  private static TensorPoolBuilder shared(TensorPoolBuilder builder) {
    return PoolScenario.quick(builder, Runnable::run);
  }

  private void add(
      String name,
      Function<TensorPoolBuilder, TensorPoolBuilder> settings,
      PoolScenario.Part before,
      PoolScenario.Part work) {
    // Mapped memory that nobody writes costs next to nothing.
    all.put(name, () -> new PoolScenario(directory, true, settings, before, work));
  }

  private void addDirect(String name, PoolScenario.Part before, PoolScenario.Part work) {
    all.put(name, () -> new PoolScenario(directory, false, PoolScenarios::shared, before, work));
  }

  private static void requests(PoolScenario scenario) {
    for (int i = 0; i < 2; i++) {
      for (int bytes : new int[] {100, 20_000, 65_536, 3 << 20}) {
        scenario.close(scenario.take(bytes));
      }
    }
  }

  private static void raw(PoolScenario scenario) {
    for (int i = 0; i < 2; i++) {
      for (int bytes : new int[] {0, 100, 20_000, 65_536, 3 << 20}) {
        scenario.takeAndCloseRaw(bytes);
      }
    }
  }

  private void requests() {
    add("requests", PoolScenarios::shared, NOTHING, PoolScenarios::requests);
    add("raw", PoolScenarios::shared, NOTHING, PoolScenarios::raw);
    addDirect("requests of direct memory", NOTHING, PoolScenarios::requests);
    add(
        "requests, isolated",
        builder ->
            shared(builder)
                .isolation(Isolation.NONE.withFill(Isolation.Fill.ZERO).withCanaries(true)),
        NOTHING,
        PoolScenarios::requests);
  }

  private void pooled() {
    add("learning", PoolScenarios::shared, NOTHING, PoolScenario::learnPool);
    addDirect("learning with direct memory", NOTHING, PoolScenario::learnPool);
    all.put("learning on another thread", this::learningElsewhere);
    add(
        "pooled requests",
        PoolScenarios::shared,
        PoolScenario::learnPool,
        scenario -> {
          scenario.stepOfPool(1);
          scenario.stepOfPool(1.2);
          raw(scenario);
        });
    add("replan", PoolScenarios::shared, PoolScenario::learnPool, PoolScenario::replan);
    add(
        "trim",
        PoolScenarios::shared,
        scenario -> {
          requests(scenario);
          scenario.learnPool();
          requests(scenario);
        },
        scenario -> scenario.pool().trim());
  }

  private FaultScenario learningElsewhere() {
    PoolScenario[] made = new PoolScenario[1];
    made[0] =
        new PoolScenario(
            directory,
            true,
            builder -> PoolScenario.quick(builder, made[0].planning()),
            NOTHING,
            scenario -> {
              scenario.learnPool();
              scenario.plannedStep(1);
              scenario.plannedStep(1);
              scenario.plannedStep(1);
            });
    return made[0];
  }

  private void steps() {
    add("planned steps, learning", PoolScenarios::shared, NOTHING, PoolScenario::learnPlanned);
    add(
        "planned steps",
        PoolScenarios::shared,
        PoolScenario::learnPlanned,
        scenario -> {
          scenario.plannedStep(1);
          ScopedMemoryCollector step = scenario.open("planned");
          scenario.takeAndCloseRaw(step, 100_000);
          // Departs.
          scenario.close(scenario.take(step, 500_000));
          scenario.close(step);
        });
    add(
        "planned steps, raised",
        PoolScenarios::shared,
        PoolScenario::learnPlanned,
        scenario -> {
          scenario.plannedStep(2);
          scenario.plannedStep(2);
          scenario.plannedStep(2);
        });
    add(
        "planned steps, two at a time",
        PoolScenarios::shared,
        PoolScenario::learnPlanned,
        scenario -> {
          ScopedMemoryCollector step = scenario.open("planned");
          scenario.take(step, 100_000);
          scenario.plannedStep(1);
          scenario.close(step);
        });
    add("implicit steps, learning", PoolScenarios::unpooled, NOTHING, PoolScenario::learnImplicit);
    add(
        "implicit steps",
        PoolScenarios::unpooled,
        PoolScenario::learnImplicit,
        scenario -> {
          scenario.stepOfPool(0.7);
          scenario.stepOfPool(1.5);
          scenario.stepOfPool(1.5);
        });
    add(
        "steps, trimmed",
        PoolScenarios::shared,
        PoolScenario::learnPlanned,
        scenario -> {
          scenario.pool().trimSteps(Duration.ZERO);
          scenario.plannedStep(1);
        });
  }

  /** The pool itself learns too late to have a plan before steps have. */
  private static TensorPoolBuilder unpooled(TensorPoolBuilder builder) {
    return builder
        .executor(Runnable::run)
        .startStatisticStep(5)
        .stableStatisticStep(1)
        .stepPlanningTime(Duration.ZERO);
  }

  private void observers() {
    add(
        "recording",
        PoolScenarios::shared,
        NOTHING,
        scenario -> {
          Recording recording = scenario.record();
          scenario.stepOfPool(1);
          scenario.takeAndCloseRaw(65_536);
          recording.close();
        });
    add(
        "recording of a plan's blocks",
        PoolScenarios::shared,
        PoolScenario::learnPool,
        scenario -> {
          Recording recording = scenario.record();
          scenario.stepOfPool(1);
          scenario.plannedStep(1);
          recording.close();
        });
    add(
        "leak detection",
        builder -> shared(builder).leakDetection(LeakDetection.PARANOID.withSteps(1)),
        PoolScenario::planNoSteps,
        scenario -> {
          scenario.learnPool();
          scenario.take(100_000);
          scenario.stepOfPool(1);
          scenario.stepOfPool(1);
          scenario.pool().leaks();
        });
  }

  private void ends() {
    add(
        "close",
        PoolScenarios::shared,
        scenario -> {
          scenario.learnPool();
          scenario.learnPlanned();
          requests(scenario);
        },
        PoolScenario::closePool);
    add(
        "close by force",
        PoolScenarios::shared,
        scenario -> {
          scenario.learnPool();
          scenario.learnPlanned();
          scenario.take(100);
          scenario.take(100_000);
          scenario.take(3 << 20);
        },
        PoolScenario::closeForcibly);
    add(
        "close by force, with leak detection and a recording",
        builder -> shared(builder).leakDetection(LeakDetection.PARANOID),
        scenario -> {
          scenario.record();
          scenario.take(100);
          scenario.take(3 << 20);
        },
        PoolScenario::closeForcibly);
    add(
        "kept plan",
        PoolScenarios::shared,
        scenario -> {
          scenario.learnPool();
          scenario.learnPlanned();
        },
        PoolScenario::restart);
  }
}
