package io.prmalloc.pool;

import io.prmalloc.Isolation;
import io.prmalloc.SoftLimit;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.lifecycle.Maintenance;
import io.prmalloc.internal.lifecycle.PlanSharing;
import io.prmalloc.internal.lifecycle.ReplanSettings;
import io.prmalloc.internal.os.CgroupMemory;
import io.prmalloc.internal.poolplan.PlanChoice;
import io.prmalloc.internal.steps.StepSettings;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.PlanFormatException;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Settings of a {@link TensorPoolAllocator}. A time of more than a hundred years is taken for a
 * hundred.
 *
 * <p>Threading: not safe.
 */
public final class TensorPoolBuilder {

  private static final Logger LOGGER = System.getLogger(TensorPoolBuilder.class.getName());
  private static final String PLAN_PROPERTY = "prmalloc.plan";
  private static final String PLAN_IF_USABLE_PROPERTY = "prmalloc.planIfUsable";
  private static final String ISOLATION_PROPERTY = "prmalloc.isolation";
  private static final KeptPlan NOTHING = new KeptPlan(Optional.empty(), List.of());

  private SubAllocator source;
  private MemoryPlanner planner;
  private Executor executor;
  private PlannerSettings settings;
  private double maxOversize = 2;
  private LeakDetection leakDetection;
  private Isolation isolation;
  private Consumer<Leak> leakListener = leak -> {};
  private PoolPolicies policies;
  private boolean replan = true;
  private ReplanSettings replanWhen = ReplanSettings.DEFAULTS;
  private Maintenance.Starter maintenance = Maintenance::start;
  private PlanSwitchOver.Chooser chooser = PlanChoice::best;
  private Supplier<OptionalLong> cgroupLimit = CgroupMemory::limitBytes;
  private KeptPlan kept;
  private boolean keptIfUsable;
  private PlanStore planStore;
  private String model;
  private PlanSharing.Pace sharingPace = PlanSharing.Pace.DEFAULT;
  private StepSettings steps = StepSettings.DEFAULTS;
  private Duration purgeAfter = Duration.ofSeconds(10);
  private Duration trimAfterIdle;
  private String beanName;
  private long softLimitBytes;
  private SoftLimit softLimit;

  TensorPoolBuilder() {}

  private PlannerSettings settings() {
    if (settings == null) {
      settings = PlannerSettings.fromEnvironment();
    }
    return settings;
  }

  SubAllocator source() {
    SubAllocator plain = source != null ? source : SubAllocator.direct();
    return softLimit == null ? plain : plain.withSoftLimit(softLimitBytes, softLimit);
  }

  double maxOversize() {
    return maxOversize;
  }

  /** Null if each pool is to have one of its own. */
  Executor executor() {
    return executor;
  }

  PlannerSettings replanSettings() {
    PlannerSettings set = settings();
    return set.withEnabled(set.enabled() && replan);
  }

  ReplanSettings replanWhen() {
    return replanWhen;
  }

  TensorPoolBuilder replanWhen(ReplanSettings value) {
    replanWhen = value;
    return this;
  }

  PlanSwitchOver.Chooser chooser() {
    return chooser;
  }

  TensorPoolBuilder chooser(PlanSwitchOver.Chooser value) {
    chooser = value;
    return this;
  }

  Supplier<OptionalLong> cgroupLimit() {
    return cgroupLimit;
  }

  TensorPoolBuilder cgroupLimit(Supplier<OptionalLong> value) {
    cgroupLimit = value;
    return this;
  }

  Maintenance.Starter maintenance() {
    return maintenance;
  }

  TensorPoolBuilder maintenance(Maintenance.Starter value) {
    maintenance = value;
    return this;
  }

  PoolPolicies policies() {
    return policies != null ? policies : PoolPolicies.fromProperty();
  }

  /** The plan to start with. */
  Optional<KeptPlan> kept() {
    if (kept == null) {
      kept = keptByProperty();
    }
    return kept.isEmpty() ? Optional.empty() : Optional.of(kept);
  }

  private KeptPlan keptByProperty() {
    String file = System.getProperty(PLAN_PROPERTY);
    if (file == null || file.isEmpty()) {
      return NOTHING;
    }
    keptIfUsable = Boolean.getBoolean(PLAN_IF_USABLE_PROPERTY);
    return keptIfUsable ? loadIfUsable(Path.of(file)) : load(Path.of(file));
  }

  /** Whether the pool starts cold if it cannot start with {@link #kept}. */
  boolean isKeptIfUsable() {
    return keptIfUsable;
  }

