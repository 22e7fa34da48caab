package io.prmalloc.jmh.engine;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.HugePages;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.onnxruntime.EngineRun;
import io.prmalloc.onnxruntime.OrtEnvironmentAllocator;
import io.prmalloc.onnxruntime.OrtSharedArena;
import io.prmalloc.pool.TensorPoolAllocator;

/**
 * The memory of an arm within its own process: makes the sessions, and counts the engine's calls to
 * Java. Close it after the sessions.
 *
 * <p>Threading: any thread.
 */
final class ArmMemory implements AutoCloseable {

  private final Arm arm;
  private final OrtEnvironment environment;
  private final OrtSharedArena shared;
  private final TensorPoolAllocator pool;
  private final OrtEnvironmentAllocator engine;

  ArmMemory(Arm arm, Workload.Memory memory, OrtEnvironment environment) throws OrtException {
    this.arm = arm;
    this.environment = environment;
    shared =
        arm == Arm.SHARED
            ? OrtSharedArena.settings().extendAsRequested().install(environment)
            : null;
    pool = arm == Arm.POOL ? pool(memory) : null;
    engine = pool == null ? null : OrtEnvironmentAllocator.install(environment, pool);
  }

  private static TensorPoolAllocator pool(Workload.Memory memory) {
    return switch (memory) {
      case DIRECT -> TensorPoolAllocator.builder().build();
      case MMAP -> mapped(MmapOptions.DEFAULT);
      case HUGE -> mapped(MmapOptions.DEFAULT.withHugePages(HugePages.THP));
    };
  }

  private static TensorPoolAllocator mapped(MmapOptions options) {
    return TensorPoolAllocator.builder().subAllocator(SubAllocator.mmap(options)).build();
  }

  OrtSession createSession(String file, int engineThreads) throws OrtException {
    // The options may go once the session is made.
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setIntraOpNumThreads(engineThreads);
      switch (arm) {
        case OWN_NO_PATTERN -> options.setMemoryPatternOptimization(false);
        case NO_ARENA -> options.setCPUArenaAllocator(false);
        case SHARED -> shared.join(options);
        case POOL -> {
          return engine.createSession(file, options);
        }
        case OWN -> {}
      }
      return environment.createSession(file, options);
    }
  }

  /** Opens a run on this thread, where the arm has any; else null. */
  EngineRun openRun(String model) throws OrtException {
    return engine == null ? null : engine.openRun(model);
  }

  /** Allocations that came to Java so far. */
  long calls() {
    return engine == null ? 0 : engine.stats().requests();
  }

  @Override
  public void close() {
    if (shared != null) {
      shared.close();
    }
    if (engine != null) {
      engine.close();
      pool.close();
    }
  }
}
