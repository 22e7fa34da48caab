package io.prmalloc.pool.process;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.PoolStats;
import io.prmalloc.pool.TensorPoolAllocator;

/**
 * The program that {@link LimitedPoolTest} runs under a limit of the JVM: steps of two tensors
 * each.
 */
public final class LimitedPoolMain {

  private LimitedPoolMain() {}

  /**
   * Says how many steps were served.
   *
   * @param arguments MiB of a tensor, how many steps at least, and how many more at most until the
   *     plan has all of its memory: how long that takes is the machine's business
   */
  public static void main(String[] arguments) throws InterruptedException {
    long bytes = Long.parseLong(arguments[0]) << 20;
    int steps = Integer.parseInt(arguments[1]);
    int most = Integer.parseInt(arguments[2]);
    int served = 0;
    int tried = 0;
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(5).stableStatisticStep(3).build()) {
      while (tried < steps || (tried < steps + most && isLacking(pool))) {
        tried++;
        ScopedMemoryCollector step = pool.collect();
        try (Allocation first = pool.allocate(bytes);
            Allocation second = pool.allocate(bytes)) {
          first.byteBuffer().putInt(0, 1);
          second.byteBuffer().putInt(0, 1);
          served++;
          // For the planner, which has a thread of its own.
          Thread.sleep(2);
        } catch (OutOfNativeMemoryException refused) {
          System.err.println(refused.getMessage());
        } finally {
          step.close();
        }
      }
      System.out.print(
          (served == tried ? "all" : served + " of " + tried)
              + ", pooling "
              + pool.isPooling()
              + ", arena "
              + pool.poolStats().arenaBytes());
    }
  }

  private static boolean isLacking(TensorPoolAllocator pool) {
    PoolStats stats = pool.poolStats();
    return stats.planBytes() == 0 || stats.arenaBytes() < stats.planBytes();
  }
}
