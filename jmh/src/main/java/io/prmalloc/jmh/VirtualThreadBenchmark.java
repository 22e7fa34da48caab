package io.prmalloc.jmh;

import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.jmh.rival.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * What does a pair cost in a server that has a virtual thread for each request, in nanoseconds?
 * {@value #REQUESTS} requests at a time; each makes {@value #PAIRS_BETWEEN_YIELDS} pairs, lets
 * others run, and so on {@value #ROUNDS} times. With {@code PLATFORM} the same requests run on as
 * many platform threads as there are processors.
 *
 * <p>The score is the elapsed time for each pair: with two processors about half of the time that a
 * thread needs. It includes starting threads and yielding; {@link Rival#READY_MEMORY} shows how
 * much that is.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar VirtualThreadBenchmark
 * }</pre>
 *
 * <p>Threading: the allocator is shared by all requests.
 */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class VirtualThreadBenchmark extends RivalBenchmark {

  /** What the requests run on. Threading: immutable. */
  public enum Kind {
    /** A pool of ordinary threads. */
    PLATFORM,
    /** A new virtual thread for each request. */
    VIRTUAL
  }

  static final int REQUESTS = 64;
  static final int ROUNDS = 10;
  static final int PAIRS_BETWEEN_YIELDS = 100;
  private static final int SINCE = 21;

  /** What the requests run on. */
  @Param Kind kind;

  /** How many bytes. */
  @Param("65536")
  long sizeBytes;

  private ExecutorService executor;
  private List<Callable<Long>> requests;

  /** Whether this JVM has virtual threads. Threading: any thread. */
  public static boolean virtualThreadsArePresent() {
    return Runtime.version().feature() >= SINCE;
  }

  /**
   * Opens the allocator and lets it learn.
   *
   * <p>Threading: one thread, before all others.
   *
   * @throws IllegalStateException if there are no virtual threads here
   */
  @Setup
  public void open() {
    int processors = Runtime.getRuntime().availableProcessors();
    executor =
        kind == Kind.PLATFORM ? Executors.newFixedThreadPool(processors) : newVirtualThreads();
    open(Step.ofPairs(sizeBytes), processors);
    requests = new ArrayList<>();
    for (int request = 0; request < REQUESTS; request++) {
      requests.add(this::request);
    }
  }

  /** The JDK's own, by name, for this module is built for 17. */
  private static ExecutorService newVirtualThreads() {
    if (!virtualThreadsArePresent()) {
      throw new IllegalStateException(
          "VIRTUAL is skipped: it needs JDK " + SINCE + " or later, this is " + Runtime.version());
    }
    try {
      return (ExecutorService)
          Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // what servers' threads do when they wait
  private long request() {
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      for (int pair = 0; pair < PAIRS_BETWEEN_YIELDS; pair++) {
        sum += strategy.pair(sizeBytes, pair);
      }
      Thread.yield();
    }
    return sum;
  }

  /**
   * The measured operation: all requests, to the last one's end.
   *
   * <p>Threading: one thread.
   *
   * @return a sum of what was read from the memory
   * @throws InterruptedException if the thread is interrupted
   * @throws ExecutionException if a request failed
   */
  @Benchmark
  @OperationsPerInvocation(REQUESTS * ROUNDS * PAIRS_BETWEEN_YIELDS)
  public long requests() throws InterruptedException, ExecutionException {
    long sum = 0;
    for (Future<Long> request : executor.invokeAll(requests)) {
      sum += request.get();
    }
    return sum;
  }

  @Override
  void beforeClose() {
    if (executor != null) {
      executor.shutdown();
    }
  }
}
