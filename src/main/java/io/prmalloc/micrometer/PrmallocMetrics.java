package io.prmalloc.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.lifetime.MemoryPlanner.Phase;
import io.prmalloc.pool.EngineStats;
import io.prmalloc.pool.PoolSnapshot;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Locale;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Meters of one pool. What a registry does not ask for costs nothing; to ask for all of them costs
 * a few walks over the pool's blocks, and figures are up to a tenth of a second old.
 *
 * <p>All have the tag {@code pool}, but for the process's page faults. Those of an engine outside
 * of Java are there if it was attached before; they have the tag {@code engine}.
 *
 * <p>Threading: any thread.
 */
public final class PrmallocMetrics implements MeterBinder {

  // The registry holds the pool weakly, as it does with whatever its gauges look at; a pool that is
  // closed goes on telling what it counted.

  private static final String POOL = "pool";

  private final TensorPoolAllocator pool;
  private final String name;
  private final Tags tags;
  private final RecentSnapshot recent;

  /**
   * Threading: any thread.
   *
   * @param pool whose meters they are
   * @param name value of the tag {@code pool}, which tells apart several pools of a registry
   * @throws NullPointerException if an argument is null
   */
  public PrmallocMetrics(TensorPoolAllocator pool, String name) {
    this(pool, name, System::nanoTime);
  }

  PrmallocMetrics(TensorPoolAllocator pool, String name, LongSupplier clock) {
    this.pool = Objects.requireNonNull(pool, "pool");
    this.name = Objects.requireNonNull(name, "name");
    this.tags = Tags.of(POOL, name);
    this.recent = new RecentSnapshot(clock);
  }

