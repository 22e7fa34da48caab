package io.prmalloc.internal.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Isolation;
import io.prmalloc.Isolation.Fill;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class BlockIsolationTest {

  private static final Isolation BOTH = Isolation.NONE.withFill(Fill.POISON).withCanaries(true);

  private final BlockIsolation isolation = BlockIsolation.of(BOTH);
  private final ByteBuffer memory = ByteBuffer.allocateDirect(100);

  @Test
  void shouldIsolateWhileItIsOpen() {
    isolation.begin(memory, 50);
    assertEquals(-1, isolation.end(memory, 50));
    assertEquals(Isolation.POISON, memory.get(0));
    isolation.begin(memory, 50);
    memory.put(51, (byte) 1);
    assertEquals(51, isolation.end(memory, 50));
  }

  @Test
  void shouldAccessNoMemoryWhenItIsClosed() {
    isolation.close();
    assertThrows(IllegalStateException.class, () -> isolation.begin(memory, 50));
    assertEquals(-1, isolation.end(memory, 50));
    assertEquals(ByteBuffer.allocate(100), memory.clear());
    isolation.close();
  }

  @Test
  @Timeout(60)
  void shouldWaitForThreadsThatAreInsideWhenItIsClosed() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(1);
    try {
      int first = isolation.enter();
      int second = isolation.enter();
      Future<?> closed = threads.submit(isolation::close);
      while (!isolation.isClosed()) {
        assertFalse(Thread.interrupted(), "it takes too long");
        Thread.onSpinWait();
      }
      // Whoever comes now does not keep the closer waiting.
      assertThrows(IllegalStateException.class, () -> isolation.begin(memory, 50));
      isolation.leave(first);
      assertFalse(closed.isDone(), "a thread is inside");
      isolation.leave(second);
      closed.get();
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void shouldCountOutWhenTheCheckThrows() {
    assertThrows(IndexOutOfBoundsException.class, () -> isolation.begin(memory, 1000));
    assertThrows(IndexOutOfBoundsException.class, () -> isolation.end(memory, 1000));
    isolation.close();
    assertTrue(isolation.isClosed());
  }

  @Test
  void shouldStayOpenWhenThereIsNoIsolation() {
    BlockIsolation none = BlockIsolation.of(Isolation.NONE);
    none.close();
    assertFalse(none.isClosed(), "it is shared by all allocators");
    assertTrue(none.isNone());
  }
}
