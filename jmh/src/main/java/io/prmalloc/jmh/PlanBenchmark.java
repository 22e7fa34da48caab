package io.prmalloc.jmh;

import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How does planning grow with the number of tensors, and with how many are alive at once? One plan
 * by offsets, largest tensors first, in milliseconds.
 *
 * <p>The tensors are random: one is born per task on average, each lives for up to {@link #longest}
 * tasks, sizes are up to 1 MiB; so half of {@link #longest} are alive at once. With {@link
 * #longest} 0 both the first and the last task are any, so that a third of all tensors is alive at
 * once. The seed is fixed.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar PlanBenchmark
 * java -jar jmh/target/benchmarks.jar PlanBenchmark -p tensors=1000000 -p longest=10000
 * java -jar jmh/target/benchmarks.jar PlanBenchmark -p longest=100,1000,10000,100000,0 -f 1 -wi 1
 * }</pre>
 *
 * <p>Threading: one thread.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 3)
@Fork(value = 3, jvmArgsPrepend = "-Xmx2g")
@State(Scope.Benchmark)
public class PlanBenchmark {

  /** How many tensors there are. */
  @Param({"1000", "10000", "100000", "1000000"})
  int tensors;

  /** For how many tasks a tensor lives at most; 0 for any first and last task. */
  @Param({"100", "1000", "0"})
  int longest;

  private List<TensorUsageRecord> records;

  /** Makes the tensors. Threading: one thread. */
  @Setup
  public void make() {
    Random random = new Random(1);
    records = new ArrayList<>(tensors);
    for (int i = 0; i < tensors; i++) {
      int size = 1 + random.nextInt(1 << 20);
      long first = random.nextInt(tensors);
      long last = longest == 0 ? random.nextInt(tensors) : first + random.nextInt(longest);
      records.add(new TensorUsageRecord(size, Math.min(first, last), Math.max(first, last)));
    }
  }

  /**
   * The measured operation.
   *
   * <p>Threading: one thread.
   *
   * @return the plan
   */
  @Benchmark
  public OffsetsAssignment plan() {
    return MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 64);
  }
}
