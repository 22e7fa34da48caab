package io.prmalloc.pool.process;

import io.prmalloc.Allocation;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Shares plans through the directory of its argument, and prints what came of the one there. */
final class HugePlanMain {

  /** Looks at the store, from when there is something to publish, until it ends. */
  private static final int LOOKS = 2;

  private HugePlanMain() {}

  public static void main(String[] arguments) throws InterruptedException {
    AtomicInteger reads = new AtomicInteger();
    try (PlanStore store = counting(PlanStore.directory(Path.of(arguments[0])), reads);
        TensorPoolAllocator pool =
            TensorPoolAllocator.builder().planStore(store, "model").build()) {
      while (pool.stepStats().plans() == 0) {
        step(pool);
      }
      int before = reads.get();
      while (reads.get() <= before + LOOKS || count(pool, "refused", "unavailable") == 0) {
        Thread.sleep(10);
        step(pool);
      }
      System.out.println(pool.snapshot().planStore());
    }
  }

  @SuppressWarnings("try") // a step is there to be closed
  private static void step(TensorPoolAllocator pool) {
    try (ScopedMemoryCollector step = pool.collect("key");
        Allocation tensor = step.allocate(1 << 20)) {
      tensor.byteBuffer().put(0, (byte) 1);
    }
  }

  private static long count(TensorPoolAllocator pool, String one, String other) {
    Map<String, Long> counts = pool.snapshot().planStore();
    return counts.get(one) + counts.get(other);
  }

  private static PlanStore counting(PlanStore store, AtomicInteger reads) {
    return new PlanStore() {
      @Override
      public Optional<byte[]> read(String key) throws IOException {
        reads.incrementAndGet();
        return store.read(key);
      }

      @Override
      public boolean replace(String key, Optional<byte[]> read, byte[] bytes) throws IOException {
        return store.replace(key, read, bytes);
      }

      @Override
      public void close() {
        store.close();
      }
    };
  }
}
