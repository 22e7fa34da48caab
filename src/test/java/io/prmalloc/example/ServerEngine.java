package io.prmalloc.example;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.onnxruntime.OrtEnvironmentAllocator;
import io.prmalloc.onnxruntime.OrtSharedArena;
import io.prmalloc.pool.TensorPoolAllocator;

/**
 * ONNX Runtime and where its tensors lie.
 *
 * <p>Threading: any thread.
 */
final class ServerEngine implements AutoCloseable {

  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();

  /** Null unless the engine's memory is that. */
  private final OrtSharedArena arena;

  /** Null unless the engine's memory is a pool. */
  private final OrtEnvironmentAllocator allocator;

  /** Null unless the engine has a pool that nothing else has. */
  private final TensorPoolAllocator ownPool;

  /**
   * @param pool the server's, or null
   * @throws OrtException if ONNX Runtime refuses the memory
   */
  ServerEngine(EngineMemory memory, TensorPoolAllocator pool) throws OrtException {
    arena =
        memory == EngineMemory.SHARED
            ? OrtSharedArena.settings().extendAsRequested().install(environment)
            : null;
    ownPool =
        memory == EngineMemory.POOL && pool == null ? TensorPoolAllocator.builder().build() : null;
    try {
      allocator =
          memory == EngineMemory.POOL
              ? OrtEnvironmentAllocator.install(environment, ownPool == null ? pool : ownPool)
              : null;
    } catch (Throwable e) {
      if (ownPool != null) {
        ownPool.close();
      }
      throw e;
    }
  }

  OrtEnvironment environment() {
    return environment;
  }

  /** What runs are to be opened with, or null. */
  OrtEnvironmentAllocator allocator() {
    return allocator;
  }

  /** The pool that only the engine has, or null. */
  TensorPoolAllocator ownPool() {
    return ownPool;
  }

  /** A session from bytes. */
  OrtSession createSession(byte[] model, OrtSession.SessionOptions options) throws OrtException {
    return allocator == null
        ? environment.createSession(model, joined(options))
        : allocator.createSession(model, options);
  }

  /** A session from a file. */
  OrtSession createSession(String path, OrtSession.SessionOptions options) throws OrtException {
    return allocator == null
        ? environment.createSession(path, joined(options))
        : allocator.createSession(path, options);
  }

  private OrtSession.SessionOptions joined(OrtSession.SessionOptions options) throws OrtException {
    return arena == null ? options : arena.join(options);
  }

  /** To be called when the sessions are closed, and before the server's pool is. */
  @Override
  public void close() {
    if (arena != null) {
      arena.close();
    }
    if (allocator != null) {
      allocator.close();
    }
    if (ownPool != null) {
      ownPool.close();
    }
  }
}