  /**
   * Registers the meters. Those of a pool of the same name that is closed, or was dropped, make
   * place for them; the same pool may be bound again, with an engine that was attached meanwhile.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if the registry has the meters of another pool of this name; also
   *     if one of the two was bound through a {@code CompositeMeterRegistry}
   * @throws NullPointerException if {@code registry} is null
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    BoundPools.bind(registry, name, pool, this::bindAll);
    bindFaults(registry);
  }

  private void bindAll(MeterRegistry registry) {
    bindMemory(registry);
    bindRequests(registry);
    bindNullBins(registry);
    bindPlanner(registry);
    bindPlanStore(registry);
    bindSteps(registry);
    pool.snapshot().engine().ifPresent(engine -> bindEngine(registry, engine.engine()));
  }

  private void bindEngine(MeterRegistry registry, String engine) {
    Tags its = tags.and("engine", engine);
    engineBytes(
        registry,
        its.and("kind", "tensors"),
        "of the pool in use by tensors of an engine outside of Java",
        EngineStats::tensorBytes);
    engineBytes(
        registry,
        its.and("kind", "weights"),
        "beside the pool in use by weights of an engine outside of Java",
        EngineStats::weightBytes);
    engineBytes(
        registry,
        its.and("kind", "overrun"),
        "in use by an engine outside of Java beyond the pool's limit",
        EngineStats::overrunBytes);
    counter(
        registry,
        "prmalloc.engine.requests",
        its,
        "requests of an engine outside of Java",
        now -> now.engine().map(EngineStats::requests).orElse(0L));
    counter(
        registry,
        "prmalloc.engine.overruns",
        its,
        "requests of an engine outside of Java that the pool refused",
        now -> now.engine().map(EngineStats::overruns).orElse(0L));
  }

  private void engineBytes(
      MeterRegistry registry, Tags its, String text, ToLongFunction<EngineStats> figure) {
    gauge(
        registry,
        "prmalloc.engine.memory",
        its,
        text,
        BaseUnits.BYTES,
        now -> now.engine().map(figure::applyAsLong).orElse(0L));
  }

  private void bindMemory(MeterRegistry registry) {
    bytes(
        registry,
        "prmalloc.memory.reserved",
        "taken from the system by the pool's sub-allocator",
        now -> now.memory().bytesReserved());
    bytes(
        registry,
        "prmalloc.memory.reserved.peak",
        "the most that was reserved",
        now -> now.memory().peakBytesReserved());
    bytes(
        registry,
        "prmalloc.memory.committed",
        "reserved, without the pages that were given back",
        PoolSnapshot::committedBytes);
    bytes(registry, "prmalloc.memory.used", "given out", now -> now.memory().bytesInUse());
    bytes(
        registry,
        "prmalloc.memory.used.peak",
        "a bound for the most that was given out at a time",
        now -> now.memory().peakBytesInUse());
    bytes(
        registry,
        "prmalloc.memory.limit",
        "the most the sub-allocator reserves; no number if it has no limit",
        now ->
            now.memory().bytesLimit().isPresent()
                ? now.memory().bytesLimit().getAsLong()
                : Double.NaN);
  }

  private void bindRequests(MeterRegistry registry) {
    String requests = "prmalloc.requests";
    String text = "requests, by what they found";
    Tags hit = tags.and("result", "hit");
    counter(registry, requests, hit, text, now -> now.requests().hits());
    Tags miss = tags.and("result", "miss");
    counter(registry, requests, miss, text, now -> now.requests().misses());
    Tags nullBin = tags.and("result", "null_bin");
    counter(registry, requests, nullBin, text, now -> now.requests().nullBins());
    Tags small = tags.and("result", "small");
    counter(registry, requests, small, text, now -> now.requests().smallRequests());
    counter(
        registry,
        "prmalloc.requests.unpooled",
        tags,
        "requests that the live heap served, for whatever reason",
        now -> now.requests().unpooledRequests());
  }

  private void bindNullBins(MeterRegistry registry) {
    for (Long most : pool.snapshot().nullBinsBySize().keySet()) {
      counter(
          registry,
          "prmalloc.null.bins",
          tags.and("size", most.toString()),
          "requests of sizes that the plan does not know, by the most bytes of a power of two",
          now -> now.nullBinsBySize().get(most));
    }
  }

  private void bindPlanner(MeterRegistry registry) {
    for (Phase phase : Phase.values()) {
      gauge(
          registry,
          "prmalloc.planner.phase",
          tags.and("phase", phase.name().toLowerCase(Locale.ROOT)),
          "1 for the phase in which the planner is, else 0",
          null,
          now -> now.phase() == phase ? 1 : 0);
    }
    gauge(
        registry,
        "prmalloc.planner.packed.steps",
        tags,
        "steps that the planner has packed",
        null,
        now -> now.requests().packedSteps());
    counter(
        registry,
        "prmalloc.planner.failures",
        tags,
        "attempts to learn a plan that failed",
        PoolSnapshot::learningFailures);
    bytes(
        registry,
        "prmalloc.plan.arena",
        "reserved for the plan",
        now -> now.requests().arenaBytes());
  }

  private void bindPlanStore(MeterRegistry registry) {
    for (String result : pool.snapshot().planStore().keySet()) {
      counter(
          registry,
          "prmalloc.plan.store",
          tags.and("result", result),
          "plans published, taken and refused, and looks at a store that was away",
          now -> now.planStore().get(result));
    }
  }

  private void bindSteps(MeterRegistry registry) {
    String steps = "prmalloc.steps";
    String text = "steps that asked for an arena of planned steps, by whether they got one";
    Tags planned = tags.and("kind", "planned");
    counter(registry, steps, planned, text, now -> now.steps().plannedSteps());
    Tags unplanned = tags.and("kind", "unplanned");
    counter(registry, steps, unplanned, text, now -> now.steps().unplannedSteps());
    counter(
        registry,
        "prmalloc.steps.departed",
        tags,
        "planned steps that asked for something else than planned",
        now -> now.steps().departedSteps());
    counter(
        registry,
        "prmalloc.steps.departed.requests",
        tags,
        "requests of departed steps that were served from elsewhere",
        now -> now.steps().departedRequests());
    counter(
        registry,
        "prmalloc.steps.raised",
        tags,
        "plans of steps replaced by ones for larger or longer steps",
        now -> now.steps().raisedPlans());
    counter(
        registry,
        "prmalloc.steps.lowered",
        tags,
        "plans of steps replaced by smaller ones",
        now -> now.steps().loweredPlans());
    counter(
        registry,
        "prmalloc.steps.replans",
        tags,
        "plans of steps replaced, and kinds of steps learnt anew",
        now -> now.steps().replans());
    gauge(
        registry,
        "prmalloc.steps.plans",
        tags,
        "kinds of steps with a plan",
        null,
        now -> now.steps().plans());
    gauge(
        registry,
        "prmalloc.steps.arenas",
        tags,
        "arenas of planned steps",
        null,
        now -> now.steps().arenas());
    bytes(
        registry,
        "prmalloc.steps.arena.memory",
        "reserved for arenas of planned steps",
        now -> now.steps().arenaBytes());
  }

  private static void bindFaults(MeterRegistry registry) {
    faults(registry, "minor", process -> OperatingSystem.processUsage().minorFaults());
    faults(registry, "major", process -> OperatingSystem.processUsage().majorFaults());
  }

  /** Once a registry, for all pools: it looks at no pool, and outlives each. */
  private static void faults(MeterRegistry registry, String kind, ToDoubleFunction<Object> count) {
    String faults = "prmalloc.process.page.faults";
    if (registry.find(faults).tag("kind", kind).functionCounter() == null) {
      FunctionCounter.builder(faults, OperatingSystem.class, count)
          .tags("kind", kind)
          .description("page faults of the process, the JVM's own among them")
          .register(registry);
    }
  }

  private void bytes(
      MeterRegistry registry, String meter, String text, ToDoubleFunction<PoolSnapshot> figure) {
    gauge(registry, meter, tags, text, BaseUnits.BYTES, figure);
  }

  private void gauge(
      MeterRegistry registry,
      String meter,
      Tags itsTags,
      String text,
      String unit,
      ToDoubleFunction<PoolSnapshot> figure) {
    RecentSnapshot snapshots = recent;
    Gauge.builder(meter, pool, looked -> figure.applyAsDouble(snapshots.of(looked)))
        .tags(itsTags)
        .description(text)
        .baseUnit(unit)
        .register(registry);
  }

  private void counter(
      MeterRegistry registry,
      String meter,
      Tags itsTags,
      String text,
      ToDoubleFunction<PoolSnapshot> figure) {
    RecentSnapshot snapshots = recent;
    FunctionCounter.builder(meter, pool, looked -> figure.applyAsDouble(snapshots.of(looked)))
        .tags(itsTags)
        .description(text)
        .register(registry);
  }
}
