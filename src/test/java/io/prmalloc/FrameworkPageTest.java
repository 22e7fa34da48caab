package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The code on the page {@code docs/framework.md}. */
class FrameworkPageTest {

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("framework.md", FrameworkPageTest.class);
  }

  private static void infer(ByteBuffer buffer) {
    buffer.put(buffer.limit() - 1, (byte) 1);
  }

  @Test
  void shouldGiveTheDefault() {
    long inputBytes = 1000;
    // page
    Allocator allocator = AllocatorRegistry.global().allocator();
    try (Allocation input = allocator.allocate(inputBytes)) {
      infer(input.byteBuffer());
    }
    // end of page
    assertEquals("tensorpool_cpu", allocator.name());
  }

  @Test
  void shouldRegister() {
    MmapOptions options = MmapOptions.DEFAULT;
    // page
    AllocatorRegistry registry = new AllocatorRegistry();
    registry.register("cpu", 100, () -> new CpuAllocator(SubAllocator.direct()));
    registry.register(
        "mapped",
        200,
        () -> TensorPoolAllocator.builder().subAllocator(SubAllocator.mmap(options)).build());
    Allocator mapped = registry.allocator();
    Allocator plain = registry.allocator("cpu");
    // end of page
    assertInstanceOf(TensorPoolAllocator.class, mapped);
    assertInstanceOf(CpuAllocator.class, plain);
    mapped.close();
    plain.close();
  }

  // page
  public static final class MappedFactory implements AllocatorFactory {
    @Override
    public String name() {
      return "mapped";
    }

    @Override
    public int priority() {
      return 200;
    }

    @Override
    public Allocator create() {
      return new CpuAllocator(SubAllocator.mmap(MmapOptions.DEFAULT));
    }
  }

  // end of page

  @Test
  void shouldBeAFactory() {
    AllocatorFactory factory = new MappedFactory();
    try (Allocator made = factory.create()) {
      made.allocate(10).close();
      assertEquals("mapped", factory.name());
      assertEquals(200, factory.priority());
    }
  }

  @Test
  void shouldTrack() {
    try (Allocator allocator = new CpuAllocator(SubAllocator.direct())) {
      // page
      TrackingAllocator tracker = new TrackingAllocator(allocator, true);
      Allocation scratch = tracker.allocate(1000);
      Allocation output = tracker.allocate(5000);
      scratch.close();
      TrackingAllocator.Sizes sizes = tracker.getSizesAndUnref();
      // end of page
      assertEquals(new TrackingAllocator.Sizes(6000, 6000, 5000), sizes);
      output.close();
      assertTrue(tracker.isRetired());
    }
  }

  @Test
  void shouldTellSizes() {
    try (Allocator allocator = TensorPoolAllocator.builder().build()) {
      // page
      long address = allocator.allocateRaw(64, 1000);
      long requested = allocator.requestedSize(address);
      long allocated = allocator.allocatedSize(address);
      long id = allocator.allocationId(address);
      allocator.deallocateRaw(address);
      // end of page
      assertEquals(1000, requested);
      assertTrue(allocated >= 1000);
      assertEquals(1, id);
    }
  }

  @Test
  void shouldWait() {
    try (Allocator allocator = new CpuAllocator(SubAllocator.direct(120_000))) {
      cache = allocator.allocate(50_000);
      // page
      AllocationAttributes patient =
          AllocationAttributes.DEFAULT
              .withRetry((failedAttempts, bytes) -> dropCache())
              .withTimeout(Duration.ofMinutes(1));
      Allocation batch = allocator.allocate(100_000, 64, patient);
      // end of page
      assertEquals(100_000, batch.sizeBytes());
      batch.close();
    }
  }

  private Allocation cache;

  private boolean dropCache() {
    cache.close();
    return true;
  }

  @Test
  void shouldLog() {
    long step = 12;
    try (LogRecords log = new LogRecords();
        Allocator allocator = new CpuAllocator(SubAllocator.direct())) {
      // page
      AllocationAttributes logged = AllocationAttributes.DEFAULT.logged("conv1/out", step);
      allocator.allocate(100_000, 64, logged).close();
      // end of page
      String rest = " id=1 requested=100000 allocated=100000 allocator=cpu step=12 label=conv1/out";
      assertEquals(List.of("allocated" + rest, "released" + rest), log.all());
    }
  }
}
