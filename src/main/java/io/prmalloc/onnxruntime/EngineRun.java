package io.prmalloc.onnxruntime;

import ai.onnxruntime.OnnxTensorLike;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.EngineStats;
import java.util.Map;
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
 * <p>Threading: the thread that opened it.
 */
public final class EngineRun implements AutoCloseable {

  private static final ThreadLocal<EngineRun> CURRENT = new ThreadLocal<>();

  private final EngineRun outer = CURRENT.get();
  private final OrtSession.RunOptions options;
  private final boolean ownsOptions;
  private final ScopedMemoryCollector step;
  private final Supplier<EngineStats> stats;
  private final long start = FlightEvents.engineRunStart();
  private boolean closed;

  /** 0 if nothing was refused. */
  private long refusedBytes;

  private Throwable refusal;

  EngineRun(ScopedMemoryCollector step, OrtSession.RunOptions given, Supplier<EngineStats> stats)
      throws OrtException {
    this.step = step;
    this.stats = stats;
    this.ownsOptions = given == null;
    this.options = given == null ? new OrtSession.RunOptions() : given;
    CURRENT.set(this);
  }

  /** The calling thread's, or null. */
  static EngineRun current() {
    return CURRENT.get();
  }

  /**
   * For other ways to run the session than {@link #run}; {@link #check} afterwards.
   *
   * <p>Threading: the thread that opened the run.
   */
  public OrtSession.RunOptions options() {
    return options;
  }

  /**
   * Runs a session with the options of this run.
   *
   * <p>Threading: the thread that opened the run.
   *
   * @param inputs as the session's own {@code run} takes them
   * @return to be closed
   * @throws OrtException if ONNX Runtime fails, or memory was refused; the message names the limit
   */
  public OrtSession.Result run(OrtSession session, Map<String, ? extends OnnxTensorLike> inputs)
      throws OrtException {
    OrtSession.Result result;
    try {
      result = session.run(inputs, options);
    } catch (OrtException failure) {
      throw refused(failure);
    }
    if (refusedBytes != 0) {
      result.close();
      check();
    }
    return result;
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
    return true;
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

  /** What to throw for what the session's {@code run} threw. */
  OrtException refused(OrtException thrown) {
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
   * Ends the step. The options can be used again if they were given. Nothing the second time.
   *
   * <p>Threading: the thread that opened the run.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (outer == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(outer);
    }
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
