package io.prmalloc.onnxruntime;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensorLike;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.EngineStats;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One run of a session whose tensors come from an {@link OrtEnvironmentAllocator}: a step of its
 * pool, and the options with which the allocator can end the run where memory is refused. {@link
 * Inference} opens one by itself.
 *
 * <pre>{@code
 * try (EngineRun run = allocator.openRun("detector");
 *     OrtSession.Result result = run.run(session, inputs)) {
 *   answer(result);
 * }
 * }</pre>
 *
 * <p>Runs may be nested, and closed in any order.
 *
 * <p>Threading: the thread that opened it; another one may run and close it, too, though its
 * requests are not planned then.
 */
public final class EngineRun implements AutoCloseable {

  private static final ThreadLocal<EngineRun> CURRENT = new ThreadLocal<>();

  private final EngineRun outer = current();
  private final OrtSession.RunOptions options;
  private final boolean ownsOptions;
  private final ScopedMemoryCollector step;
  private final Supplier<EngineStats> stats;
  private final long start = FlightEvents.engineRunStart();
  private final Object runOrClose = new Object();
  private volatile boolean closed;

  /** Whether {@link #options} were handed out. */
  private volatile boolean optionsAreOut;

  /** Who runs a session, and nobody else reads what that gives if it is ended. */
  private volatile Thread runner;

  private boolean runsStrings;
  private boolean terminated;

  /** 0 if nothing was refused. */
  private long refusedBytes;

  private Throwable refusal;

  EngineRun(ScopedMemoryCollector step, OrtSession.RunOptions given, Supplier<EngineStats> stats)
      throws OrtException {
    if (given != null) {
      // Throws if they were closed; a run would use what they were.
      given.getLogVerbosityLevel();
    }
    this.step = step;
    this.stats = stats;
    this.ownsOptions = given == null;
    this.options = given == null ? new OrtSession.RunOptions() : given;
    CURRENT.set(this);
  }

  /** The innermost of the calling thread that is open, or null. */
  static EngineRun current() {
    // Another thread may have closed it, or an outer one was closed first.
    EngineRun run = CURRENT.get();
    while (run != null && run.closed) {
      run = run.outer;
    }
    return run;
  }

  private static void setCurrent(EngineRun run) {
    if (run == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(run);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("run was closed before");
    }
  }

  /**
   * For other ways to run the session than {@link #run}; {@link #check} afterwards. ONNX Runtime
   * must not use them after {@link #close}; this is not checked.
   *
   * <p>Threading: the thread that opened the run.
   *
   * @throws IllegalStateException if this is closed
   */
  public OrtSession.RunOptions options() {
    checkOpen();
    optionsAreOut = true;
    return options;
  }

  /**
   * Runs a session with the options of this run. What the engine asks for meanwhile on this thread
   * counts for this run, even if another one was opened later.
   *
   * <p>Threading: the thread that opened the run; another one waits for a run that is under way.
   *
   * @param inputs as the session's own {@code run} takes them
   * @return to be closed
   * @throws OrtException if ONNX Runtime fails, or memory was refused; the message names the limit
   * @throws IllegalStateException if this is closed, or the session is
   */
  public OrtSession.Result run(OrtSession session, Map<String, ? extends OnnxTensorLike> inputs)
      throws OrtException {
    return run(session, inputs, session.getOutputNames(), Map.of());
  }

  /**
   * As {@link #run(OrtSession, Map)}.
   *
   * @param outputs what is the engine's, by name
   * @param pinned where other outputs lie
   */
  OrtSession.Result run(
      OrtSession session,
      Map<String, ? extends OnnxTensorLike> inputs,
      Set<String> outputs,
      Map<String, ? extends OnnxValue> pinned)
      throws OrtException {
    synchronized (runOrClose) {
      checkOpen();
      EngineRun before = CURRENT.get();
      CURRENT.set(this);
      OrtSession.Result result;
      try {
        runsStrings = hasStrings(session);
        runner = Thread.currentThread();
        result = session.run(inputs, outputs, pinned, options);
      } catch (OrtException failure) {
        throw refused(failure);
      } finally {
        runner = null;
        setCurrent(before);
      }
      if (refusedBytes != 0) {
        result.close();
        check();
      }
      return result;
    }
  }

  /**
   * Ends the run at the next operator. Called by the engine, maybe where there is no heap left.
   *
   * @return false if that was done already
   */
  boolean refuse(long bytes) throws OrtException {
    if (refusedBytes != 0) {
      return false;
    }
    refusedBytes = bytes;
    options.setTerminate(true);
    terminated = true;
    return true;
  }

  /** Whether the calling thread's run was ended, so that nobody reads what it still writes. */
  boolean isDoomed() {
    return terminated && (optionsAreOut || runner == Thread.currentThread());
  }

  /**
   * Whether what the run writes, besides, may show at several addresses. Strings in C++ hold their
   * own address.
   */
  boolean isDoomedWithoutStrings() {
    return terminated && runner == Thread.currentThread() && !runsStrings;
  }

  /** Whether a session may have tensors of strings: they come from its inputs, or are outputs. */
  private static boolean hasStrings(OrtSession session) throws OrtException {
    return hasStrings(session.getInputInfo()) || hasStrings(session.getOutputInfo());
  }

  private static boolean hasStrings(Map<String, NodeInfo> nodes) {
    for (NodeInfo node : nodes.values()) {
      // Sequences and maps may hold strings.
      if (!(node.getInfo() instanceof TensorInfo tensor) || tensor.type == OnnxJavaType.STRING) {
        return true;
      }
    }
    return false;
  }

  /** Says why. */
  void because(Throwable why) {
    refusal = why;
  }

  /**
   * Sees whether memory was refused meanwhile, even if the run went on to its end.
   *
   * <p>Threading: the thread that opened the run.
   *
   * @throws OrtException if so; the message names the limit
   */
  public void check() throws OrtException {
    if (refusedBytes != 0) {
      throw refused(null);
    }
  }

  /** Whether memory was refused. */
  boolean wasRefused() {
    return refusedBytes != 0;
  }

  /** What to throw for what the session's {@code run} threw. */
  private OrtException refused(OrtException thrown) {
    if (refusedBytes == 0) {
      return thrown;
    }
    OrtException result =
        new OrtException(
            "the run was ended, for it was refused "
                + refusedBytes
                + " bytes"
                + (refusal == null ? "" : ": " + refusal.getMessage()));
    if (thrown != null) {
      result.addSuppressed(thrown);
    }
    return result;
  }

  /**
   * Ends the step. Nothing the second time.
   *
   * <p>Threading: the thread that opened the run; another one waits for a {@link #run} that is
   * under way.
   */
  @Override
  public void close() {
    synchronized (runOrClose) {
      if (!closed) {
        end();
      }
    }
  }

  /** Options can be used again if they were given. */
  private void end() {
    closed = true;
    setCurrent(current());
    try {
      if (ownsOptions) {
        options.close();
      } else if (refusedBytes != 0) {
        options.setTerminate(false);
      }
    } catch (OrtException e) {
      throw new IllegalStateException("run options of ONNX Runtime", e);
    } finally {
      step.close();
      if (start != 0) {
        tell(stats.get());
      }
    }
  }

  private void tell(EngineStats now) {
    FlightEvents.engineRun(
        start,
        now.engine(),
        now.tensorBytes(),
        now.weightBytes(),
        now.overrunPeakBytes(),
        refusedBytes != 0);
  }
}
