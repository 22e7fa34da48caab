package io.prmalloc.kept;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where replicas of a server share what they have learnt: a few bytes under each key, which are
 * replaced as a whole. A pool that is built with one reads the plan of its model while it learns,
 * and publishes its own where that serves more, or the same with less memory.
 *
 * <p>Nothing that comes from a store is trusted: a pool takes what {@link KeptPlan#decode} accepts,
 * and nothing that is larger than {@link #MAX_BYTES}. No request waits for a store: a pool asks it
 * on a thread of its own.
 *
 * <p>Threading: any thread; several pools, of this process and of others, may use one store.
 */
public interface PlanStore extends AutoCloseable {

  /** The most bytes that a pool reads or publishes under a key: 16 MiB, some 500,000 requests. */
  int MAX_BYTES = 16 << 20;

  /**
   * What is there under a key.
   *
   * <p>Threading: any thread; may block, and ends early if it is interrupted.
   *
   * @param key of letters, digits, {@code .}, {@code _} and {@code -}
   * @return at most the first {@link #MAX_BYTES} + 1 bytes; empty if there is nothing
   * @throws IOException if the store is away
   */
  Optional<byte[]> read(String key) throws IOException;

  /**
   * Puts other bytes under a key, if what is there is what the caller has read; atomic for all
   * processes.
   *
   * <p>Threading: as {@link #read}.
   *
   * @param read what {@link #read} returned
   * @return false if something else is there by now, or somebody else is about it, or the store is
   *     for reading only; nothing has changed then
   * @throws IOException if the store is away, or has no room; there are the old bytes or the new
   *     ones then
   */
  boolean replace(String key, Optional<byte[]> read, byte[] bytes) throws IOException;

  /**
   * Lets go of connections. Pools that use it must be closed before.
   *
   * <p>Threading: any thread.
   */
  @Override
  void close();

  /**
   * A store in a directory: one file for each key, {@code KEY.json}, in the format of {@link
   * KeptPlan#save}. Processes that write it at the same time must see each other's file locks, as
   * those of one machine and those on NFS do. A directory that cannot be written, as a mounted
   * ConfigMap, is for reading only, and so is a plan that is a symbolic link. It need not be there
   * yet.
   *
   * <p>Threading: any thread.
   */
  static PlanStore directory(Path directory) {
    return new DirectoryPlanStore(directory);
  }
}
