package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.PageCode;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/** The code on the page {@code docs/planned-steps.md}. */
class PlannedStepsPageTest {

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("planned-steps.md", PlannedStepsPageTest.class);
  }

  private static void infer(ByteBuffer buffer) {
    buffer.put(buffer.limit() - 1, (byte) 1);
  }

  @Test
  void shouldServeStepsThatAsk() {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().executor(Runnable::run).build()) {
      for (int i = 0; i < 10; i++) {
        serve(pool, 100_000);
      }
      assertTrue(pool.stepStats().plannedSteps() > 0);
    }
  }

  private static void serve(TensorPoolAllocator pool, long inputBytes) {
    // page
    try (ScopedMemoryCollector step = pool.collect()) {
      try (Allocation input = step.allocate(inputBytes)) {
        infer(input.byteBuffer());
      }
    }
    // end of page
  }

  @Test
  void shouldKeepPlans() throws IOException {
    Path.FILE.delete();
    try {
      try (TensorPoolAllocator pool =
          TensorPoolAllocator.builder().executor(Runnable::run).build()) {
        for (int i = 0; i < 10; i++) {
          serve(pool, 100_000);
        }
        // page
        pool.plan().save(Path.of("model.plan.json"));
        // end of page
      }
      restart();
    } finally {
      Path.FILE.delete();
    }
  }

  private static void restart() {
    // page
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder().plan(Path.of("model.plan.json")).build();
    // end of page
    serve(pool, 100_000);
    assertEquals(1, pool.stepStats().plannedSteps());
    pool.close();
  }

  /** Sends the page's file to where build output goes. */
  private static final class Path {
    static final Path FILE = new Path();

    static java.nio.file.Path of(String name) {
      return java.nio.file.Path.of("target", name);
    }

    void delete() throws IOException {
      Files.deleteIfExists(of("model.plan.json"));
    }
  }
}
