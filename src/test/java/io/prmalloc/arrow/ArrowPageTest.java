package io.prmalloc.arrow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.PageCode;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.junit.jupiter.api.Test;

/**
 * The code on the page {@code docs/arrow.md}, and what Arrow's accounting reports for our memory.
 */
class ArrowPageTest {

  private static final int ROWS = 50_000;

  private static RootAllocator over(Allocator memory) {
    return over(memory, Long.MAX_VALUE);
  }

  private static RootAllocator over(Allocator memory, long limit) {
    AllocationManager.Factory factory = PrmallocAllocationManager.factory(memory);
    return new RootAllocator(
        RootAllocator.configBuilder()
            .allocationManagerFactory(factory)
            .maxAllocation(limit)
            .build());
  }

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("arrow.md", ArrowPageTest.class);
  }

  @Test
  void shouldTakeArrowsMemoryFromThePool() {
    // page
    TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
    try (RootAllocator root =
            new RootAllocator(
                RootAllocator.configBuilder()
                    .allocationManagerFactory(PrmallocAllocationManager.factory(pool))
                    .maxAllocation(1L << 30) // Arrow's limit, in Arrow's accounts
                    .build());
        Float4Vector scores = new Float4Vector("scores", root)) {
      scores.allocateNew(1000);
      scores.set(0, 0.75f);
    } // Arrow throws here if something leaked
    // end of page
    assertTrue(pool.stats().numAllocs() > 0);
    pool.close();
  }

  @Test
  @SuppressWarnings("try") // a step is there to be closed
  void shouldReadTheBatchBackAndLoseNothingWhenItWentOverIpc() throws IOException {
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(2).executor(Runnable::run).build()) {
      try (RootAllocator root = over(pool)) {
        for (int step = 0; step < 20; step++) {
          try (ScopedMemoryCollector collector = pool.collect()) {
            byte[] stream = written(root, step);
            assertRead(root, stream, step);
          }
        }
        assertEquals(0, root.getAllocatedMemory());
      }
      assertTrue(pool.isPooling(), "the steps were to be enough for a plan");
      assertTrue(pool.poolStats().hits() > 0, "Arrow did not use the plan");
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  private static byte[] written(BufferAllocator root, int step) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Float4Vector scores = new Float4Vector("scores", root);
        VarCharVector labels = new VarCharVector("labels", root)) {
      for (int row = 0; row < ROWS; row++) {
        if (row % 7 == 0) {
          scores.setNull(row);
        } else {
          scores.setSafe(row, row * 0.5f + step);
        }
        labels.setSafe(row, ("row " + row).getBytes(StandardCharsets.UTF_8));
      }
      scores.setValueCount(ROWS);
      labels.setValueCount(ROWS);
      VectorSchemaRoot batch = VectorSchemaRoot.of(scores, labels);
      try (ArrowStreamWriter writer =
          new ArrowStreamWriter(batch, null, Channels.newChannel(bytes))) {
        writer.writeBatch();
        writer.end();
      }
    }
    return bytes.toByteArray();
  }

  private static void assertRead(BufferAllocator root, byte[] stream, int step) throws IOException {
    try (ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(stream), root)) {
      assertTrue(reader.loadNextBatch());
      VectorSchemaRoot batch = reader.getVectorSchemaRoot();
      assertEquals(ROWS, batch.getRowCount());
      Float4Vector scores = (Float4Vector) batch.getVector("scores");
      VarCharVector labels = (VarCharVector) batch.getVector("labels");
      for (int row = 0; row < ROWS; row += 13) {
        assertEquals(row % 7 == 0, scores.isNull(row));
        if (row % 7 != 0) {
          assertEquals(row * 0.5f + step, scores.get(row));
        }
        assertEquals("row " + row, labels.getObject(row).toString());
      }
      assertFalse(reader.loadNextBatch());
    }
  }

  @Test
  void shouldSayOutOfMemoryAsArrowDoesWhenTheAllocatorRefuses() {
    try (Allocator memory = new CpuAllocator(SubAllocator.direct(1 << 20));
        RootAllocator root = over(memory)) {
      OutOfMemoryException refused =
          assertThrows(OutOfMemoryException.class, () -> root.buffer(2 << 20));
      assertTrue(refused.getMessage().contains("limit 1048576"), refused.getMessage());
      refused = assertThrows(OutOfMemoryException.class, () -> root.buffer(1L << 32));
      assertTrue(refused.getMessage().contains("4294967296 bytes"), refused.getMessage());
      assertEquals(0, root.getAllocatedMemory());
      assertEquals(0, memory.stats().bytesInUse());
    }
  }

  @Test
  void shouldServeAPieceThatIsLargerThanABuffer() {
    long bytes = (5L << 30) + 8; // of which two pages are touched
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      try (RootAllocator root = over(pool);
          ArrowBuf buffer = root.buffer(bytes)) {
        assertEquals(bytes, buffer.capacity());
        buffer.setLong(0, 41);
        buffer.setLong(bytes - 8, 42);
        assertEquals(41, buffer.getLong(0));
        assertEquals(42, buffer.getLong(bytes - 8));
        assertEquals(bytes, root.getAllocatedMemory());
        assertEquals(bytes, pool.stats().bytesInUse());
      }
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  @Test
  void shouldNotAskTheAllocatorWhenArrowsOwnLimitIsReached() {
    try (Allocator memory = new CpuAllocator(SubAllocator.direct());
        RootAllocator root = over(memory, 1000)) {
      assertThrows(OutOfMemoryException.class, () -> root.buffer(2000));
      assertEquals(0, memory.stats().numAllocs());
    }
  }

  @Test
  void shouldKeepTheMemoryUntilTheLastReferenceGoes() {
    try (Allocator memory = new CpuAllocator(SubAllocator.direct());
        RootAllocator root = over(memory)) {
      ArrowBuf buffer = root.buffer(1000);
      assertEquals(0, buffer.memoryAddress() % Allocator.DEFAULT_ALIGNMENT);
      ArrowBuf slice = buffer.slice(8, 8);
      slice.getReferenceManager().retain();
      buffer.close();
      assertEquals(1024, memory.stats().bytesInUse());
      slice.setLong(0, 42);
      assertEquals(42, slice.getLong(0));
      slice.close();
      assertEquals(0, memory.stats().bytesInUse());
    }
  }

  @Test
  void shouldTakeNothingWhenABufferOfNoBytesIsAskedFor() {
    try (Allocator memory = new CpuAllocator(SubAllocator.direct());
        RootAllocator root = over(memory)) {
      ArrowBuf empty = root.buffer(0);
      assertEquals(0, empty.capacity());
      assertEquals(0, memory.stats().numAllocs());
      empty.close();
    }
  }

  @Test
  void shouldReportALeakWhenTheRootIsClosedTooEarly() {
    TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
    RootAllocator root = over(pool);
    assertEquals(1024, root.buffer(1000).capacity());
    assertThrows(IllegalStateException.class, root::close);
    assertThrows(IllegalStateException.class, pool::close);
    pool.closeForcibly();
  }
}
