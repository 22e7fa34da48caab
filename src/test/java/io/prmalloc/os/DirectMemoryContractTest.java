package io.prmalloc.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** What every way to take direct memory must do. */
abstract class DirectMemoryContractTest {

  abstract DirectMemory memory();

  @Test
  void shouldGiveAlignedZeroedMemoryWhenAsked() {
    DirectMemory memory = memory();
    for (long alignment = 1; alignment <= 2 << 20; alignment *= 2) {
      for (int bytes : new int[] {1, 7, 4096, 70_001}) {
        DirectMemory.Piece piece = memory.allocate(alignment, bytes);
        ByteBuffer view = piece.view();
        assertTrue(view.isDirect());
        assertEquals(ByteOrder.nativeOrder(), view.order());
        assertEquals(bytes, view.capacity());
        assertEquals(bytes, view.limit());
        assertEquals(0, view.position());
        assertEquals(0, view.alignmentOffset(0, (int) alignment), "alignment " + alignment);
        for (int i = 0; i < bytes; i++) {
          assertEquals(0, view.get(i));
        }
        view.put(bytes - 1, (byte) 1);
        memory.free(piece.owner());
      }
    }
  }

  @Test
  void shouldGiveMemoryBackAtOnceWhenFreed() {
    DirectMemory memory = memory();
    int bytes = 32 << 20;
    BufferPoolMXBean pool =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(bean -> bean.getName().equals("direct"))
            .findFirst()
            .orElseThrow();
    // Others in this JVM may take or lose small buffers meanwhile.
    long before = pool.getMemoryUsed();
    DirectMemory.Piece piece = memory.allocate(64, bytes);
    long during = pool.getMemoryUsed();
    memory.free(piece.owner());
    long after = pool.getMemoryUsed();
    assertTrue(during - before > bytes / 2, before + " then " + during);
    assertTrue(during - after > bytes / 2, during + " then " + after);
  }
}
