package io.prmalloc.pool.process;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import java.util.ArrayList;
import java.util.List;

/** The load of the sizing test: steps of which two run at a time. */
final class SizedMain {

  private static final int MIB = 1 << 20;
  private static final int[] STEP = {3 * MIB, 2 * MIB, 5 * MIB, MIB};

  /** What the load needs, as docs/containers.md has it. */
  record Need(long arena, long inFlight) {
    long bytes() {
      return arena + inFlight;
    }
  }

  private SizedMain() {}

  /** Prints how the load went in the memory that this JVM has. Threading: one thread. */
  public static void main(String[] arguments) {
    try (TensorPoolAllocator pool = builder().build()) {
      Need need = serve(pool);
      System.out.print(need.arena() > 0 && pool.poolStats().hits() > 0 ? "served" : "not pooled");
    } catch (OutOfNativeMemoryException refused) {
      System.out.print("refused");
    }
  }

  static TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder()
        .executor(Runnable::run)
        .startStatisticStep(2)
        .stableStatisticStep(2);
  }

  /** Until there is a plan, and as long again. */
  static Need serve(TensorPoolAllocator pool) {
    long inFlight = 0;
    try (Rounds rounds = new Rounds(pool)) {
      while (!pool.isPooling()) {
        inFlight = pool.stats().peakBytesReserved();
        rounds.next();
      }
      for (int i = 0; i < 20; i++) {
        rounds.next();
      }
    }
    return new Need(pool.poolStats().arenaBytes(), inFlight);
  }

  /** Steps of which the last one's tensors are out while the next one's are made. */
  private static final class Rounds implements AutoCloseable {
    private final TensorPoolAllocator pool;
    private List<Allocation> before = new ArrayList<>();

    Rounds(TensorPoolAllocator pool) {
      this.pool = pool;
    }

    void next() {
      List<Allocation> now = new ArrayList<>();
      ScopedMemoryCollector step = pool.collect();
      try {
        for (int bytes : STEP) {
          Allocation tensor = pool.allocate(bytes);
          now.add(tensor);
          tensor.byteBuffer().put(bytes - 1, (byte) 1);
        }
      } finally {
        step.close();
        close();
        before = now;
      }
    }

    @Override
    public void close() {
      before.forEach(Allocation::close);
      before.clear();
    }
  }
}
