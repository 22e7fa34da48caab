package io.prmalloc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.netty.buffer.AbstractByteBufTest;
import io.netty.buffer.AbstractCompositeByteBufTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.RetainedSlicedByteBufTest;
import io.netty.buffer.SlicedByteBufTest;
import io.netty.util.ResourceLeakDetector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * Netty's own tests of buffers, run on our buffers: as they are, watched for leaks, and below
 * Netty's derived buffers.
 */
class NettyBufferSuitesTest {

  private static final TensorPoolAllocator POOL = TensorPoolAllocator.builder().build();
  private static final PrmallocByteBufAllocator BUFFERS = new PrmallocByteBufAllocator(POOL);

  /** Netty's tests do not release all that they take. */
  @AfterAll
  static void closePool() {
    POOL.closeForcibly();
  }

  private static ByteBuf direct(int length, int maxCapacity) {
    ByteBuf buffer = BUFFERS.directBuffer(length, maxCapacity);
    assertSame(BUFFERS, buffer.alloc());
    assertEquals(0, buffer.writerIndex());
    return buffer;
  }

  private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();

  // One buffer in 128 is wrapped in one that watches for leaks, at random, and then a slice's
  // unwrap() is not what Netty's test of it expects. So none are here, and all are in Watched.
  @BeforeEach
  void watchNone() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
  }

  @AfterEach
  void watchAsBefore() {
    ResourceLeakDetector.setLevel(level);
  }

  @Nested
  class Plain extends AbstractByteBufTest {
    @Override
    protected ByteBuf newBuffer(int length, int maxCapacity) {
      return direct(length, maxCapacity);
    }
  }

  @Nested
  class Watched extends AbstractByteBufTest {
    @BeforeEach
    void watchEveryBuffer() {
      ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    }

    @Override
    protected ByteBuf newBuffer(int length, int maxCapacity) {
      return direct(length, maxCapacity);
    }
  }

  @Nested
  class Duplicated extends AbstractByteBufTest {
    @Override
    protected ByteBuf newBuffer(int length, int maxCapacity) {
      return direct(length, maxCapacity).duplicate();
    }
  }

  @Nested
  class Sliced extends SlicedByteBufTest {
    @Override
    protected ByteBuf newSlice(ByteBuf buffer, int offset, int length) {
      return direct(buffer.capacity(), buffer.maxCapacity()).slice(offset, length);
    }
  }

  @Nested
  class RetainedSliced extends RetainedSlicedByteBufTest {
    @Override
    protected ByteBuf newSlice(ByteBuf buffer, int offset, int length) {
      ByteBuf ours = direct(buffer.capacity(), buffer.maxCapacity());
      ByteBuf slice = ours.retainedSlice(offset, length);
      ours.release();
      return slice;
    }
  }

  @Nested
  class Composed extends AbstractCompositeByteBufTest {
    Composed() {
      super(ByteOrder.BIG_ENDIAN);
    }

    @Override
    protected CompositeByteBuf newCompositeBuffer() {
      return BUFFERS.compositeBuffer();
    }

    /** A composite without components has no such buffer; Netty's own suites say the same. */
    @Override
    @Test
    public void testInternalNioBufferAfterRelease() {
      testInternalNioBufferAfterRelease0(UnsupportedOperationException.class);
    }
  }
}
