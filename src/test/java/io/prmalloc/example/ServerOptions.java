package io.prmalloc.example;

import io.prmalloc.example.model.ModelFile;
import io.prmalloc.example.model.SampleNetwork;

/**
 * How a server is run.
 *
 * @param memory where buffers and tensors come from
 * @param engine where the tensors between a model's operators lie
 * @param model what is served, or null for the two networks of {@link SampleNetwork}
 * @param port on the loopback address; 0 for any free one
 * @param workers threads that run models, from 1
 * @param limits what clients may do
 * @param planStore where the pool's plans are shared, a directory or an address of Redis; null for
 *     nowhere
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
}
