package io.prmalloc.fault;

import io.prmalloc.Isolation;
import io.prmalloc.MmapOptions;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.lifecycle.PlanSharing;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.LeakDetection;
import io.prmalloc.pool.TensorPoolBuilder;
import io.prmalloc.recording.Recording;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** All scenarios, by name. Loaded with the instrumented classes. Threading: stateless. */
final class PoolScenarios {

  /** Before the name of the thread whose points count. */
  static final String ON = ", on ";

  /** So often do the pool's own threads look that a scenario does not wait for long. */
  private static final Duration SOON = Duration.ofMillis(32);

  private static final PlanSharing.Pace QUICK =
      new PlanSharing.Pace(
          Duration.ofMillis(2), Duration.ofMillis(4), Duration.ofMillis(8), Duration.ofHours(1));

  private static final int MIB = 1 << 20;

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
    scenarios.limits();
    scenarios.maintenance();
    scenarios.supplied();
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
    add(name, PoolScenarios::mapped, settings, before, work);
  }

  private void add(
      String name,
      Supplier<SubAllocator> memory,
      Function<TensorPoolBuilder, TensorPoolBuilder> settings,
      PoolScenario.Part before,
      PoolScenario.Part work) {
    all.put(name, () -> new PoolScenario(directory, memory, settings, before, work));
  }

  private static SubAllocator mapped() {
    return SubAllocator.mmap(MmapOptions.DEFAULT);
  }

  private static SubAllocator limited() {
    return SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(8 * MIB));
  }

  private void addDirect(String name, PoolScenario.Part before, PoolScenario.Part work) {
    add(name, SubAllocator::direct, PoolScenarios::shared, before, work);
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
            PoolScenarios::mapped,
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
    for (boolean raw : new boolean[] {false, true}) {
      String name = raw ? "long steps by address" : "long steps";
      add(
          name + ", learning",
          PoolScenarios::shared,
          NOTHING,
          scenario -> scenario.longStep(40_000, raw));
      add(
          name + ", departed",
          PoolScenarios::shared,
          scenario -> {
            for (int i = 0; i < KeyedSteps.REPEATS; i++) {
              scenario.longStep(40_000, raw);
            }
          },
          scenario -> scenario.longStep(400_000, raw));
    }
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
        builder ->
            shared(builder)
                .leakDetection(LeakDetection.PARANOID.withSteps(1))
                .leakListener(leak -> InjectionPoints.userCode()),
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

  private void limits() {
    PoolScenario.Part learn =
        scenario -> {
          scenario.learnPool();
          scenario.learnPlanned();
          requests(scenario);
        };
    add(
        "requests that a limit refuses at first",
        PoolScenarios::limited,
        PoolScenarios::shared,
        learn,
        scenario -> {
          scenario.close(scenario.take(7 * MIB));
          scenario.stepOfPool(1);
          scenario.takeAndCloseRaw(7 * MIB);
          scenario.plannedStep(1);
          scenario.beRefused(9 * MIB);
        });
    add(
        "learning under a limit",
        PoolScenarios::limited,
        PoolScenarios::shared,
        NOTHING,
        scenario -> {
          scenario.take(6 * MIB);
          scenario.learnPool();
        });
    add(
        "growth",
        PoolScenarios::shared,
        PoolScenario::learnPool,
        scenario -> {
          for (int i = 0; i < 12; i++) {
            scenario.take(100_000);
          }
          for (int i = 0; i < 12; i++) {
            scenario.takeAndCloseRaw(50_000);
          }
        });
  }

  /** On the pool's own threads, of which each does its work although it failed once. */
  private void maintenance() {
    add(
        "recording" + ON + "prmalloc-recorder",
        PoolScenarios::shared,
        PoolScenario::learnPool,
        scenario -> {
          Recording recording = scenario.record();
          scenario.stepOfPool(1);
          scenario.takeAndCloseRaw(65_536);
          recording.close();
        });
    add(
        "recording beside leak detection" + ON + "prmalloc-recorder",
        builder -> shared(builder).leakDetection(LeakDetection.PARANOID),
        PoolScenario::planNoSteps,
        scenario -> {
          Recording recording = scenario.record();
          scenario.stepOfPool(1);
          recording.close();
        });
    add(
        "idle step arenas" + ON + "prmalloc-maintenance",
        builder -> shared(builder).stepArenaIdle(SOON).shrinkAfter(SOON).purgeAfter(SOON),
        PoolScenario::learnPlanned,
        scenario -> {
          requests(scenario);
          scenario.plannedStep(1);
          PoolScenario.await(
              "an idle arena goes back", () -> scenario.pool().stepStats().arenas() == 0);
        });
    add(
        "idle trim" + ON + "prmalloc-idle-trim",
        builder -> shared(builder).trimAfterIdle(SOON),
        PoolScenario::learnPlanned,
        scenario -> {
          requests(scenario);
          scenario.plannedStep(1);
          PoolScenario.await("an idle pool is trimmed", () -> isTrimmed(scenario));
        });
    all.put("plan store" + ON + "prmalloc-plan-store", this::sharing);
  }

  /** Memory of a user's own class, which visitors see and of which a listener is told. */
  private void supplied() {
    addSupplied(
        "requests of supplied memory",
        NOTHING,
        scenario -> {
          requests(scenario);
          raw(scenario);
          scenario.pool().trim();
        });
    addSupplied(
        "plans of supplied memory",
        NOTHING,
        scenario -> {
          scenario.learnPool();
          scenario.learnPlanned();
          scenario.replan();
        });
    addSupplied(
        "close of supplied memory",
        scenario -> {
          scenario.learnPool();
          scenario.learnPlanned();
          requests(scenario);
        },
        PoolScenario::closePool);
    addSupplied(
        "close by force of supplied memory",
        scenario -> {
          scenario.learnPool();
          scenario.take(100);
          scenario.take(100_000);
          scenario.take(3 << 20);
        },
        PoolScenario::closeForcibly);
  }

  private void addSupplied(String name, PoolScenario.Part before, PoolScenario.Part work) {
    RegionVisitor visitor =
        RegionVisitor.of(
            (region, index, bytes) -> InjectionPoints.userCode(),
            (region, index, bytes) -> InjectionPoints.userCode());
    add(
        name,
        () -> new SuppliedSource(mapped()).withVisitors(0, visitor),
        builder ->
            shared(builder)
                .softLimit(MIB, (reserved, limit) -> InjectionPoints.userCode())
                .isolation(Isolation.NONE.withFill(Isolation.Fill.ZERO)),
        before,
        work);
  }

  /** A region that does not go is tried again when the pool was used and is idle again. */
  private static boolean isTrimmed(PoolScenario scenario) {
    long end = System.nanoTime() + 10 * SOON.toNanos();
    while (scenario.pool().stats().bytesReserved() > 0 && System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
    boolean trimmed = scenario.pool().stats().bytesReserved() == 0;
    if (!trimmed) {
      requests(scenario);
    }
    return trimmed;
  }

  private FaultScenario sharing() {
    PoolScenario[] made = new PoolScenario[1];
    made[0] =
        new PoolScenario(
            directory,
            PoolScenarios::mapped,
            builder -> soon(shared(builder).planStore(made[0].store(), "model")),
            NOTHING,
            scenario -> {
              scenario.learnPool();
              PoolScenario.await("the plan is published", () -> !scenario.store().isEmpty());
              scenario.share();
            });
    return made[0];
  }

  /** How often the store is looked at is no setting for users. */
  private static TensorPoolBuilder soon(TensorPoolBuilder builder) {
    try {
      Method pace =
          TensorPoolBuilder.class.getDeclaredMethod("sharingPace", PlanSharing.Pace.class);
      pace.setAccessible(true);
      pace.invoke(builder, QUICK);
      return builder;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }
}
