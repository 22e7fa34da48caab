package io.prmalloc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorWrapper;
import io.prmalloc.CpuAllocator;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The adapter's own behaviour; Netty's suites test that its buffers behave as Netty's. */
class PrmallocByteBufAllocatorTest {

  private static final int LIMIT = 1 << 20;

  private final Allocator memory = new CpuAllocator(SubAllocator.direct(LIMIT));
  private final PrmallocByteBufAllocator buffers = new PrmallocByteBufAllocator(memory);

  @AfterEach
  void nothingIsLost() {
    assertEquals(0, buffers.metric().usedDirectMemory());
    assertEquals(0, memory.stats().bytesInUse());
    memory.close();
  }

  /** Something else happens while memory is taken: what another thread does, in a fixed order. */
  private static final class Interrupted extends AllocatorWrapper {
    private Runnable meanwhile = () -> {};

    Interrupted(Allocator inner) {
      super(inner);
    }

    @Override
    public Allocation allocate(long bytes) {
      Allocation taken = super.allocate(bytes);
      Runnable now = meanwhile;
      meanwhile = () -> {};
      now.run();
      return taken;
    }
  }

  @Test
  void shouldLoseNothingWhenABufferIsReleasedWhileItMoves() {
    Interrupted racing = new Interrupted(memory);
    PrmallocByteBufAllocator raced = new PrmallocByteBufAllocator(racing);
    for (int capacity : new int[] {5000, 5}) {
      ByteBuf buffer = raced.directBuffer(100);
      racing.meanwhile = buffer::release;
      assertThrows(IllegalReferenceCountException.class, () -> buffer.capacity(capacity));
      assertEquals(0, raced.metric().usedDirectMemory());
      assertEquals(0, memory.stats().bytesInUse());
    }
    ByteBuf moved = raced.directBuffer(100);
    racing.meanwhile = () -> moved.capacity(200);
    assertThrows(IllegalReferenceCountException.class, () -> moved.capacity(300));
    assertEquals(200, moved.capacity());
    assertEquals(200, raced.metric().usedDirectMemory());
    moved.release();
    assertEquals(0, raced.metric().usedDirectMemory());
  }

  @Test
  void shouldLoseNothingWhenABufferIsReleasedWhileItIsCopied() {
    Interrupted racing = new Interrupted(memory);
    PrmallocByteBufAllocator raced = new PrmallocByteBufAllocator(racing);
    ByteBuf buffer = raced.directBuffer(100).writeZero(100);
    racing.meanwhile = buffer::release;
    assertThrows(RuntimeException.class, () -> buffer.copy(0, 100));
    assertEquals(0, raced.metric().usedDirectMemory());
  }

