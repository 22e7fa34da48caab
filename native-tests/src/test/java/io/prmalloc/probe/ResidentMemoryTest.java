package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.CpuAllocator;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The resident memory of the process while a pool learns, serves, and is closed. */
@NeedsProbe
class ResidentMemoryTest {

  private static final int TENSORS = 16;
  private static final int TENSOR_BYTES = 8 << 20;
  private static final long ALL_BYTES = (long) TENSORS * TENSOR_BYTES;

  @TempDir private Path directory;

  /** What the process has, without what the C library only keeps for later. */
  private static long residentBytes() {
    // Direct buffers come from the C library's heap. What they gave back stays there, free; on
    // request it goes to the system. Mappings need none of this.
    OperatingSystem.trimHeap();
    return Probe.probe_resident_bytes();
  }

  private static List<Allocation> takeAll(
      TensorPoolAllocator pool, int tensorBytes, int touchedBytes) {
    List<Allocation> tensors = new ArrayList<>();
    for (int i = 0; i < TENSORS; i++) {
      Allocation tensor = pool.allocate(tensorBytes);
      Probe.probe_touch(tensor.address(), touchedBytes);
      tensors.add(tensor);
    }
    return tensors;
  }

  /** A pool that has an arena and has used all of it. */
  private static TensorPoolAllocator usedPool(Source source, int tensorBytes) {
    TensorPoolAllocator pool = Pools.open(source.open());
    // A quarter of each while it learns, which costs less: were the memory of one of these steps
    // kept, the rise would still be too large.
    Pools.warmUp(
        pool, () -> takeAll(pool, tensorBytes, tensorBytes / 4).forEach(Allocation::close));
    takeAll(pool, tensorBytes, tensorBytes).forEach(Allocation::close);
    return pool;
  }

  @ParameterizedTest
  @EnumSource
  void shouldGiveItsMemoryBackWhenAPoolIsClosed(Source source) throws Exception {
    // C2 takes up to 30 MiB for a method of the JDK and keeps them for some seconds; C1 takes less
    // than one.
    long[] bytes =
        numbers(
            ChildJvm.run(
                directory,
                Map.of("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1"),
                OpenAndClose.class,
                source.name()));
    long rise = bytes[0];
    long fall = bytes[1];
    assertTrue(
        rise >= 0.95 * ALL_BYTES && rise <= 1.15 * ALL_BYTES,
        () -> "rose by " + rise + " for tensors of " + ALL_BYTES + " bytes");
    assertTrue(fall >= 0.95 * rise, () -> "rose by " + rise + ", fell by " + fall);
  }

  private static long[] numbers(String line) {
    return Arrays.stream(line.strip().split(" ", -1)).mapToLong(Long::parseLong).toArray();
  }

  /** Says by how many bytes the process grows while a pool is open, and shrinks at its close. */
  static final class OpenAndClose {

    private OpenAndClose() {}

    public static void main(String[] arguments) {
      Source source = Source.valueOf(arguments[0]);
      // The first one makes the JVM itself grow: classes, compiled code, and the heap. For that the
      // sizes of its tensors do not matter.
      usedPool(source, TENSOR_BYTES / 8).close();
      long before = residentBytes();
      TensorPoolAllocator pool = usedPool(source, TENSOR_BYTES);
      long open = residentBytes();
      pool.close();
      System.out.println((open - before) + " " + (open - residentBytes()));
    }
  }

  @Test
  void shouldTellItsOwnPeakWhenAProcessWasStartedByALargerOne() throws Exception {
    long before = Probe.probe_resident_bytes();
    try (CpuAllocator allocator = new CpuAllocator(Source.MMAP.open());
        Allocation large = allocator.allocate(128 << 20)) {
      Probe.probe_touch(large.address(), large.sizeBytes());
      long told = Long.parseLong(ChildJvm.run(directory, Map.of(), PeakSayer.class).strip());
      assertTrue(told > 0 && told < before + (64 << 20), () -> "the child had " + told);
    }
  }

  /** Says the peak that the library tells. */
  static final class PeakSayer {

    private PeakSayer() {}

    public static void main(String[] arguments) {
      System.out.println(OperatingSystem.processUsage().peakResidentBytes());
    }
  }

  @ParameterizedTest
  @CsvSource({"DIRECT, true, 1", "MMAP_HUGE, false, 1"})
  void shouldPeakLittleAbovePoolAndJvmWhenWarmingUp(
      Source source, boolean inBackground, int threads) throws Exception {
    assertPeak(source, inBackground, threads);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({
    "DIRECT, false, 1",
    "DIRECT, true, 2",
    "MMAP, false, 1",
    "MMAP, true, 1",
    "MMAP, true, 2"
  })
  void shouldPeakLittleAbovePoolAndJvmWhenWarmingUpInOtherWays(
      Source source, boolean inBackground, int threads) throws Exception {
    assertPeak(source, inBackground, threads);
  }

  private void assertPeak(Source source, boolean inBackground, int threads) throws Exception {
    long[] bytes =
        numbers(
            ChildJvm.run(
                directory,
                Map.of(),
                WarmUp.class,
                source.name(),
                Boolean.toString(inBackground),
                Integer.toString(threads)));
    long jvm = bytes[0];
    long pool = bytes[1];
    long peak = bytes[2];
    // Otherwise the JVM alone would fill the bounds.
    assertTrue(pool >= 100 << 20, () -> "pool of " + pool);
    assertTrue(peak >= jvm + pool * 0.8, () -> "peak " + peak + " is less than was touched");
    assertTrue(
        peak <= 1.25 * (jvm + pool),
        () -> "peak " + peak + " with a JVM of " + jvm + " and a pool of " + pool + " bytes");
  }
}
