package io.prmalloc.jmh;

import io.prmalloc.Allocation;
import io.prmalloc.jmh.rival.Writes;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.LeakDetection;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.recording.Recording;
import io.prmalloc.recording.RecordingOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What does it cost a pool to be recorded, or watched for leaks?
 *
 * <p>A pair of allocate and close with 8 bytes touched between, as in {@link PairBenchmark}, and
 * then as many units of work as {@code work} says (one is a nanosecond or two). With none, a thread
 * makes more events than any server. Either the writer has a processor for itself then, or the
 * score includes the time that threads wait for it. {@code AFTER} is a pool whose recording has
 * ended: its score should be that of {@code OFF}.
 *
 * <pre>{@code
 * java -jar jmh/target/benchmarks.jar RecordingBenchmark.pair -t 1
 * java -jar jmh/target/benchmarks.jar RecordingBenchmark.burst -t 1 -p work=0 -rf json
 * }</pre>
 *
 * <p>Threading: the pool is shared by the threads of the benchmark.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@State(Scope.Benchmark)
public class RecordingBenchmark {

  private static final int MOST_STEPS = 200;

  /** So many pairs make fewer events than may wait for the writer. */
  private static final int BURST = 60_000;

  /** In this time the writer has written a burst. */
  private static final long PAUSE_MILLIS = 20;

  /** What observes. */
  public enum Observer {
    /** Nothing. */
    OFF,
    /** Nothing any more. */
    AFTER,
    /** A recording. */
    RECORDING,
    /** Leak detection, of one allocation in 128. */
    LEAKS_SIMPLE,
    /** Leak detection, of all. */
    LEAKS_PARANOID
  }

  /** What observes. */
  @Param Observer observer;

  /** How many bytes. */
  @Param({"4096", "65536"})
  long sizeBytes;

  /** What is done after each pair. */
  @Param({"0", "100"})
  int work;

  private TensorPoolAllocator pool;
  private Path directory;
  private Recording recording;

  /** Opens the pool, lets it learn, and begins. Threading: one thread, before all others. */
  @Setup
  public void open() throws IOException {
    directory = Files.createTempDirectory("prmalloc-recording");
    LeakDetection leaks =
        switch (observer) {
          case LEAKS_SIMPLE -> LeakDetection.SIMPLE;
          case LEAKS_PARANOID -> LeakDetection.PARANOID;
          case OFF, AFTER, RECORDING -> LeakDetection.OFF;
        };
    pool =
        TensorPoolAllocator.builder()
            .startStatisticStep(0)
            .executor(Runnable::run)
            .leakDetection(leaks)
            .build();
    for (int step = 0; step < MOST_STEPS && !pool.isPooling(); step++) {
      ScopedMemoryCollector scope = pool.collect();
      pool.allocate(Math.max(sizeBytes, 65_536)).close();
      scope.close();
    }
    if (observer == Observer.AFTER || observer == Observer.RECORDING) {
      // No thread gives up: either the writer keeps up, or its time is measured.
      RecordingOptions options =
          RecordingOptions.DEFAULT.withMaxBytes(1L << 34).withLongestWait(Duration.ofDays(1));
      recording = pool.record(directory.resolve("recording"), options);
    }
    if (observer == Observer.AFTER) {
      for (int i = 0; i < 100_000; i++) {
        pool.allocate(sizeBytes).close();
      }
      recording.close();
    }
  }

  /** Lets the writer catch up. Threading: one thread, between measurements. */
  @Setup(Level.Iteration)
  public void pause() throws InterruptedException {
    Thread.sleep(PAUSE_MILLIS);
  }

  /**
   * The measured operation.
   *
   * <p>Threading: any thread.
   */
  @Benchmark
  public void pair() {
    touched();
    Blackhole.consumeCPU(work);
  }

  /**
   * Pairs that no thread has to wait for, whatever the writer does: as many as fit the buffer, and
   * then a pause. With {@code work=0}, what a pair costs and nothing else.
   *
   * <p>Threading: one thread.
   */
  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @OperationsPerInvocation(BURST)
  @Warmup(iterations = 30)
  @Measurement(iterations = 150)
  public void burst() {
    for (int i = 0; i < BURST; i++) {
      touched();
      Blackhole.consumeCPU(work);
    }
  }

  private void touched() {
    try (Allocation allocation = pool.allocate(sizeBytes)) {
      ByteBuffer buffer = allocation.byteBuffer();
      buffer.putLong(0, sizeBytes);
      Writes.checkRead(buffer.getLong(0), sizeBytes);
    }
  }

  /**
   * Says how much was recorded, and removes it.
   *
   * <p>Threading: one thread, after all others.
   *
   * @throws IllegalStateException if the recording ended before the measurement did
   */
  @TearDown
  public void close() throws IOException {
    boolean ended = recording != null && recording.end().isPresent();
    pool.close();
    if (recording != null) {
      System.out.println(
          recording.events() + " events in " + recording.bytesWritten() + " bytes recorded");
      Files.delete(recording.file());
    }
    Files.delete(directory);
    if (ended && observer == Observer.RECORDING) {
      throw new IllegalStateException("the recording ended " + recording.end().orElseThrow());
    }
  }
}
