package io.prmalloc.onnxruntime;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import com.sun.jna.Pointer;
import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.os.RepeatedPages;
import io.prmalloc.pool.EngineStats;
import io.prmalloc.pool.TensorPoolAllocator;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The pool inside ONNX Runtime: the tensors between a session's operators come from it, and no
 * longer from the engine's own arena.
 *
 * <pre>{@code
 * OrtEnvironmentAllocator engine = OrtEnvironmentAllocator.install(environment, pool);
 * OrtSession session = engine.createSession(model, new OrtSession.SessionOptions());
 * }</pre>
 *
 * <p>A run inside an {@link EngineRun}, which {@link Inference#run} opens, is a step of the pool:
 * where shapes vary, after a few runs all its tensors lie in one planned arena, whatever the shape.
 * Runs that repeat one shape are served from the pool's heap and its own plan, other runs from the
 * heap. Weights do not lie in the pool.
 *
 * <p>Where the pool's limit is reached, memory comes from beyond it, for ONNX Runtime would end the
 * process; the run is ended at the next operator, so what is taken beyond is one operator's at
 * most. What is large gets addresses with little memory behind them, for nobody reads what is
 * written there. {@link #stats} counts it all, as asked for.
 *
 * <p>There is one at a time in a process, as there is one environment. Close the sessions, then
 * this, then the pool.
 *
 * <p>Threading: any thread.
 */
public final class OrtEnvironmentAllocator implements AutoCloseable {

  private static final System.Logger LOGGER =
      System.getLogger(OrtEnvironmentAllocator.class.getName());

  private static final String ENGINE = "onnxruntime";

  /** Guarded by the class; read by any thread. */
  private static volatile OrtEnvironmentAllocator installed;

  private final OrtEnvironment environment;
  private final TensorPoolAllocator pool;
  private final OrtFunctions functions;
  private final Pointer memoryInfo;

  private final OutsideMemory weights = new OutsideMemory();

  /** What lies beyond the limit. */
  private final OutsideMemory beyond = new OutsideMemory();

  // No LongAdder, which may want heap when memory was taken already.
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong tensors = new AtomicLong();
  private final AtomicLong tensorBytes = new AtomicLong();
  private final AtomicLong overruns = new AtomicLong();

  /** How many sessions the thread is making. */
  private final ThreadLocal<int[]> making = ThreadLocal.withInitial(() -> new int[1]);

  private OrtEnvironmentAllocator(OrtEnvironment environment, TensorPoolAllocator pool)
      throws OrtException {
    this.environment = environment;
    this.pool = pool;
    this.functions = OrtFunctions.of(environment);
    this.memoryInfo = functions.cpuMemoryInfo(OrtFunctions.DEVICE_ALLOCATOR);
  }

  /**
   * Offers a pool to the sessions of an environment. Those join that are made with {@link #join}.
   *
   * <p>Threading: any thread, before the sessions are made.
   *
   * @param pool must tell addresses: of direct memory with Agrona's flag or through JNA, or of any
   *     other kind; stays the caller's
   * @throws IllegalStateException if one is installed
   * @throws UnsupportedOperationException if native calls do not work here, or ONNX Runtime is
   *     older than 1.17 or hides its C API; the message says what helps
   * @throws OrtException if ONNX Runtime refuses, since it has an allocator already, say; nothing
   *     has changed then
   */
  public static OrtEnvironmentAllocator install(
      OrtEnvironment environment, TensorPoolAllocator pool) throws OrtException {
    Objects.requireNonNull(environment, "environment");
    Objects.requireNonNull(pool, "pool");
    OperatingSystem.requireNativeCalls("an allocator of ONNX Runtime's");
    synchronized (OrtEnvironmentAllocator.class) {
      if (installed != null) {
        throw new IllegalStateException(
            "ONNX Runtime has an allocator already, over pool " + installed.pool.name());
      }
      // Fails where the pool cannot tell addresses.
      pool.deallocateRaw(pool.allocateRaw(Allocator.DEFAULT_ALIGNMENT, 1));
      OrtEnvironmentAllocator made = new OrtEnvironmentAllocator(environment, pool);
      made.functions.register(Upcalls.allocator(made.new Calls()));
      pool.attachEngine(made::stats);
      installed = made;
      return made;
    }
  }

  /** The one that is installed, if any. Threading: any thread. */
  public static Optional<OrtEnvironmentAllocator> installed() {
    return Optional.ofNullable(installed);
  }

  /** The pool that serves. Threading: any thread. */
  public TensorPoolAllocator pool() {
    return pool;
  }

  /**
   * Lets sessions that are made with these options take their memory here, and switches their
   * memory pattern off, with which the engine asks for one block per run whose size it knows from
   * an earlier run of the same shape: shapes that vary then need twice the memory and time. Where
   * shapes never vary and calls from the engine are dear (Java before 22), it may be switched on
   * again afterwards.
   *
   * <p>Threading: one thread at a time for the same options.
   *
   * @return the options
   * @throws OrtException if ONNX Runtime refuses
   */
  public OrtSession.SessionOptions join(OrtSession.SessionOptions options) throws OrtException {
    OrtFunctions.useEnvironmentAllocators(options);
    options.setMemoryPatternOptimization(false);
    return options;
  }

  /**
   * Makes a session that {@linkplain #join joins}, with its weights apart from the pool.
   *
   * <p>Threading: any thread.
   *
   * @param model in ONNX's format
   * @param options which are joined, too; stay the caller's
   * @throws OrtException if ONNX Runtime refuses the model
   */
  public OrtSession createSession(byte[] model, OrtSession.SessionOptions options)
      throws OrtException {
    return making(() -> environment.createSession(model, join(options)));
  }

  /**
   * As {@link #createSession(byte[], OrtSession.SessionOptions)}, from a file.
   *
   * <p>Threading: any thread.
   *
   * @param path of the file
   * @param options which are joined, too; stay the caller's
   * @throws OrtException if ONNX Runtime refuses the model
   */
  public OrtSession createSession(String path, OrtSession.SessionOptions options)
      throws OrtException {
    return making(() -> environment.createSession(path, join(options)));
  }

  /** Makes a session in a way of the caller's. */
  @FunctionalInterface
  public interface SessionMaker<T, E extends Exception> {
    /** Makes it. Threading: the caller of {@link #making}. */
    T make() throws E;
  }

  /**
   * Has something done that makes sessions: what ONNX Runtime asks for meanwhile on this thread are
   * weights. For sessions that another library makes, such as DJL.
   *
   * <p>Threading: any thread.
   *
   * @return what the maker returns
   * @throws E if the maker throws it
   */
  public <T, E extends Exception> T making(SessionMaker<T, E> maker) throws E {
    int[] depth = making.get();
    depth[0]++;
    try {
      return maker.make();
    } finally {
      depth[0]--;
    }
  }

  /**
   * Opens a run on this thread: a step of the pool.
   *
   * <p>Threading: any thread; the run belongs to it.
   *
   * @param key equal for runs whose tensors are alike, such as the session or its name
   * @throws OrtException if ONNX Runtime has no options to give
   */
  public EngineRun openRun(Object key) throws OrtException {
    return openRun(key, null);
  }

  EngineRun openRun(Object key, OrtSession.RunOptions options) throws OrtException {
    var step = pool.collect(key);
    try {
      return new EngineRun(step, options, this::stats);
    } catch (Throwable failure) {
      step.close();
      throw failure;
    }
  }

  /** What was taken so far. Threading: any thread; the numbers may be of different moments. */
  public EngineStats stats() {
    return new EngineStats(
        ENGINE,
        tensorBytes.get(),
        tensors.get(),
        weights.bytes(),
        beyond.bytes(),
        beyond.peakBytes(),
        overruns.get(),
        requests.get());
  }

  /**
   * Withdraws the pool: sessions that are made from here on have the engine's own memory. Sessions
   * that joined before still take theirs here, so close them first. Nothing the second time, nor in
   * a shutdown hook, where the environment may be gone.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if ONNX Runtime refuses; it may be tried again
   */
  @Override
  public void close() {
    synchronized (OrtEnvironmentAllocator.class) {
      if (installed != this) {
        return;
      }
      try {
        functions.unregister(memoryInfo);
      } catch (OrtException refused) {
        throw new IllegalStateException("ONNX Runtime keeps its allocator", refused);
      }
      installed = null;
    }
  }

  /** What the engine calls. */
  private final class Calls implements EngineCalls {

    @Override
    public long allocate(long self, long bytes) {
      requests.incrementAndGet();
      if (bytes == 0) {
        return 0;
      }
      Throwable refused = null;
      try {
        if (making.get()[0] > 0) {
          return weights.take(bytes);
        }
        long address = pool.allocateRaw(Allocator.DEFAULT_ALIGNMENT, bytes);
        if (address != 0) {
          tensors.incrementAndGet();
          tensorBytes.addAndGet(bytes);
          return address;
        }
      } catch (Throwable failure) {
        refused = failure;
      }
      return allocateBeyond(bytes, refused);
    }

    @Override
    public void free(long self, long address) {
      try {
        if (address != 0 && !weights.giveBack(address) && !beyond.giveBack(address)) {
          long bytes = pool.deallocateRawSized(address);
          tensors.decrementAndGet();
          tensorBytes.addAndGet(-bytes);
        }
      } catch (Throwable failure) {
        log("memory of ONNX Runtime's was not taken back", failure);
      }
    }

    @Override
    public long info(long self) {
      return Pointer.nativeValue(memoryInfo);
    }
  }

  /**
   * Null would end the process.
   *
   * @param refused what the pool threw; null if it has no memory
   */
  private long allocateBeyond(long bytes, Throwable refused) {
    EngineRun run = null;
    boolean ended = false;
    long address = 0;
    try {
      run = EngineRun.current();
      ended = run != null && run.refuse(bytes);
    } catch (Throwable failure) {
      log("a run of ONNX Runtime's cannot be ended", failure);
    }
    try {
      address = takeBeyond(bytes, run);
      // Counted at 1, 2, 4 and so on, for a run that cannot be ended goes on and on.
      boolean toBeLogged = Long.bitCount(overruns.incrementAndGet()) == 1;
      if (ended) {
        run.because(refused == null ? whyRefused(bytes) : refused);
      } else if (run == null && toBeLogged) {
        log(
            "ONNX Runtime goes beyond the pool's limit in a run that cannot be ended",
            refused == null ? whyRefused(bytes) : refused);
      }
    } catch (Throwable failure) {
      log("memory of ONNX Runtime's was refused", failure);
    }
    return address;
  }

  /**
   * Memory, but for a run that is ended: the operator that asks still writes, and nobody reads.
   *
   * @param run may be null
   */
  private long takeBeyond(long bytes, EngineRun run) {
    boolean large = bytes > RepeatedPages.MEMORY_BYTES;
    if (large && run != null && run.isDoomedWithoutStrings()) {
      long address = takeRepeated(bytes);
      if (address != 0) {
        return address;
      }
    }
    long address = beyond.take(bytes);
    return address == 0 && run != null && run.isDoomed() ? takeRepeated(bytes) : address;
  }

  private long takeRepeated(long bytes) {
    try {
      return beyond.takeRepeated(bytes);
    } catch (Throwable failure) {
      // No heap, say.
      return 0;
    }
  }

  /** A raw allocation does not say what refused it; a handle does. */
  private Throwable whyRefused(long bytes) {
    try (Allocation granted = pool.allocate(bytes)) {
      AllocatorStats now = pool.stats();
      return new OutOfNativeMemoryException(
          granted.sizeBytes(), now.bytesReserved(), now.bytesLimit().orElse(-1), null);
    } catch (RuntimeException refused) {
      return refused;
    }
  }

  private static void log(String what, Throwable why) {
    try {
      LOGGER.log(Level.WARNING, what, why);
    } catch (Throwable noLog) {
      // Nothing may be thrown into the engine.
    }
  }
}
