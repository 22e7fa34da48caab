package io.prmalloc.pool;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.lifetime.ScopedMemoryCollector;

/** What {@link LimitedPoolTest} runs under a limit of the JVM: steps of two tensors each. */
final class LimitedPoolMain {

  private LimitedPoolMain() {}

  /**
   * Says how many steps were refused.
   *
   * @param arguments MiB of a tensor, and how many steps once there is a plan
   */
  public static void main(String[] arguments) throws InterruptedException {
    long bytes = Long.parseLong(arguments[0]) << 20;
    int steps = Integer.parseInt(arguments[1]);
    int refusals = 0;
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(5).stableStatisticStep(3).build()) {
      for (int left = steps; left > 0; left -= pool.isPooling() ? 1 : 0) {
        ScopedMemoryCollector step = pool.collect();
        try (Allocation first = pool.allocate(bytes);
            Allocation second = pool.allocate(bytes)) {
          first.byteBuffer().putInt(0, 1);
          second.byteBuffer().putInt(0, 1);
          // For the planner, which has a thread of its own.
          Thread.sleep(2);
        } catch (OutOfNativeMemoryException refused) {
          refusals++;
          System.err.println(refused.getMessage());
        } finally {
          step.close();
        }
      }
      System.out.print(
          refusals
              + " refused, pooling "
              + pool.isPooling()
              + ", arena "
              + pool.poolStats().arenaBytes());
    }
  }
}
