package io.prmalloc.pool.process;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;

/**
 * The program that {@link FirstUseTest} runs in a JVM of its own, between two classes that mark the
 * log.
 */
final class FirstUseMain {

  /** Initialized when the pool is built. */
  static final class Built {
    static final long AT = System.nanoTime();

    private Built() {}
  }

  /** Initialized when the traffic is over. */
  static final class Served {
    static final long AT = System.nanoTime();

    private Served() {}
  }

  private FirstUseMain() {}

  public static void main(String[] arguments) {
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(SubAllocator.direct(64 << 20))
            .startStatisticStep(2)
            .stableStatisticStep(2)
            .maxStatisticStep(5)
            .executor(Runnable::run)
            .build();
    long built = Built.AT;
    for (int i = 0; i < 60; i++) {
      // Some that fit the plan, some larger, and some that are learnt anew.
      serve(pool, i < 30 ? 100_000 : 100_000 + 7000 * (i - 30));
      if (i == 40 && !pool.replan()) {
        throw new AssertionError("no plan to replace");
      }
    }
    refuse(pool);
    if (!pool.isPooling()) {
      throw new AssertionError(pool.dumpStats());
    }
    pool.trim();
    pool.close();
    System.out.print(Served.AT > built ? "done" : "");
  }

  private static void serve(TensorPoolAllocator pool, int bytes) {
    try (ScopedMemoryCollector step = pool.collect();
        Allocation large = pool.allocate(bytes);
        Allocation small = pool.allocate(300)) {
      large.byteBuffer().put(0, (byte) 1);
      small.byteBuffer().put(0, (byte) 1);
      step.allocate(70_000).close();
      pool.deallocateRaw(pool.allocateRaw(64, 5000));
      pool.deallocateRaw(pool.allocateRaw(64, 90_000));
    }
  }

  private static void refuse(TensorPoolAllocator pool) {
    try {
      pool.allocate(1 << 30).close();
      throw new AssertionError("1 GiB granted of 64 MiB");
    } catch (OutOfNativeMemoryException refused) {
      // As it should be.
    }
  }
}
