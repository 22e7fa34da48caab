package io.prmalloc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.AbstractByteBufAllocatorTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.prmalloc.pool.TensorPoolAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Netty's own tests of allocators, run on our allocator. */
class NettyAllocatorSuiteTest extends AbstractByteBufAllocatorTest<AbstractByteBufAllocator> {

  private final TensorPoolAllocator pool = TensorPoolAllocator.builder().build();

  /** Netty's tests do not release all that they take. */
  @AfterEach
  void closePool() {
    pool.closeForcibly();
  }

  /** Heap buffers from an allocator of their own, so that one test does not count another's. */
  @Override
  protected AbstractByteBufAllocator newAllocator(boolean preferDirect) {
    return new PrmallocByteBufAllocator(pool, new UnpooledByteBufAllocator(false), preferDirect);
  }

  @Override
  protected AbstractByteBufAllocator newUnpooledAllocator() {
    return newAllocator(true);
  }

  /** Without a look at whether the platform has Unsafe. */
  @Override
  protected boolean isDirectExpected(boolean preferDirect) {
    return preferDirect;
  }

  /** As Netty's of the same name, with the kinds of buffers that are ours. */
  @Override
  @Test
  public void testUnsafeHeapBufferAndUnsafeDirectBuffer() {
    AbstractByteBufAllocator allocator = newUnpooledAllocator();
    ByteBuf direct = allocator.directBuffer();
    assertInstanceOf(direct, AllocationByteBuf.class);
    direct.release();
    ByteBuf heap = allocator.heapBuffer();
    assertTrue(heap.hasArray());
    heap.release();
  }

  /** As Netty's, over heap buffers that are pooled: those are whom it asks. */
  @Override
  @Test
  public void shouldReuseChunks() throws Exception {
    int bytes = 1 << 20;
    AbstractByteBufAllocator allocator =
        new PrmallocByteBufAllocator(pool, new PooledByteBufAllocator(false), false);
    ByteBuf first = allocator.heapBuffer(bytes, bytes);
    Object array = first.array();
    first.release();
    for (int i = 0; i < 100; i++) {
      ByteBuf next = allocator.heapBuffer(bytes, bytes);
      assertEquals(array, next.array());
      next.release();
    }
  }
}
