package io.prmalloc.onnxruntime;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import com.sun.jna.Pointer;
import io.prmalloc.internal.os.OperatingSystem;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * ONNX Runtime's own arena, shared by the sessions of an environment and with its settings, which
 * the engine's Java API does not offer. For users who want none of our memory inside the engine:
 * there are no calls from the engine into Java.
 *
 * <pre>{@code
 * OrtSharedArena arena =
 *     OrtSharedArena.settings().maxBytes(256L << 20).extendAsRequested().install(environment);
 * OrtSession session = environment.createSession(model, arena.join(new OrtSession.SessionOptions()));
 * }</pre>
 *
 * <p>Threading: any thread.
 */
public final class OrtSharedArena implements AutoCloseable {

  private final OrtFunctions functions;
  private final Pointer memoryInfo;
  private boolean closed;

  private OrtSharedArena(OrtFunctions functions, Pointer memoryInfo) {
    this.functions = functions;
    this.memoryInfo = memoryInfo;
  }

  /** Settings, all as ONNX Runtime has them by itself. Threading: any thread. */
  public static Settings settings() {
    return new Settings();
  }

  /** What {@code OrtArenaCfg} offers. Threading: one thread at a time. */
  public static final class Settings {

    private final Map<String, Long> values = new LinkedHashMap<>();

    private Settings() {}

    private Settings set(String name, long value, long least) {
      if (value < least) {
        throw new IllegalArgumentException(name + " " + value + " is less than " + least);
      }
      values.put(name, value);
      return this;
    }

    /**
     * The most bytes of the arena.
     *
     * @param bytes from 1
     */
    public Settings maxBytes(long bytes) {
      return set("max_mem", bytes, 1);
    }

    /** Regions grow to the next power of two. */
    public Settings extendByPowersOfTwo() {
      return set("arena_extend_strategy", 0, 0);
    }

    /** Regions are as large as what is asked for. */
    public Settings extendAsRequested() {
      return set("arena_extend_strategy", 1, 0);
    }

    /**
     * The size of the first region.
     *
     * @param bytes from 1
     */
    public Settings initialChunkBytes(long bytes) {
      return set("initial_chunk_size_bytes", bytes, 1);
    }

    /**
     * A chunk is split if more than so many bytes of it would be of no use.
     *
     * @param bytes from 0
     */
    public Settings maxDeadBytesPerChunk(long bytes) {
      return set("max_dead_bytes_per_chunk", bytes, 0);
    }

    /**
     * The size of the second region, or of the first after the arena shrank.
     *
     * @param bytes from 1
     */
    public Settings initialGrowthChunkBytes(long bytes) {
      return set("initial_growth_chunk_size_bytes", bytes, 1);
    }

    /**
     * The most by which it grows at a time.
     *
     * @param bytes from 1
     */
    public Settings maxPowerOfTwoExtendBytes(long bytes) {
      return set("max_power_of_two_extend_bytes", bytes, 1);
    }

    /**
     * Makes the arena and offers it to the sessions of an environment.
     *
     * @throws UnsupportedOperationException as {@link OrtEnvironmentAllocator#install}
     * @throws OrtException if ONNX Runtime refuses a setting, or has an allocator already
     */
    public OrtSharedArena install(OrtEnvironment environment) throws OrtException {
      OperatingSystem.requireNativeCalls("an arena of ONNX Runtime's");
      OrtFunctions functions = OrtFunctions.of(environment);
      Pointer memoryInfo = functions.cpuMemoryInfo(OrtFunctions.ARENA_ALLOCATOR);
      functions.registerArena(memoryInfo, values);
      return new OrtSharedArena(functions, memoryInfo);
    }
  }

  /**
   * Lets sessions that are made with these options share the arena.
   *
   * <p>Threading: one thread at a time for the same options.
   *
   * @return the options
   * @throws OrtException if ONNX Runtime refuses
   */
  public OrtSession.SessionOptions join(OrtSession.SessionOptions options) throws OrtException {
    OrtFunctions.useEnvironmentAllocators(options);
    return options;
  }

  /**
   * Withdraws the arena from sessions that are made from here on; it goes when the last session
   * that joined is closed. Nothing the second time, nor in a shutdown hook, where the environment
   * may be gone.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if ONNX Runtime refuses
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    try {
      functions.unregister(memoryInfo);
    } catch (OrtException refused) {
      throw new IllegalStateException("ONNX Runtime keeps its arena", refused);
    }
    closed = true;
  }
}
