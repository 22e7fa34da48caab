package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Isolation.Fill;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** The code on the page {@code docs/isolation.md}. */
class IsolationPageTest {

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("isolation.md", IsolationPageTest.class);
  }

  @Test
  void shouldFillWhatComesBack() {
    // page
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder().isolation(Isolation.NONE.withFill(Fill.ZERO)).build();
    // end of page
    Allocation first = pool.allocate(1000);
    ByteBuffer buffer = first.byteBuffer();
    buffer.put(5, (byte) 1);
    first.close();
    assertEquals(0, buffer.get(5));
    pool.close();
  }

  private String reported;

  private void report(String what) {
    reported = what;
  }

  @Test
  void shouldFindWhoWritesTooFar() {
    // page
    TensorPoolAllocator watched =
        TensorPoolAllocator.builder().isolation(Isolation.NONE.withCanaries(true)).build();
    // end of page

    // page
    Allocation tensor = watched.allocate(1000);
    ByteBuffer buffer = tensor.byteBuffer();
    buffer.limit(buffer.capacity()).put(1003, (byte) 1);
    try {
      tensor.close();
    } catch (IllegalStateException overrun) {
      // allocation of 1000 bytes was written beyond its end, at byte 1003
      report(overrun.getMessage());
    }
    // end of page
    assertEquals("allocation of 1000 bytes was written beyond its end, at byte 1003", reported);
    watched.close();
  }

  @Test
  void shouldGuard() {
    // page
    SubAllocator guarded = SubAllocator.mmap(MmapOptions.DEFAULT.withGuardPages(true));
    TensorPoolAllocator strict = TensorPoolAllocator.builder().subAllocator(guarded).build();
    // end of page
    assertTrue(guarded.isGuarded());
    strict.close();
  }

  @Test
  void shouldObeyThePropertyUnlessTheBuilderSays() {
    System.setProperty("prmalloc.isolation", "canaries");
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      Allocation tensor = pool.allocate(1000);
      ByteBuffer buffer = tensor.byteBuffer();
      buffer.limit(1001).put(1000, (byte) 1);
      assertThrows(IllegalStateException.class, tensor::close);
    } finally {
      System.clearProperty("prmalloc.isolation");
    }
    System.setProperty("prmalloc.isolation", "zeroes");
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().isolation(Isolation.NONE).build()) {
      assertThrows(IllegalArgumentException.class, () -> TensorPoolAllocator.builder().build());
      pool.allocate(1000).close();
    } finally {
      System.clearProperty("prmalloc.isolation");
    }
  }
}
