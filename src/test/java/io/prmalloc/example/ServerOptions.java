package io.prmalloc.example;

import io.prmalloc.example.model.ModelFile;
import io.prmalloc.example.model.OptionBounds;
import io.prmalloc.example.model.SampleNetwork;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.redis.RedisPlanStore;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * How a server is run.
 *
 * @param memory where buffers and tensors come from
 * @param engine where the tensors between a model's operators lie
 * @param model what is served, or null for the two networks of {@link SampleNetwork}
 * @param port on the loopback address, from 0 to 65535; 0 for any free one
 * @param workers threads that run models, from 1 to {@link #MAX_WORKERS}
 * @param limits what clients may do
 * @param planStore where the pool's plans are shared, a directory or an address of Redis; null for
 *     nowhere; only with a pool
 */
public record ServerOptions(
    MemoryKind memory,
    EngineMemory engine,
    ModelFile model,
    int port,
    int workers,
    ServerLimits limits,
    String planStore) {

  /** Requests that may wait for a worker; those beyond are told to come back. */
  static final int MAX_WAITING = 256;

  /** The most threads that run models. */
  public static final int MAX_WORKERS = 1024;

  /**
   * The environment's variable for a plan store: other users see command lines, and no variable.
   */
  public static final String PLAN_STORE_VARIABLE = "PRMALLOC_PLAN_STORE";

  private static final int MAX_PORT = 65_535;

  /** What begins as the address of a Redis, or of any other server. */
  private static final Pattern ADDRESS =
      Pattern.compile("rediss?(-[a-z]+)?:.*|[a-z][a-z0-9+.-]*://.*", Pattern.CASE_INSENSITIVE);

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a number is out of its bounds, or {@code planStore} is
   *     given and there is no pool
   */
  public ServerOptions {
    OptionBounds.check("port", port, 0, MAX_PORT);
    OptionBounds.check("workers", workers, 1, MAX_WORKERS);
    if (planStore != null && memory != MemoryKind.POOL) {
      // Without the store, which may be an address with a password.
      throw new IllegalArgumentException(
          "--plan-store is given with --allocator " + memory + ", not POOL");
    }
  }

  /** Plans are shared nowhere. */
  public ServerOptions(
      MemoryKind memory,
      EngineMemory engine,
      ModelFile model,
      int port,
      int workers,
      ServerLimits limits) {
    this(memory, engine, model, port, workers, limits, null);
  }

  /** The two networks, in the engine's own memory. */
  public ServerOptions(MemoryKind memory, int port, int workers, ServerLimits limits) {
    this(memory, EngineMemory.OWN, null, port, workers, limits);
  }

  /** Whether a plan store is given by an address; else it is a directory. Threading: any thread. */
  public static boolean isAddress(String planStore) {
    return ADDRESS.matcher(planStore).matches();
  }

  /**
   * A store that has not been asked for anything yet.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if it is neither a directory nor an address of Redis; does not
   *     show a password
   */
  public static PlanStore openPlanStore(String planStore) {
    return isAddress(planStore)
        ? RedisPlanStore.at(planStore)
        : PlanStore.directory(Path.of(planStore));
  }

  /** All but the plan store, whose address may have a password. Threading: any thread. */
  @Override
  public String toString() {
    return "ServerOptions[memory=%s, engine=%s, model=%s, port=%d, workers=%d, limits=%s, plans=%s]"
        .formatted(
            memory,
            engine,
            model,
            port,
            workers,
            limits,
            planStore == null ? "not shared" : "shared");
  }
}