  @Test
  void shouldLoseNothingWhenReleasesAndMovesRace() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      for (int i = 0; i < 2000; i++) {
        ByteBuf buffer = buffers.directBuffer(64);
        Future<Boolean> released = other.submit(() -> buffer.release());
        try {
          for (int capacity = 65; capacity < 70; capacity++) {
            buffer.capacity(capacity);
          }
        } catch (IllegalReferenceCountException late) {
          // It is released.
        }
        assertTrue(released.get());
      }
    } finally {
      other.shutdown();
    }
  }

  /** As a reader that was checked by Netty before another thread released the buffer. */
  @Test
  void shouldRefuseAnAccessThatWasCheckedBeforeTheLastRelease() {
    AllocationByteBuf late = new AllocationByteBuf(buffers, 100, 100);
    late.release();
    List<Executable> accesses =
        List.of(
            () -> late._getByte(0),
            () -> late._getShort(0),
            () -> late._getShortLE(0),
            () -> late._getUnsignedMedium(0),
            () -> late._getUnsignedMediumLE(0),
            () -> late._getInt(0),
            () -> late._getIntLE(0),
            () -> late._getLong(0),
            () -> late._getLongLE(0),
            () -> late._setByte(0, 1),
            () -> late._setShort(0, 1),
            () -> late._setShortLE(0, 1),
            () -> late._setMedium(0, 1),
            () -> late._setMediumLE(0, 1),
            () -> late._setInt(0, 1),
            () -> late._setIntLE(0, 1),
            () -> late._setLong(0, 1),
            () -> late._setLongLE(0, 1),
            () -> late.memoryAddress());
    for (Executable access : accesses) {
      assertThrows(IllegalReferenceCountException.class, access);
    }
  }

  @Test
  void shouldPassHeapBuffersOnWhenOneIsAskedFor() {
    ByteBuf heap = buffers.heapBuffer(100);
    assertTrue(heap.hasArray());
    assertSame(ByteBufAllocator.DEFAULT, heap.alloc());
    assertEquals(0, memory.stats().numAllocs());
    heap.release();
  }

  @Test
  void shouldGiveDirectBuffersWhereverNettyAsksForTheBestOnes() {
    for (ByteBuf buffer :
        new ByteBuf[] {
          buffers.buffer(), buffers.buffer(10), buffers.ioBuffer(), buffers.ioBuffer(10, 20)
        }) {
      assertTrue(buffer.isDirect());
      assertSame(buffers, buffer.alloc());
      buffer.release();
    }
    assertEquals(4, memory.stats().numAllocs());
  }

  @Test
  void shouldGiveHeapBuffersWhenDirectOnesAreNotPreferred() {
    PrmallocByteBufAllocator plain =
        new PrmallocByteBufAllocator(memory, ByteBufAllocator.DEFAULT, false);
    ByteBuf buffer = plain.buffer(10);
    assertFalse(buffer.isDirect());
    buffer.release();
    CompositeByteBuf composite = plain.compositeBuffer();
    composite.capacity(10);
    assertFalse(composite.isDirect());
    composite.release();
  }

  @Test
  void shouldTakeTheComponentsFromTheAllocatorWhenACompositeGrows() {
    CompositeByteBuf composite = buffers.compositeBuffer(4);
    composite.writeBytes(new byte[5000]);
    assertEquals(composite.capacity(), buffers.metric().usedDirectMemory());
    assertTrue(composite.isDirect());
    composite.release();
  }

  @Test
  void shouldGiveTheOldMemoryBackWhenABufferGrowsOrShrinks() {
    ByteBuf buffer = buffers.directBuffer(16);
    buffer.writeLong(1).writeLong(2).writeLong(3);
    assertEquals(buffer.capacity(), buffers.metric().usedDirectMemory());
    assertEquals(buffer.capacity(), memory.stats().bytesInUse());
    buffer.capacity(8);
    assertEquals(8, memory.stats().bytesInUse());
    assertEquals(8, buffer.writerIndex());
    assertEquals(1, buffer.readLong());
    buffer.release();
  }

  @Test
  void shouldKeepTheBufferWhenThereIsNoMemoryToGrow() {
    ByteBuf buffer = buffers.directBuffer(LIMIT / 2);
    buffer.writeBytes("as before".getBytes(StandardCharsets.UTF_8));
    assertThrows(OutOfNativeMemoryException.class, () -> buffer.capacity(LIMIT));
    assertEquals(LIMIT / 2, buffer.capacity());
    assertEquals("as before", buffer.toString(StandardCharsets.UTF_8));
    assertEquals(LIMIT / 2, buffers.metric().usedDirectMemory());
    assertThrows(OutOfNativeMemoryException.class, () -> buffers.directBuffer(LIMIT));
    buffer.release();
  }

  @Test
  void shouldRefuseWhenTheBufferWasReleased() {
    ByteBuf buffer = buffers.directBuffer(100);
    ByteBuf slice = buffer.slice(0, 10);
    buffer.release();
    assertThrows(IllegalReferenceCountException.class, () -> buffer.getByte(0));
    assertThrows(IllegalReferenceCountException.class, () -> slice.getByte(0));
    assertThrows(IllegalReferenceCountException.class, () -> buffer.nioBuffer());
    assertThrows(IllegalReferenceCountException.class, buffer::release);
  }

  @Test
  void shouldKeepTheMemoryWhileASliceIsRetained() {
    ByteBuf buffer = buffers.directBuffer(100).writeLong(42);
    ByteBuf slice = buffer.retainedSlice(0, 8);
    buffer.release();
    assertEquals(100, buffers.metric().usedDirectMemory());
    assertEquals(42, slice.getLong(0));
    slice.release();
  }

  @Test
  void shouldEndWhereTheRequestEndsWhenTheBlockIsLarger() {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      PrmallocByteBufAllocator pooled = new PrmallocByteBufAllocator(pool);
      ByteBuf buffer = pooled.directBuffer(1001, 1001);
      assertEquals(1001, buffer.capacity());
      assertEquals(1001, buffer.writerIndex(1001).nioBuffer().remaining());
      assertThrows(IndexOutOfBoundsException.class, () -> buffer.getByte(1001));
      assertThrows(IndexOutOfBoundsException.class, () -> buffer.nioBuffer(0, 1002));
      buffer.release();
    }
  }

  @Test
  void shouldHandBigEndianViewsOutWhateverTheOrderOfTheBlock() {
    ByteBuf buffer = buffers.directBuffer(16).writeLong(0x0102030405060708L);
    assertEquals(0x0102030405060708L, buffer.nioBuffer().getLong());
    assertEquals(0x0102030405060708L, buffer.internalNioBuffer(0, 8).getLong());
    assertEquals(0x0807060504030201L, buffer.getLongLE(0));
    buffer.release();
  }

  @Test
  void shouldTellTheAddressOfTheBytesWhenThisJvmKnowsIt() {
    ByteBuf buffer = buffers.directBuffer(64);
    assertTrue(buffer.hasMemoryAddress());
    assertEquals(0, buffer.memoryAddress() % Allocator.DEFAULT_ALIGNMENT);
    ByteBuf slice = buffer.slice(8, 8);
    assertEquals(buffer.memoryAddress() + 8, slice.memoryAddress());
    buffer.release();
  }

  @Test
  void shouldCopyBetweenAnyTwoKindsOfBuffers() {
    long seed = 7;
    Random random = new Random(seed);
    byte[] bytes = new byte[1000];
    random.nextBytes(bytes);
    CompositeByteBuf composite =
        Unpooled.compositeBuffer()
            .addComponent(true, Unpooled.wrappedBuffer(bytes, 0, 400))
            .addComponent(true, Unpooled.wrappedBuffer(bytes, 400, 600));
    ByteBuf ours = buffers.directBuffer(1000);
    ours.setBytes(0, composite, 0, 1000);
    for (ByteBuf other :
        new ByteBuf[] {
          Unpooled.buffer(1000),
          Unpooled.directBuffer(1000),
          buffers.directBuffer(1000),
          Unpooled.wrappedBuffer(ByteBuffer.allocate(1000))
        }) {
      ours.getBytes(0, other, 0, 1000);
      ByteBuf back = buffers.directBuffer(1000);
      back.setBytes(0, other, 0, 1000);
      assertEquals(Unpooled.wrappedBuffer(bytes), back.writerIndex(1000), "seed " + seed);
      assertNotSame(back, other);
      back.release();
      other.release();
    }
    ours.release();
    composite.release();
  }
}
