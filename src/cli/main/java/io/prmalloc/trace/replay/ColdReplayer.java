package io.prmalloc.trace.replay;

/**
 * Runs traffic through allocators, and measures each from its first step on.
 *
 * <p>The memory of the process is that of the allocator only if the process has run no other.
 *
 * <p>Threading: any thread, but not two at the same time in one process.
 */
public interface ColdReplayer {

  /**
   * Runs the traffic through one allocator.
   *
   * <p>Threading: one thread at a time in a process.
   *
   * @param allocator which one; a run of one that cannot be loaded here is skipped
   * @param progress told of the way, or null
   * @return the figures, or why there are none
   * @throws java.util.concurrent.CancellationException if {@code progress} says so; the run goes on
   *     in the background then, to its end
   * @throws InterruptedException if the calling thread is interrupted; the run goes on in the
   *     background then, to its end
   */
  ReplayRun run(ReplayAllocator allocator, ReplayProgress progress) throws InterruptedException;
}
