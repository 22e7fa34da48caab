package io.prmalloc.onnxruntime;

import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.jfr.FlightEvents;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.EngineStats;
import java.util.function.Supplier;

/**
 * One run of a session whose tensors come from an {@link OrtEnvironmentAllocator}: a step of its
 * pool, and the options with which the allocator can end the run where memory is refused. {@link
 * Inference} opens one by itself.
 *
 * <pre>{@code
 * try (EngineRun run = allocator.openRun("detector");
 *     OrtSession.Result result = session.run(inputs, run.options())) {
 *   run.check();
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
  private String refusal;

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

  /** To be given to the session's {@code run}. Threading: the thread that opened the run. */
  public OrtSession.RunOptions options() {
    return options;
  }

  /** Ends the run at the next operator. Called by the engine. */
  void refuse(String why) throws OrtException {
    if (refusal == null) {
      refusal = why;
      options.setTerminate(true);
    }
  }

  /**
   * Sees whether memory was refused meanwhile, even if the run went on to its end.
   *
   * <p>Threading: the thread that opened the run.
   *
   * @throws OrtException if so; the message names the limit
   */
  public void check() throws OrtException {
    if (refusal != null) {
      throw refused(null);
    }
  }

  /** What to throw for what the session's {@code run} threw. */
  OrtException refused(OrtException thrown) {
    if (refusal == null) {
      return thrown;
    }
    OrtException result = new OrtException("the run was ended: " + refusal);
    if (thrown != null) {
      result.addSuppressed(thrown);
    }
    return result;
  }

  /**
   * Ends the step. The options can be used again if they were given.
   *
   * <p>Threading: the thread that opened the run.
   */
  @Override
  public void close() {
    if (outer == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(outer);
    }
    try {
      if (ownsOptions) {
        options.close();
      } else if (refusal != null) {
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
        refusal != null);
  }
}