  private static KeptPlan load(Path file) {
    try {
      return KeptPlan.load(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static KeptPlan loadIfUsable(Path file) {
    try {
      return KeptPlan.load(file);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      logCold(e);
      return NOTHING;
    }
  }

  /** Logs why a pool that was to start with a usable plan starts without one. */
  static void logCold(Throwable reason) {
    LOGGER.log(Level.WARNING, "no plan to start with, so the pool starts cold: " + reason);
  }

  StepSettings stepSettings() {
    return steps;
  }

  /** Zero for never. */
  Duration purgeAfter() {
    return purgeAfter;
  }

  /** Null for never. */
  Duration trimAfterIdle() {
    return trimAfterIdle;
  }

  /** Null for no bean. */
  String beanName() {
    return beanName;
  }

  MemoryPlanner makePlanner(Executor runs) {
    return planner != null ? planner : MemoryPlannerFactory.create(settings(), runs);
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
   * Tells when the sub-allocator has reserved more than it should; nothing is refused. See {@link
   * SubAllocator#withSoftLimit(long, SoftLimit)}. By default no listener is told.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   */
  public TensorPoolBuilder softLimit(long limitBytes, SoftLimit told) {
    if (limitBytes < 0) {
      throw new IllegalArgumentException(
          "limitBytes " + limitBytes + " is negative; the least is 0");
    }
    softLimitBytes = limitBytes;
    softLimit = told;
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
   * What makes plans, and reserves and frees their memory; default two daemon threads of its own,
   * one for what takes long, that end when idle, or when the pool is closed. On an executor of one
   * thread a step's arena waits for a plan that takes long. {@code Runnable::run} makes plans
   * within the close of a step. Stays the caller's.
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
   * Which plans compete for the shared pool; default what the system property {@code
   * prmalloc.policies} says, else {@link PoolPolicies#ALL}.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder policies(PoolPolicies value) {
    policies = value;
    return this;
  }

  /**
   * Whether the shared plan may change: a few more blocks if requests continue to miss, and another
   * plan, from new statistics, after three bad windows in a row; default true. A window ends when
   * 128 requests have found no block. It is bad if they are at least 2 % of all requests. Needs
   * {@link TensorPoolAllocator#collect steps}, as warm-up does.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder replan(boolean value) {
    replan = value;
    return this;
  }

  /**
   * Statistics are also collected anew when a part of the shared arena was unused for so long while
   * the pool was in use; a plan of fewer bytes then takes over. Waits become longer if there is no
   * smaller plan, or if the pool has to grow again. Slabs of small blocks that were unused for so
   * long are given back too. Default a minute, zero for never.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code value} is negative
   */
  public TensorPoolBuilder shrinkAfter(Duration value) {
    replanWhen = replanWhen.withIdle(Requests.notNegative("shrinkAfter", value));
    return this;
  }

  /**
   * Whether memory that steps ask for themselves is planned when they repeat, and what their
   * threads ask the allocator for if the sizes vary; default true. If not, it is shared memory.
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
   * After how long an arena that no step used is given back, or up to an eighth longer; default a
   * minute; with zero it is looked for when steps end. {@link TensorPoolAllocator#trimSteps} does
   * it at once.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code value} is negative
   */
  public TensorPoolBuilder stepArenaIdle(Duration value) {
    steps = steps.withIdle(Requests.notNegative("stepArenaIdle", value));
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
    steps = steps.withPlanningTime(Requests.notNegative("stepPlanningTime", value));
    return this;
  }

  /**
   * For how long memory of the heap under the plan stays resident for the next request after it was
   * last in use; default 10 seconds, zero for ever. After that its pages are given back to the
   * system, in the background, and regions with nothing in use to the sub-allocator.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code value} is negative
   */
  public TensorPoolBuilder purgeAfter(Duration value) {
    purgeAfter = Requests.notNegative("purgeAfter", value);
    return this;
  }

  /**
   * Lets the pool {@link TensorPoolAllocator#trim trim} itself when nothing was allocated or freed
   * for so long, or up to a quarter longer; once, until it is used again. Default never. A daemon
   * thread does this; it ends when the pool is closed or is no longer referenced.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if {@code value} is not more than 0
   */
  public TensorPoolBuilder trimAfterIdle(Duration value) {
    trimAfterIdle = Requests.moreThanZero("trimAfterIdle", value);
    return this;
  }

  /**
   * Shows the pool by JMX, as a {@link TensorPoolMXBean} of the platform's server, until it is
   * closed. Default not.
   *
   * <p>Threading: not safe.
   *
   * @param name value of the key {@code name} in the bean's name; of several pools with one name,
   *     the later ones get {@code -2}, {@code -3} and so on
   * @throws IllegalArgumentException if {@code name} is empty
   * @throws NullPointerException if {@code name} is null
   */
  public TensorPoolBuilder jmx(String name) {
    if (Objects.requireNonNull(name, "name").isEmpty()) {
      throw new IllegalArgumentException("the name of the bean is empty");
    }
    beanName = name;
    return this;
  }

  /**
   * Starts warm, with what another pool has learnt. Default what the file says that the system
   * property {@code prmalloc.plan} names, read as {@link #plan(Path)} does, or as {@link
   * #planIfUsable} does if {@code prmalloc.planIfUsable} is {@code true}; else nothing.
   *
   * <p>The plan need not fit this pool's traffic: a step with other requests departs, requests
   * without a block are served from elsewhere, and steps that depart too often are learnt anew.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder plan(KeptPlan value) {
    kept = value;
    keptIfUsable = false;
    return this;
  }

  /**
   * Starts warm, with a plan from a file.
   *
   * <p>Threading: not safe.
   *
   * @throws UncheckedIOException if the file cannot be read
   * @throws PlanFormatException if it is no plan, was cut short or changed
   */
  public TensorPoolBuilder plan(Path file) {
    return plan(load(file));
  }

  /**
   * Starts warm if the file can be read and holds a plan for which there is memory; else starts
   * cold, with one warning in the log that says why: no file or no permission to read it, no plan
   * in it, no Jackson on the class path, too large for the limit of the sub-allocator, of the JVM
   * or of the system.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder planIfUsable(Path file) {
    plan(loadIfUsable(file));
    keptIfUsable = true;
    return this;
  }

  /**
   * Shares plans with other replicas. While this pool learns it takes the plan of its model that is
   * in the store, or that appears there; what it learns itself it publishes, if that serves larger
   * steps than what is there, or the same in less memory. {@link #build} waits for the first look,
   * but for five seconds at most. Default no store.
   *
   * <p>A plan that is refused, since it is not valid or there is no memory for it, gives a warning,
   * and the pool learns as usual; so does a store that is unavailable. No request waits for the
   * store.
   *
   * <p>Threading: not safe.
   *
   * @param store stays the caller's, to be closed after the pool
   * @param model names the traffic: replicas share plans that give the same; from 1 to 100 letters,
   *     digits, {@code .}, {@code _} and {@code -}, the first a letter or digit
   * @throws IllegalArgumentException if {@code model} is none
   */
  public TensorPoolBuilder planStore(PlanStore store, String model) {
    if (!model.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")) {
      throw new IllegalArgumentException(
          "model `"
              + model
              + "` is not 1 to 100 letters, digits, `.`, `_` and `-` that begin with a letter or"
              + " digit");
    }
    this.planStore = store;
    this.model = model;
    return this;
  }

  /** Null for none. */
  PlanStore planStore() {
    return planStore;
  }

  /** The key of the model's plan in the store. */
  String planKey() {
    return model + ".v" + KeptPlan.FORMAT_VERSION;
  }

  PlanSharing.Pace sharingPace() {
    return sharingPace;
  }

  TensorPoolBuilder sharingPace(PlanSharing.Pace value) {
    sharingPace = value;
    return this;
  }

  /**
   * Which allocations are watched for leaks; default what the system property {@code
   * prmalloc.leakDetection} says ({@code off}, {@code simple} or {@code paranoid}), else {@link
   * LeakDetection#OFF}.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder leakDetection(LeakDetection value) {
    leakDetection = value;
    return this;
  }

  /**
   * Told of every leak, beside the log named {@code io.prmalloc.leak} and the flight recorder's
   * event {@code io.prmalloc.LeakFound}; by the thread that ends a step or closes the pool.
   *
   * <p>Threading: not safe.
   *
   * @param value must not throw
   */
  public TensorPoolBuilder leakListener(Consumer<Leak> value) {
    leakListener = value;
    return this;
  }

  /**
   * How users of this pool are kept apart; default what the system property {@value
   * #ISOLATION_PROPERTY} says, as {@link Isolation#parse} reads it, else {@link Isolation#NONE}.
   *
   * <p>Threading: not safe.
   */
  public TensorPoolBuilder isolation(Isolation value) {
    isolation = value;
    return this;
  }

  Isolation isolation() {
    return isolation != null
        ? isolation
        : Isolation.parse(System.getProperty(ISOLATION_PROPERTY, "none"));
  }

  LeakDetection leakDetection() {
    return leakDetection != null ? leakDetection : LeakDetection.fromProperty();
  }

  Consumer<Leak> leakListener() {
    return leakListener;
  }

  /**
   * Makes the allocator. If the system property {@value RecordProperty#NAME} is set, it records
   * from the start.
   *
   * <p>Threading: not safe.
   *
   * @throws IllegalArgumentException if a system property or environment variable holds nonsense
   * @throws UncheckedIOException if a plan is to be read from a file and cannot be, or a
   *     recording's file cannot be written
   * @throws PlanFormatException if such a file holds none
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory for the plan to start with
   * @throws IllegalStateException if the planner given belongs to another allocator
   * @throws UnsupportedOperationException if the sub-allocator cannot give memory here; see {@link
   *     SubAllocator#checkUsable}
   */
  public TensorPoolAllocator build() {
    EarlyInitialization.run();
    source().checkUsable();
    return RecordProperty.obey(new TensorPoolAllocator(this));
  }
}
