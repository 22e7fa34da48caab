package io.prmalloc;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.LeakDetection;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import java.time.Duration;

/** An application as {@link RedeployTest} deploys it, each time with a class loader of its own. */
public final class DeployedMain implements Runnable {

  private final String part;

  /** For the deployer. */
  public DeployedMain(String part) {
    this.part = part;
  }

  @Override
  public void run() {
    switch (part) {
      case "direct" -> serve(builder(), 100_000);
      case "large" -> serve(builder().executor(Runnable::run), 40 << 20);
      case "mmap" -> serve(builder().subAllocator(SubAllocator.mmap(MmapOptions.DEFAULT)), 100_000);
      case "malloc" -> serve(builder().subAllocator(SubAllocator.posixMemalign()), 100_000);
      case "watched" ->
          serve(
              builder()
                  .jmx("deployed")
                  .trimAfterIdle(Duration.ofMillis(1))
                  .leakDetection(LeakDetection.PARANOID)
                  .softLimit(0, (reserved, limit) -> {}),
              100_000);
      case "recorded" -> serve(builder(), 1000);
      case "global" -> global();
      default -> throw new IllegalArgumentException("no part " + part);
    }
    Prmalloc.shutdown();
  }

  private static TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder()
        .startStatisticStep(2)
        .stableStatisticStep(2)
        .maxStatisticStep(5);
  }

  private static void serve(TensorPoolBuilder builder, int bytes) {
    try (TensorPoolAllocator pool = builder.build()) {
      for (int i = 0; i < 50; i++) {
        try (ScopedMemoryCollector step = pool.collect();
            Allocation input = pool.allocate(bytes);
            Allocation small = pool.allocate(300)) {
          input.byteBuffer().put(0, (byte) 1);
          small.byteBuffer().put(0, (byte) 1);
          step.allocate(bytes / 2).close();
        }
      }
    }
  }

  private static void global() {
    try (Allocation allocation = AllocatorRegistry.global().allocator().allocate(100_000)) {
      allocation.byteBuffer().put(0, (byte) 1);
    }
  }
}
