package io.prmalloc.jmh;

import io.prmalloc.jmh.rival.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * As {@link PairBenchmark}, but each pair has another size: 33 sizes from 4 KiB to 1 MiB, four to
 * each doubling, in an order that is shuffled once with a fixed seed. Each thread goes round the
 * list from a starting point of its own.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar MixedBenchmark -t 1
 * java -jar jmh/target/benchmarks.jar MixedBenchmark -t 8 -p rival=POOL_HANDLE,NETTY_ADAPTIVE
 * }</pre>
 *
 * <p>Threading: the allocator is shared by the threads of the benchmark.
 */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MixedBenchmark extends RivalBenchmark {

  private static final int LEAST_BYTES = 4 << 10;
  private static final int MOST_BYTES = 1 << 20;
  private static final int STEPS_TO_DOUBLE = 4;
  private static final int ROUNDS = 32;
  private static final long SEED = 20_26;

  private final long[] sizesBytes = shuffledSizes();

  static long[] shuffledSizes() {
    List<Long> sizes = new ArrayList<>();
    for (long doubled = LEAST_BYTES; doubled < MOST_BYTES; doubled *= 2) {
      for (int step = 0; step < STEPS_TO_DOUBLE; step++) {
        sizes.add(doubled + doubled / STEPS_TO_DOUBLE * step);
      }
    }
    sizes.add((long) MOST_BYTES);
    List<Long> all = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      all.addAll(sizes);
    }
    Collections.shuffle(all, new Random(SEED));
    return all.stream().mapToLong(Long::longValue).toArray();
  }

  /** A thread's place in the list. Threading: one thread. */
  @State(Scope.Thread)
  public static class Place {
    private int next;
    private long value;

    /** Spreads the threads over the list. Threading: one thread. */
    @Setup
    public void spread(MixedBenchmark benchmark, ThreadParams thread) {
      spread(benchmark, thread.getThreadIndex(), thread.getThreadCount());
    }

    void spread(MixedBenchmark benchmark, int thread, int threads) {
      next = (int) ((long) benchmark.sizesBytes.length * thread / threads);
    }
  }

  /**
   * Opens the allocator and lets it learn.
   *
   * <p>Threading: one thread, before all others.
   */
  @Setup
  public void open(BenchmarkParams params) {
    open(params.getThreads());
  }

  final void open(int threads) {
    open(Step.ofPairs(sizesBytes), threads);
  }

  /**
   * The measured operation.
   *
   * <p>Threading: any thread.
   *
   * @return what was read from the memory
   */
  @Benchmark
  public long pair(Place place) {
    int now = place.next;
    place.next = now + 1 == sizesBytes.length ? 0 : now + 1;
    return strategy.pair(sizesBytes[now], place.value++);
  }
}
