package io.prmalloc.pool;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.lifetime.ScopedMemoryCollector;

/** What {@link LimitedPoolTest} runs under a limit of the JVM: steps of two tensors each. */
final class LimitedPoolMain {

  private LimitedPoolMain() {}

  /**
   * Says how many steps were served.
   *
   * @param arguments MiB of a tensor, and how many steps
   */
  public static void main(String[] arguments) throws InterruptedException {
    long bytes = Long.parseLong(arguments[0]) << 20;
    int steps = Integer.parseInt(arguments[1]);
    int served = 0;
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(5).stableStatisticStep(3).build()) {
      for (int i = 0; i < steps; i++) {
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
          served
              + " of "
              + steps
              + ", pooling "
              + pool.isPooling()
              + ", arena "
              + pool.poolStats().arenaBytes());
    }
  }
}
